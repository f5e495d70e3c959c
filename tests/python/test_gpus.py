"""Several GPUs of one process (n_gpus), and of the processes of a group: the models of one, bit for bit.

Without XGBGPU_TEST_BACKEND=cuda it is tested what can be without a GPU. Data are so large where they are to be dealt to
several GPUs at all.
"""

import ctypes
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Iterator, List

import group_scenarios
import numpy as np
import pytest
import xgboost as xgb
import xgboost_gpu
from group_scenarios import SCENARIOS
from group_workers import Group, WorkerError
from support import BACKEND, LIBRARY, assert_same_trees, make_data, params, train

on_gpu = pytest.mark.skipif(BACKEND != "cuda", reason="this test needs a GPU")
ROWS, COLUMNS = 4_000_000, 60
SHARES = {2: [0, 0.3, 1], 3: [0, 0.2, 0.7, 1]}


def device_info() -> Dict[str, Any]:
    function = ctypes.CDLL(LIBRARY).XGBGPUDeviceInfo
    function.restype = ctypes.c_char_p
    return json.loads(function())


def gpus() -> int:
    return len(device_info()["devices"]) if BACKEND == "cuda" else 0


@pytest.fixture(scope="module")
def small() -> xgb.DMatrix:
    return xgb.DMatrix(*make_data(700, 6))


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 16])
def test_a_number_of_gpus_is_never_part_of_a_model(small: xgb.DMatrix, number: int) -> None:
    assert_same_trees(train(small, 3, n_gpus=number, gpu_backend="auto"), train(small, 3))


def test_numbers_that_are_none(small: xgb.DMatrix) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="n_gpus is '-2'.*-1 .all., 1 or more"):
        train(small, 1, n_gpus=-2)


def test_exact_trees_need_all_rows_in_one_place(small: xgb.DMatrix) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="n_gpus is '2'.*gpu_exact.*n_gpus=1"):
        train(small, 1, n_gpus=2, tree_method="gpu_exact")


@pytest.fixture(scope="module")
def large() -> Dict[str, Any]:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    rng = np.random.default_rng(3)
    x = rng.integers(-8, 9, size=(ROWS, COLUMNS)).astype(np.float32)
    x[::11, 5] = np.nan
    y = (x[:, 0] * x[:, 1] + np.nan_to_num(x[:, 5]) + 4 * rng.standard_normal(ROWS) > 0).astype(np.float32)
    return {"x": x, "y": y, "data": xgb.DMatrix(x, y)}


LARGE: Dict[str, Dict[str, Any]] = {
    "plain": dict(objective="binary:logistic", eval_metric=["logloss", "auc"]),
    "sample": dict(objective="binary:logistic", subsample=0.5, colsample_bynode=0.5, max_depth=5),
    "gradient sample": dict(objective="binary:logistic", subsample=0.2, sampling_method="gradient_based"),
    "leaves": dict(objective="reg:squarederror", grow_policy="lossguide", max_depth=0, max_leaves=60),
    "classes": dict(objective="multi:softprob", num_class=2, max_depth=4),
    "median": dict(objective="reg:absoluteerror", max_depth=4),
    "dart": dict(objective="binary:logistic", booster="dart", rate_drop=0.5, max_depth=4),
    "forest": dict(objective="binary:logistic", num_parallel_tree=3, subsample=0.6, max_depth=4),
    "signs": dict(objective="binary:logistic", monotone_constraints="(1,-1)", max_depth=4),
}


class Places(xgb.callback.TrainingCallback):
    """Notes what the memory report says of the training, which ends with xgb.train."""

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
        self.newest = xgboost_gpu.memory_report()[-1]
        return False


@on_gpu
@pytest.mark.parametrize("name", list(LARGE))
def test_two_gpus_give_the_model_of_one(large: Dict[str, Any], name: str) -> None:
    found: List[Any] = []
    for number in (1, 2):
        history: Dict[str, Any] = {}
        how = params(**{"max_depth": 8, "seed": 7, **LARGE[name]}, n_gpus=number)
        places = Places()
        booster = xgb.train(how, large["data"], 4, evals=[(large["data"], "train")], evals_result=history,
                            verbose_eval=False, callbacks=[places])  # fmt: skip
        assert places.newest["devices"] == number and places.newest["backend"] == "cuda"
        found.append((booster.get_dump(with_stats=True, dump_format="json"), history, booster.predict(large["data"])))
        del booster
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]
    np.testing.assert_array_equal(found[0][2], found[1][2])


