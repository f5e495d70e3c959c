"""What all files of this suite share: parameters, small data, trees as arrays, and fresh Python processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import pytest
import xgboost as xgb
from equal_trees import FLOAT_EPS, SMALLEST_GAIN, ModelTree  # noqa: F401  (for the tests)

# With XGBGPU_TEST_METHOD=hist the suite checks itself: every test of what stock XGBoost can do, too, must pass with
# stock. That shows that the test asks for XGBoost's behaviour and not for a misunderstanding of it.
METHOD = os.environ.get("XGBGPU_TEST_METHOD", "gpu_hist")
OURS = METHOD == "gpu_hist"
BACKEND = os.environ.get("XGBGPU_TEST_BACKEND", "host")
LIBRARY = os.environ.get("XGBGPU_LIBRARY", "")
#: The folder of the package xgboost_gpu.
PACKAGE = str(Path(__file__).resolve().parents[2] / "python")

#: The series of XGBoost that the suite runs in: 107 for 1.7, 304 for 3.4.
SERIES = int(xgb.__version__.split(".")[0]) * 100 + int(xgb.__version__.split(".")[1])

only_ours = pytest.mark.skipif(not OURS, reason="not a behaviour of stock tree methods (XGBGPU_TEST_METHOD is set)")


def name_of_series(series: int) -> str:
    return f"{series // 100}.{series % 100}"


def only_before(series: int, reason: str) -> pytest.MarkDecorator:
    """Skips where XGBoost is of this series or a later one."""
    return pytest.mark.skipif(SERIES >= series, reason=f"only before XGBoost {name_of_series(series)}: {reason}")


def only_since(series: int, reason: str) -> pytest.MarkDecorator:
    """Skips where XGBoost is of an earlier series."""
    return pytest.mark.skipif(SERIES < series, reason=f"only since XGBoost {name_of_series(series)}: {reason}")



def ours_since(series: int, reason: str) -> pytest.MarkDecorator:
    """Skips where stock code of this series or a later one is tested: it has given up what the library still does."""
    return pytest.mark.skipif(
        not OURS and SERIES >= series, reason=f"not what stock code does since XGBoost {name_of_series(series)}: {reason}"
    )


#: Parameters of trees whose leaves are set after growth.
TREES_WITH_LEAVES_TO_SET: Dict[str, Dict[str, Any]] = {
    "default": {},
    "stump": dict(max_depth=1),
    "no split": dict(gamma=1e9),
    "rows alone": dict(max_depth=12, min_child_weight=0),
    "lossguide": dict(grow_policy="lossguide", max_leaves=20, max_depth=0),
    "slow": dict(eta=0.01),
}

#: What a model can be saved as, by the suffix of its file.
MODEL_FORMS = ["json", "ubj"] if SERIES >= 301 else ["json", "ubj", "deprecated"]


class Batches(xgb.core.DataIter):
    """Hands over rows in batches, which end before the rows `ends`; in pages of a file if `cache` names one."""

    def __init__(
        self,
        x: np.ndarray,
        y: Optional[np.ndarray],
        ends: List[int],
        cache: Optional[str] = None,
        weights: Optional[np.ndarray] = None,
    ) -> None:
        self.x, self.info = x, {"label": y, "weight": weights}
        self.begins, self.ends = [0] + ends, ends + [x.shape[0]]
        self.at = 0
        super().__init__(cache_prefix=cache)

    def next(self, input_data: Callable) -> int:
        if self.at == len(self.begins):
            return 0
        rows = slice(self.begins[self.at], self.ends[self.at])
        input_data(data=self.x[rows], **{name: of[rows] for name, of in self.info.items() if of is not None})
        self.at += 1
        return 1

    def reset(self) -> None:
        self.at = 0


def pages_made(capfd: pytest.CaptureFixture, work: Callable[[], Any]) -> str:
    """The lines that say which page or bins stock code has asked for while `work` ran; of a stock matrix there is none."""
    capfd.readouterr()
    with xgb.config_context(verbosity=2):
        work()
    said = capfd.readouterr()
    return "\n".join(line for line in (said.out + said.err).splitlines() if "XGBoost asks for" in line)


def params(**others: Any) -> Dict[str, Any]:
    """Parameters of a booster that the library under test trains."""
    fixed: Dict[str, Any] = {"tree_method": METHOD}
    if OURS:
        fixed["gpu_backend"] = BACKEND
    return {**fixed, **others}


def other_method(**others: Any) -> Dict[str, Any]:
    """Parameters that give a booster of ours to stock code. Without gpu_backend=auto it might insist on a device."""
    return {"gpu_backend": "auto", **others} if OURS else others


def sampled(**others: Any) -> Dict[str, Any]:
    """Sampling parameters where a repeated training must repeat the sample. Stock's depends on what ran before."""
    return others if OURS else {}


