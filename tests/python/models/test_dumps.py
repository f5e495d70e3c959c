"""get_dump and dump_model in JSON: valid JSON whatever the features are called; ordinary names as stock writes them."""

import json
from pathlib import Path
from typing import Any, Dict, List, Set

import numpy as np
import pytest
import xgboost as xgb
from support import BACKEND, SERIES, only_ours, run_python

pytestmark = only_ours

#: Names that are no JSON between quotes, or that XGBoost 1.7 would fill numbers into.
ODD_NAMES = [
    'q"uote',
    'two""',
    "back\\slash",
    "ends\\",
    "\\u0041",
    "a\x01",
    "tab\tline\nreturn\r",
    "{left}",
    "{missing} {right}{stat}{indent}",
    '"inf": nan',
]
ORDINARY_NAMES = ["größe", "日本", "{a}", "{", "info nan", "a/b", "it's", "\x7f", "𝛼", "a,b"]


def trained(names: List[str], method: str = "gpu_hist", **others: Any) -> xgb.Booster:
    """A booster whose trees split at every feature."""
    values = np.random.default_rng(0).integers(0, 8, size=(400, len(names))).astype(np.float32)
    data = xgb.DMatrix(values, values @ (np.arange(len(names)) % 3 + 1), feature_names=names)
    backend = {"gpu_backend": BACKEND} if method.startswith("gpu_") else {}
    return xgb.train({"tree_method": method, "max_depth": 6, **backend, **others}, data, 4)


def split_names(dump: List[str]) -> Set[str]:
    def names(node: Dict[str, Any]) -> Set[str]:
        children = [names(child) for child in node.get("children", [])]
        return set().union({node["split"]} if "split" in node else set(), *children)

    return set().union(*(names(json.loads(tree)) for tree in dump))


@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact", "hist", "exact"])
@pytest.mark.parametrize("with_stats", [False, True])
def test_odd_names_are_read_back(method, with_stats):
    assert split_names(trained(ODD_NAMES, method).get_dump(dump_format="json", with_stats=with_stats)) == set(ODD_NAMES)


def test_odd_names_that_are_set_later_and_from_a_saved_model(tmp_path):
    booster = trained(list("abcdefghij"))
    booster.feature_names = ODD_NAMES
    assert split_names(booster.get_dump(dump_format="json")) == set(ODD_NAMES)
    names = [name for name in ODD_NAMES if "\x01" not in name] + ["a"]  # XGBoost 1.7 loads \x01 as the text \u0001
    booster.feature_names = names
    booster.save_model(tmp_path / "m.json")
    loaded = xgb.Booster(model_file=str(tmp_path / "m.json"))
    loaded.dump_model(tmp_path / "dump.json", dump_format="json")
    trees = json.loads((tmp_path / "dump.json").read_text(encoding="utf-8"))
    assert split_names([json.dumps(tree) for tree in trees]) == set(names)


def test_names_of_a_feature_map(tmp_path):
    booster = trained(["a", "b", "c"])
    file = tmp_path / "map.txt"
    file.write_bytes(b'0\tq"uote\tq\n1\tback\\slash\tint\n2\tcaf\xe9{left}\tfloat\n')
    told = booster.get_dump(fmap=str(file), dump_format="json", with_stats=True)
    assert split_names(told) == {'q"uote', "back\\slash", "café{left}"}  # what is not UTF-8 is taken for Latin-1
    with pytest.raises(xgb.core.XGBoostError, match="nowhere.txt"):
        booster.get_dump(fmap=str(tmp_path / "nowhere.txt"), dump_format="json")
    file.write_bytes(b"0 a q\n1 b\" metres\n2 c q\n")
    with pytest.raises(xgb.core.XGBoostError, match="unknown feature type"):
        booster.get_dump(fmap=str(file), dump_format="json")
    file.write_bytes(b'0 a" q\n')
    with pytest.raises(xgb.core.XGBoostError, match="1 vs. 3"):
        booster.get_dump(fmap=str(file), dump_format="json")


def escaped(name: str) -> str:
    """A name in dumps that are no JSON. Since 2.0 XGBoost escapes it there, too."""
    return json.dumps(name)[1:-1] if SERIES >= 200 else name


def test_other_dumps_hold_names_as_xgboost_writes_them():
    booster = trained(['q"uote', "back\\slash", "a\x01"])
    quote, slash = escaped('q"uote'), escaped("back\\slash")
    assert all(f"[{quote}<" in tree and f"[{slash}<" in tree for tree in booster.get_dump())
    assert f'"{quote}<' in "".join(booster.get_dump(dump_format="dot"))


def test_ordinary_dumps_are_those_of_stock(tmp_path):
    """Bytes of the same models, dumped in a process without the library."""
    maps = tmp_path / "map.txt"
    maps.write_text("".join(f"{i}\tname{i}\t{'int' if i % 2 else 'q'}\n" for i in range(len(ORDINARY_NAMES))))
    models = {"named": trained(ORDINARY_NAMES), "unnamed": trained([f"f{i}" for i in range(10)])}
    models["linear"] = trained(ORDINARY_NAMES, "auto", booster="gblinear", max_depth=0)
    models["unnamed"].feature_names = None
    code = "import sys, json, xgboost\nb = xgboost.Booster(model_file=sys.argv[1])\nprint(json.dumps(" \
        "[b.get_dump(fmap=m, dump_format='json', with_stats=s) for m in ('', sys.argv[2]) for s in (False, True)]))"
    for name, booster in models.items():
        file = tmp_path / f"{name}.json"
        booster.save_model(file)
        ours = [booster.get_dump(fmap=m, dump_format="json", with_stats=s) for m in ("", str(maps)) for s in (False, True)]
        assert ours == json.loads(run_python(code, str(file), str(maps)).stdout.splitlines()[-1]), name


def test_infinite_and_missing_numbers():
    """A threshold above all floats is 1E39: infinity for a reader of 32-bit numbers, above them for others."""
    values = np.r_[np.full(50, 3e38), np.full(50, np.nan)].astype(np.float32)[:, None]
    labels = np.r_[np.ones(50), np.zeros(50)]
    for name in ("info", '"inf nan'):
        data = xgb.DMatrix(values, labels, feature_names=[name])
        booster = xgb.train({"tree_method": "gpu_hist", "gpu_backend": BACKEND}, data, 1)
        assert f"0:[{escaped(name)}<inf]" in booster.get_dump()[0]
        node = json.loads(booster.get_dump(dump_format="json")[0], parse_constant=pytest.fail)
        assert node["split"] == name and node["split_condition"] == 1e39
        assert node["split_condition"] > np.finfo(np.float32).max