@on_gpu
def test_each_gpu_writes_a_timeline(large: Dict[str, Any], tmp_path: Any) -> None:
    file = str(tmp_path / "t.json")
    booster = xgb.train(params(n_gpus=2, gpu_trace=file, max_depth=6), large["data"], 3)
    del booster
    names = sorted(os.listdir(tmp_path))
    assert names == ["t.json", "t.json.gpu1"]
    for name in names:
        assert len(json.loads((tmp_path / name).read_text())) > 20


@on_gpu
def test_small_data_stay_on_one_gpu(small: xgb.DMatrix, capfd: Any) -> None:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    places = Places()
    xgb.train(params(n_gpus=2, verbosity=2), small, 1, callbacks=[places])
    assert places.newest["devices"] == 1
    said = capfd.readouterr()
    assert "n_gpus allows 2 GPUs, and 1 of them" in said.out + said.err


@pytest.fixture(scope="module")
def groups() -> Iterator[Dict[int, Group]]:
    made = {workers: Group(workers) for workers in (2, 3)}
    yield made
    for group in made.values():
        group.end()


@on_gpu
@pytest.mark.parametrize("workers", [2, 3])
def test_processes_on_gpus_give_the_model_of_one(groups: Dict[int, Group], workers: int) -> None:
    """Also where several processes share a GPU."""
    assert_models_of_one(groups[workers], list(SCENARIOS) if workers == 2 else list(SCENARIOS)[::4], SHARES[workers])


def assert_models_of_one(group: Group, names: List[str], shares: List[float]) -> None:
    scenarios = [{**SCENARIOS[name], "name": name} for name in names]
    found = group.results(group_scenarios.several, scenarios, shares, limit=400)
    wrong = []
    for number, name in enumerate(names):
        expected = group_scenarios.train({**SCENARIOS[name], "name": name}, None)
        for part in ("base_score", "lines", "models"):
            if any(worker[number][part] != expected[part] for worker in found):
                wrong.append(f"{name}: {part} {[worker[number][part] == expected[part] for worker in found]}")
        together = np.concatenate([worker[number]["predictions"] for worker in found])
        if not np.array_equal(together, expected["predictions"]):
            wrong.append(f"{name}: predictions")
    assert wrong == []


@on_gpu
def test_processes_train_on_gpus(groups: Dict[int, Group]) -> None:
    found = groups[2].results(group_scenarios.places, SHARES[2])
    assert [place["backend"] for place in found] == ["cuda", "cuda"]
    assert [place["device"] for place in found] == [0, 1 % gpus()]


#: Workers without rows: between others, the first of two, and all but the second.
SOME_HAVE_NONE = [[0, 0.4, 0.4, 1], [0, 0, 1], [0, 0, 1, 1]]


@pytest.fixture(scope="module")
def without_gpu() -> Iterator[Group]:
    """Three workers, of which the second sees no GPU."""
    made = Group(3, [[], ["env", "CUDA_VISIBLE_DEVICES="], []])
    yield made
    made.end()


@on_gpu
@pytest.mark.parametrize("shares", SOME_HAVE_NONE, ids=str)
def test_workers_without_rows_get_the_model_of_one(groups: Dict[int, Group], shares: List[float]) -> None:
    """They stand by while the others train on GPUs, or the one that has rows on its own."""
    names = list(SCENARIOS)[:: 4 if shares == SOME_HAVE_NONE[0] else 9] + ["poisson"]
    assert_models_of_one(groups[len(shares) - 1], names, shares)


@on_gpu
def test_a_worker_without_rows_needs_no_gpu(without_gpu: Group) -> None:
    found = without_gpu.results(group_scenarios.places, SOME_HAVE_NONE[0])
    assert [place["backend"] for place in found] == ["cuda", "host", "cuda"]
    assert [place["device"] for place in (found[0], found[2])] == [0, 1 % gpus()]
    for answer in without_gpu.run(group_scenarios.places, SHARES[3]):
        assert isinstance(answer, WorkerError) and "a worker with rows sees no GPU" in str(answer)


@on_gpu
def test_bins_of_xgboost_where_a_worker_has_no_rows(groups: Dict[int, Group]) -> None:
    found = groups[3].results(group_scenarios.bins_of_workers, SOME_HAVE_NONE[0])
    assert found == [found[0]] * 3