def stock_params(**others: Any) -> Dict[str, Any]:
    return {"tree_method": "hist", **others}


def data_folder() -> str:
    """Returns the folder of real data; skips the test if there is none."""
    folder = os.environ.get("XGBGPU_TEST_DATA")
    if not folder:
        pytest.skip("XGBGPU_TEST_DATA is not set: it names the folder of agaricus, binary, rank and veterans")
    return folder


def make_data(
    rows: int, columns: int, seed: int = 0, missing: float = 0.0, levels: int = 0
) -> Tuple[np.ndarray, np.ndarray]:
    """Normal features (`levels` > 0: that many distinct values each), NaN where missing, and a real-valued label."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    if levels:
        x = np.clip(np.floor(x * levels / 6), -(levels // 2), levels - levels // 2 - 1).astype(np.float32)
    first, second = x[:, 0], x[:, min(1, columns - 1)]
    y = np.sin(2 * first) + 0.5 * second * (first > 0) + 0.1 * rng.normal(size=rows)
    if missing:
        x[rng.random(size=x.shape) < missing] = np.nan
    return x, y.astype(np.float32)


def few_values(x: np.ndarray, max_bin: int = 256) -> np.ndarray:
    """The data, in newer series with no more than `max_bin` distinct values in a column: the first of as many equal parts
    of them stands for its part. Stock's sketch keeps up to 8 · max_bin values before 2.0, and up to max_bin since."""
    if SERIES < 200:
        return x
    x = np.array(x, dtype=np.float32)
    for column in x.T:
        values = np.unique(column[~np.isnan(column)])
        if len(values) > max_bin:
            kept = values[np.arange(max_bin) * len(values) // max_bin]
            column[:] = np.where(np.isnan(column), column, kept[np.searchsorted(kept, column, side="right") - 1])
    return x


def of_unchanged_gains(**settings: Any) -> Dict[str, Any]:
    """The settings, without L1 where weights are bounded: since 3.4 stock's gain of a bounded weight counts reg_alpha in
    full. The gain of the library is that of earlier series."""
    bounded = "max_delta_step" in settings or "monotone_constraints" in settings
    return {name: value for name, value in settings.items() if name != "reg_alpha" or not bounded or SERIES < 304}


def binary_labels(y: np.ndarray) -> np.ndarray:
    return (y > np.median(y)).astype(np.float32)


def raw(booster: xgb.Booster) -> bytes:
    """Returns the saved model's bytes."""
    return bytes(booster.save_raw("ubj"))


def fresh(booster: xgb.Booster, **parameters: Any) -> xgb.Booster:
    """A booster that knows nothing but the saved model: no cache, no configuration."""
    new = xgb.Booster(parameters or None)
    new.load_model(bytearray(booster.save_raw("ubj")))
    return new


def train(data: xgb.DMatrix, rounds: int = 5, **parameters: Any) -> xgb.Booster:
    return xgb.train(params(**parameters), data, rounds)


def train_stock(data: xgb.DMatrix, rounds: int = 5, **parameters: Any) -> xgb.Booster:
    return xgb.train(stock_params(**parameters), data, rounds)


def boost(booster: xgb.Booster, data: xgb.DMatrix, grad: Any, hess: Any) -> None:
    """One round on these gradients."""
    if SERIES < 201:
        booster.boost(data, np.ravel(grad), np.ravel(hess))
    else:
        booster.boost(data, 0, grad=np.asarray(grad), hess=np.asarray(hess))


class Tree(ModelTree):
    """A tree of a saved model, with what tests ask of it."""

    @property
    def nodes(self) -> int:
        return len(self.left)

    @property
    def leaves(self) -> np.ndarray:
        return np.flatnonzero(self.left == -1)

    @property
    def splits(self) -> np.ndarray:
        return np.flatnonzero(self.left != -1)

    @property
    def depth(self) -> np.ndarray:
        """The depth of each node; the root has 0."""
        depth = np.zeros(self.nodes, dtype=int)
        for node in self.top_down():
            if self.left[node] != -1:
                depth[[self.left[node], self.right[node]]] = depth[node] + 1
        return depth

    def top_down(self) -> List[int]:
        order = [0]
        for node in order:
            if self.left[node] != -1:
                order += [self.left[node], self.right[node]]
        return order

    def difference(self, other: "Tree") -> str:
        """Returns in words what differs first; empty if nothing does."""
        if self.nodes != other.nodes:
            return f"{self.nodes} nodes and {other.nodes} nodes"
        for name, ours in vars(self).items():
            theirs = getattr(other, name)
            differs = ours != theirs
            if name == "threshold":
                differs &= np.equal(self.categories, None)  # of splits by categories stock's are NaN, ours 1e-45
            for node in np.flatnonzero(differs):
                return f"node {node}: {name} {ours[node]!r} and {theirs[node]!r}"
        return ""

    def same_as(self, other: "Tree") -> bool:
        return not self.difference(other)


def model_of(booster: xgb.Booster) -> Dict[str, Any]:
    """The part of the saved model that holds trees."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    gbm = learner["gradient_booster"]
    return (gbm["gbtree"] if "gbtree" in gbm else gbm)["model"]


def base_scores(booster: xgb.Booster) -> np.ndarray:
    """The intercept of each output, as predictions have it. Before 3.1 it is one number."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    return np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"])).astype(np.float32)


