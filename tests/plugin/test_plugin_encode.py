"""The C functions that encode categories: what they give, and what they refuse, with the text of XGBGetLastError."""

import ctypes
import json
import os
from typing import Any, Dict, List, Optional

import numpy as np
import pytest

library = ctypes.CDLL(os.environ["XGBGPU_LIBRARY"])
library.XGBGetLastError.restype = ctypes.c_char_p

CONFIG: Dict[str, Any] = dict(
    rows=4, categories=2, targets=1, value_unit=1.0, weight_unit=1.0, prior_weight=1.0, priors=[0.5], order="given",
    row_stride=1, nthread=2, gpu_backend="host",
)  # fmt: skip


def error() -> str:
    return library.XGBGetLastError().decode()


def pointer(array: Optional[np.ndarray]) -> Optional[ctypes.c_void_p]:
    return None if array is None else ctypes.c_void_p(array.ctypes.data)


def order_targets(config: Any, codes: Optional[List[int]] = None, weights: Any = None, no_statistics: bool = False) -> Any:
    codes_ = np.array([0, 1, 0, 0] if codes is None else codes, np.uint32)
    values, statistics = np.array([1, 0, 0, 1], np.int64), np.full(4, -1, np.float32)
    total_values, total_weights = np.zeros(2, np.int64), np.zeros(2, np.int64)
    text = None if config is None else json.dumps(config).encode()
    status = library.XGBGPUOrderTargets(
        text, pointer(codes_), pointer(values), pointer(weights), None if no_statistics else pointer(statistics),
        pointer(total_values), pointer(total_weights),
    )  # fmt: skip
    return status, statistics.tolist(), total_values.tolist(), total_weights.tolist()


def test_statistics_and_totals() -> None:
    assert order_targets(CONFIG) == (0, [0.5, 0.5, 0.75, 0.5], [2, 0], [3, 1])
    weights = np.array([2, 1, 0, 1], np.int64)
    assert order_targets({**CONFIG, "weight_unit": 0.5}, weights=weights) == (0, [0.5, 0.5, 0.75, 0.75], [2, 0], [3, 1])
    assert order_targets(CONFIG, no_statistics=True) == (0, [-1] * 4, [2, 0], [3, 1])


def test_orders_by_seed_and_number() -> None:
    def of(seed: int, number: int) -> List[float]:
        config = {**CONFIG, "order": "shuffled", "seed": seed, "number": number}
        return order_targets(config, [0, 0, 0, 0])[1]

    assert of(2**64 - 1, 0) == of(2**64 - 1, 0)
    assert len({tuple(of(seed, number)) for seed in range(8) for number in range(4)}) > 8


@pytest.mark.parametrize("changes, message", [
    (dict(rows=-1), "config has 'rows': '-1'; allowed: 0 to 4294967294"),
    (dict(rows=2.5), "config has 'rows': '2.5'; allowed"),
    (dict(categories=0), "config has 'categories': '0'; allowed: 1 to 4294967294"),
    (dict(targets="one"), "config has 'targets': '\"one\"'; allowed: 1 to 2147483647"),
    (dict(value_unit=0), "config has 'value_unit': '0'; allowed: a finite number above 0"),
    (dict(prior_weight=-1.0), "config has 'prior_weight': '-1.0'; allowed: a finite number above 0"),
    (dict(priors=[1, 2]), "config has 'priors': '[1,2]'; allowed: a list of 1 numbers"),
    (dict(priors=["a"]), "config has 'priors': '[\"a\"]'; allowed: a list of 1 numbers"),
    (dict(order="time"), "config has 'order': '\"time\"'; allowed: given, shuffled"),
    (dict(order="shuffled"), "config has 'seed': 'null'; allowed: 0 to 18446744073709551615"),
    (dict(row_stride=0), "config has 'row_stride': '0'; allowed: 1 to 4294967294"),
    (dict(nthread=None), "config has 'nthread': 'null'; allowed: a whole number"),
    (dict(gpu_backend="auto"), "config has 'gpu_backend': '\"auto\"'; allowed: host, cuda"),
])  # fmt: skip
def test_bad_configurations_are_named(changes: Dict[str, Any], message: str) -> None:
    assert order_targets({**CONFIG, **changes})[0] == -1
    assert message in error()


def test_bad_arrays_are_named() -> None:
    assert order_targets(CONFIG, [0, 1, 2, 0])[0] == -1
    assert "A code is 2; allowed: numbers below 2, the number of categories" in error()
    assert order_targets(None)[0] == -1
    assert "config is null; allowed: the address of an array" in error()
    assert order_targets([])[0] == -1
    assert "config is '[]'; allowed: a JSON object" in error()
    assert library.XGBGPUNumberKeys(None, ctypes.c_uint64(1), 0, None, None) == -1
    assert "keys is null" in error()
    assert library.XGBGPUFindKeys(None, ctypes.c_uint64(2**32), None, ctypes.c_uint64(0), 0, None) == -1
    assert "n is 4294967296; allowed: 0 to 4294967294" in error()


def test_keys_are_numbered_and_found() -> None:
    keys, codes, distinct = np.array([7, 2**64 - 1, 7, 0], np.uint64), np.empty(4, np.uint32), np.zeros(1, np.uint64)
    n = ctypes.c_uint64(4)
    assert library.XGBGPUNumberKeys(pointer(keys), n, 2, pointer(codes), pointer(distinct)) == 0
    assert codes.tolist() == [1, 2, 1, 0] and distinct[0] == 3
    known = np.array([0, 7], np.uint64)
    assert library.XGBGPUFindKeys(pointer(keys), n, pointer(known), ctypes.c_uint64(2), 2, pointer(codes)) == 0
    assert codes.tolist() == [1, 2, 1, 0]