@on_gpu
def test_a_worker_without_rows_is_told_who_has_failed(groups: Dict[int, Group]) -> None:
    answers = groups[3].run(group_scenarios.little_memory, SOME_HAVE_NONE[0], 2, limit=60)
    assert all(isinstance(answer, WorkerError) for answer in answers)
    assert "gpu_memory_limit" in str(answers[2])
    for answer in answers[:2]:
        assert "All stop because worker 2 of 3 failed. It says: " in str(answer) and "gpu_memory_limit" in str(answer)
    # What comes next is not disturbed.
    expected = group_scenarios.columns_of_one(None, "array")
    assert groups[3].results(group_scenarios.columns_of_one, SOME_HAVE_NONE[0], "array") == [expected] * 3


@on_gpu
def test_a_booster_on_gpus_goes_on_after_a_round_that_failed(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.goes_on_after_a_failed_round(None)
    assert groups[2].results(group_scenarios.goes_on_after_a_failed_round, SHARES[2]) == [expected] * 2


def hosts(*visible: str, **settings: str) -> List[List[str]]:
    """Commands that start workers which see these GPUs, as on a host each: they take each other to be on another one,
    and so does NCCL, which has the network alone then."""
    alone = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_SOCKET_IFNAME": "lo", **settings}
    return [
        ["env", f"CUDA_VISIBLE_DEVICES={gpu}", f"XGBGPU_HOST_ID=host{n}", f"NCCL_HOSTID=host{n}"]
        + [f"{name}={value}" for name, value in alone.items()]
        for n, gpu in enumerate(visible)
    ]


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Group]:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    if not device_info()["nccl"]:
        pytest.skip(device_info()["why_no_nccl"])
    group = Group(2, hosts("0", "1"))
    yield group
    group.end()


@on_gpu
def test_gpus_of_two_hosts_give_the_model_of_one_process(two_hosts: Group) -> None:
    assert_models_of_one(two_hosts, list(SCENARIOS), SHARES[2])
    found = two_hosts.results(group_scenarios.places, SHARES[2])
    assert [place["backend"] for place in found] == ["cuda", "cuda"]


@on_gpu
def test_a_booster_on_two_hosts_goes_on_after_a_round_that_failed(two_hosts: Group) -> None:
    expected = group_scenarios.goes_on_after_a_failed_round(None)
    assert two_hosts.results(group_scenarios.goes_on_after_a_failed_round, SHARES[2]) == [expected] * 2


@on_gpu
def test_after_a_worker_of_another_host_has_failed_all_train_again(two_hosts: Group) -> None:
    answers = two_hosts.run(group_scenarios.dies, SHARES[2], "raises", limit=60, rabit_timeout_sec=10)
    assert all(isinstance(answer, WorkerError) for answer in answers)
    assert max(two_hosts.seconds) < 40
    assert_models_of_one(two_hosts, ["logistic with weights", "categories"], SHARES[2])


@on_gpu
def test_a_worker_of_another_host_that_is_killed_is_an_error_at_once(two_hosts: Group, tmp_path: Any) -> None:
    group = Group(2, hosts("0", "1"))
    with ThreadPoolExecutor(1) as pool:
        training = pool.submit(group.run, group_scenarios.trains_until_it_fails, SHARES[2], str(tmp_path), limit=120,
                               rabit_timeout_sec=20)  # fmt: skip
        while len(os.listdir(tmp_path)) < 2 and not training.done():
            time.sleep(0.01)
        time.sleep(0.5)
        killed = time.monotonic()
        group.workers[1].process.kill()
        answer = training.result()[0]
    group.end()
    assert time.monotonic() - killed < 40
    assert isinstance(answer, WorkerError)
    assert "GPU of another worker has stopped" in str(answer) or "does not reach the others any more" in str(answer)


@on_gpu
def test_two_workers_on_one_gpu_of_what_look_like_two_hosts_are_refused() -> None:
    if not device_info()["nccl"]:
        pytest.skip(device_info()["why_no_nccl"])
    group = Group(2, hosts("0", "0"))
    for answer in group.run(group_scenarios.places, SHARES[2]):
        assert isinstance(answer, WorkerError) and "workers 0 and 1 would train on the same GPU" in str(answer)
    group.end()


@on_gpu
def test_without_nccl_an_error_says_what_to_install() -> None:
    group = Group(2, hosts("0", "0", XGBGPU_NCCL="/nowhere/libnccl.so.2"))
    for answer in group.run(group_scenarios.places, SHARES[2]):
        assert isinstance(answer, WorkerError), answer
        for words in ("NCCL cannot be loaded", "/nowhere/libnccl.so.2", "nvidia-nccl-cu13", "gpu_backend=host"):
            assert words in str(answer)
    group.end()