def dart_weights(booster: xgb.Booster) -> List[float]:
    """The weights of a dart's trees; of another booster none."""
    gbm = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    return gbm.get("weight_drop") or gbm.get("model", {}).get("weight_drop") or []


def trees_of(booster: xgb.Booster) -> List[Tree]:
    return [Tree.of(tree) for tree in model_of(booster)["trees"]]


def assert_same_trees(one: xgb.Booster, other: xgb.Booster) -> None:
    """Asserts that trees have the same bits. Names of features and attributes may differ."""
    ours, theirs = model_of(one), model_of(other)
    assert ours["tree_info"] == theirs["tree_info"]
    assert len(ours["trees"]) == len(theirs["trees"])
    for number, (a, b) in enumerate(zip(trees_of(one), trees_of(other))):
        difference = a.difference(b)
        assert not difference, f"tree {number}, {difference}"


def assert_adds_up(booster: xgb.Booster, parts: np.ndarray, margins: np.ndarray) -> None:
    """Asserts that a row's contributions, or those of its pairs, add up to its margin. Predictions must be margins.

    By src/predict/contributions.h a path with D features is off by (6 D + 12) 2^-24 of its worth with a feature known,
    or unknown, whichever is more. Over all paths either is at most the tree's largest leaf. Pairs are taken from
    contributions before these are rounded. Each part is rounded, and so is each addition of a margin.
    """
    features = booster.num_features()
    leaves = sum(np.abs(tree.threshold[tree.leaves]).max() for tree in trees_of(booster))
    parts = parts.reshape(len(parts), -1).astype(np.float64)
    of_paths = features * 2 * (6 * features + 12) * leaves
    intercept = np.abs(base_scores(booster)).max()
    of_sums = np.abs(parts).sum(axis=1).max() + booster.num_boosted_rounds() * (leaves + intercept)
    assert np.abs(parts.sum(axis=1) - margins).max() <= 2.0**-24 * (of_paths + of_sums)


def config_of(booster: xgb.Booster) -> Dict[str, Any]:
    return json.loads(booster.save_config())["learner"]


def tree_settings(booster: xgb.Booster) -> Dict[str, str]:
    """The parameters of trees in the saved configuration: of each updater before 2.0, and of the booster since."""
    gbm = config_of(booster)["gradient_booster"]
    gbm = gbm.get("gbtree", gbm)
    return gbm["tree_train_param"] if SERIES >= 200 else next(iter(gbm["updater"].values()))["train_param"]


def loading(library: str) -> str:
    """The code that loads the library. In newer series the package finds that of the series beside it."""
    if SERIES < 200:
        return f"import ctypes; ctypes.CDLL({library!r}, ctypes.RTLD_GLOBAL)\n"
    return f"import os, sys; os.environ['XGBGPU_LIBRARY'] = {library!r}; sys.path.append({PACKAGE!r}); import xgboost_gpu\n"


def run_python(
    code: str, *arguments: str, library: Optional[str] = None, check: bool = True, **variables: str
) -> subprocess.CompletedProcess:
    """Runs code in a new process: with the library, if one is named (`LIBRARY`), else with stock XGBoost alone.

    `variables` are set in its environment.
    """
    # Since 2.1 XGBoost's lines are warnings of Python, which would say where they are from.
    load = "import warnings; warnings.showwarning = lambda message, *_: print(message)\n" if SERIES >= 201 else ""
    if library:
        load += loading(library)
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | variables
    done = subprocess.run(
        [sys.executable, "-c", load + code, *arguments], capture_output=True, text=True, timeout=600, env=environment
    )
    if check:
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
