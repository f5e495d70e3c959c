#!/usr/bin/python3
"""Accuracy on data with categories: this library with and without its encoder, beside CatBoost and scikit-learn's encoder.

    /usr/bin/python3 -m venv --system-site-packages FOLDER && FOLDER/bin/pip install catboost==1.2.10 'scikit-learn>=1.4'
    FOLDER/bin/pip install --no-deps ISLP==0.6.0    # for wage, bikeshare and orange_juice, which that package ships
    XGBGPU_TEST_DATA=… XGBGPU_LIBRARY=…/libxgboost_gpu.so PYTHONPATH=python FOLDER/bin/python bench/target_statistics.py [--data car]

All models have 300 rounds of depth 6 and the learning rate .1. Stratified splits, 80 : 20: 20 of them below 5,000 rows, else
5 (--splits overrides). What this library does with a set of data is chosen inside the training part: each candidate trains on
four fifths of it, and the one that is best on the last fifth trains on all of it. A candidate is a way to give categories
(plain, encoder, pairs, triples of few columns, auto) with depth-wise or symmetric trees. Encoders stack four
orders, and choose splits among .3 of the features at each node, if there are combinations. Differences are to CatBoost, in the same split:
mean and standard error; a positive one is better than CatBoost, whatever the metric.
"""

import argparse
import importlib.util
import os
import time
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

import xgboost_gpu

ROUNDS, DEPTH, RATE, ORDERS, COLUMNS_OF_A_NODE = 300, 6, 0.1, 4, 0.3
#: Columns up to which triples of them are a candidate.
MOST_FOR_TRIPLES = 7


class Data(NamedTuple):
    """A table, its target as numbers (classes from 0 on), and how many classes: 0 for a target of numbers."""

    x: pd.DataFrame
    y: np.ndarray
    classes: int

    @property
    def categories(self) -> List[str]:
        return [name for name in self.x if self.x[name].dtype.name == "category"]

    def part(self, rows: np.ndarray) -> "Data":
        return Data(self.x.iloc[rows].reset_index(drop=True), self.y[rows], self.classes)

    def score(self, predicted: np.ndarray) -> float:
        """AUC, minus log loss, or R²: more is better."""
        if self.classes == 0:
            return float(r2_score(self.y, predicted))
        if self.classes == 2:
            return float(roc_auc_score(self.y, predicted))
        return -float(log_loss(self.y, predicted, labels=np.arange(self.classes)))


def read_file(name: str, target: str, whole_are_categories: bool) -> Data:
    """A file of $XGBGPU_TEST_DATA."""
    frame = pd.read_csv(Path(os.environ["XGBGPU_TEST_DATA"]) / f"{name}.csv")
    y, labels = pd.factorize(frame.pop(target), sort=True)
    for column in frame:
        if whole_are_categories or frame[column].dtype == object:
            frame[column] = frame[column].astype(str).astype("category")
    return Data(frame, y, len(labels))


def read_islp(name: str, target: str, categories: List[str], left_out: List[str], has_classes: bool = False) -> Data:
    """A file of the package ISLP, which is not imported."""
    package = importlib.util.find_spec("ISLP")
    if package is None or package.origin is None:
        raise SystemExit(f"{name} needs the package ISLP: see --help")
    frame = pd.read_csv(Path(package.origin).parent / "data" / f"{name}.csv").drop(columns=left_out)
    y = frame.pop(target)
    for column in frame:
        if column in categories or frame[column].dtype == object:
            frame[column] = frame[column].astype(str).astype("category")
    return Data(frame, pd.factorize(y, sort=True)[0], y.nunique()) if has_classes else Data(frame, y.to_numpy(float), 0)


def plant(levels: int, together: int, rows: int = 20_000) -> Data:
    """Six columns of so many levels, few of them frequent. The target is what a combination of `together` of them says."""
    rng = np.random.default_rng(levels + together)
    popular = 1 / np.arange(1, levels + 1) ** (1.0 if levels > 50 else 0.3)
    x = np.stack([rng.choice(levels, rows, p=popular / popular.sum()) for _ in range(6)], axis=1)
    key = np.zeros(rows, np.uint64)
    for column in range(together):
        key = (key * np.uint64(levels) + x[:, column].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    says = (key >> np.uint64(40)).astype(np.float64) / 2**24 < 0.5
    y = np.where(rng.random(rows) < 0.2, rng.random(rows) < 0.5, says).astype(int)
    return Data(pd.DataFrame({f"c{i}": pd.Categorical(x[:, i]) for i in range(6)}), y, 2)


DATA: Dict[str, Callable[[], Data]] = {
    "amazon_access": lambda: read_file("amazon_access", "target", True),
    "car": lambda: read_file("car", "class", True),
    "credit_g": lambda: read_file("credit_g", "class", False),
    "orange_juice": lambda: read_islp("OJ", "Purchase", ["StoreID", "STORE", "Store7"], [], has_classes=True),
    "wage": lambda: read_islp("Wage", "wage", ["year"], ["logwage", "region"]),
    "bikeshare": lambda: read_islp("Bikeshare", "bikers", ["season", "hr", "weekday"], ["casual", "registered"]),
    **{f"planted {n} of {levels}": lambda n=n, levels=levels: plant(levels, n)
       for n in (2, 3) for levels in (10, 100, 1000, 100_000)},
}  # fmt: skip


def train_xgboost(data: Data, x: Any, y: np.ndarray, weights: Optional[np.ndarray], **others: Any) -> Any:
    """`x`: what DMatrix takes."""
    objective = {0: "reg:squarederror", 2: "binary:logistic"}.get(data.classes, "multi:softprob")
    params = dict(tree_method="gpu_hist", objective=objective, eta=RATE, max_depth=DEPTH, verbosity=0, **others)
    if data.classes > 2:
        params["num_class"] = data.classes
    return xgb.train(params, xgb.DMatrix(x, y, weight=weights, enable_categorical=True), ROUNDS)


class Plain:
    """Categories as XGBoost splits them."""

    def __init__(self, grow_policy: str) -> None:
        self.name, self._others = f"plain, {grow_policy}", dict(grow_policy=grow_policy)

    def predict(self, train: Data, test: Data) -> np.ndarray:
        model = train_xgboost(train, train.x, train.y, None, **self._others)
        return model.predict(xgb.DMatrix(test.x, enable_categorical=True))


class Encoded:
    """Ordered target statistics."""

    def __init__(self, name: str, combinations: Any, grow_policy: str) -> None:
        self.name, self._combinations = f"{name}, {grow_policy}", combinations
        self._others: Dict[str, Any] = dict(grow_policy=grow_policy)
        if combinations != 1:
            self._others["colsample_bynode"] = COLUMNS_OF_A_NODE

    def predict(self, train: Data, test: Data) -> np.ndarray:
        target = "classes" if train.classes else "numbers"
        encoder = xgboost_gpu.OrderedTargetEncoder(train.categories, self._combinations, target=target)
        x, y, weights = encoder.expand(train.x, train.y, permutations=ORDERS)
        model = train_xgboost(train, x, y, weights, **self._others)
        return model.predict(xgb.DMatrix(encoder.transform(test.x)))


class SklearnEncoded:
    """scikit-learn's TargetEncoder, with depth-wise trees of this library."""

    name = "scikit-learn's TargetEncoder"

    def predict(self, train: Data, test: Data) -> np.ndarray:
        from sklearn.preprocessing import TargetEncoder

        kind = {0: "continuous", 2: "binary"}.get(train.classes, "multiclass")
        encoder = TargetEncoder(target_type=kind, random_state=0)
        names, others = train.categories, [name for name in train.x if name not in train.categories]
        as_text = [data.x[names].astype(str).to_numpy(dtype=object) for data in (train, test)]
        encoded = encoder.fit_transform(as_text[0], train.y), encoder.transform(as_text[1])
        x, new = (np.hstack([part, data.x[others].to_numpy()]) for part, data in zip(encoded, (train, test)))
        return train_xgboost(train, x, train.y, None).predict(xgb.DMatrix(new))


class CatBoost:
    """CatBoost on the CPU, with its defaults or without what it draws at random."""

    def __init__(self, name: str, **others: Any) -> None:
        self.name, self._others = name, others

    def predict(self, train: Data, test: Data) -> np.ndarray:
        import catboost

        kind = catboost.CatBoostClassifier if train.classes else catboost.CatBoostRegressor
        model = kind(iterations=ROUNDS, depth=DEPTH, learning_rate=RATE, random_seed=0, verbose=0,
                     allow_writing_files=False, thread_count=os.cpu_count(), **self._others)  # fmt: skip
        x, new = (data.x.astype({name: str for name in data.categories}) for data in (train, test))
        model.fit(x, train.y, cat_features=train.categories)
        if not train.classes:
            return model.predict(new)
        predicted = model.predict_proba(new)
        return predicted[:, 1] if train.classes == 2 else predicted


def has_symmetric_trees() -> bool:
    try:
        xgb.train({"tree_method": "gpu_hist", "grow_policy": "symmetric", "verbosity": 0}, xgb.DMatrix([[0.0], [1.0]], [0, 1]), 1)
        return True
    except (xgb.core.XGBoostError, ValueError):
        return False


def candidates(data: Data) -> Iterator[Any]:
    """What the library may do, simplest first."""
    for grow_policy in ("depthwise", "symmetric") if has_symmetric_trees() else ("depthwise",):
        yield Plain(grow_policy)
        yield Encoded("encoder", 1, grow_policy)
        yield Encoded("pairs", 2, grow_policy)
        if len(data.categories) <= MOST_FOR_TRIPLES:
            yield Encoded("triples", 3, grow_policy)
        yield Encoded("auto", "auto", grow_policy)


def splits(data: Data, n: int, seed: int) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
    kind = StratifiedShuffleSplit if data.classes else ShuffleSplit
    return kind(n, test_size=0.2, random_state=seed).split(data.x, data.y)


def chosen(train: Data, test: Data) -> Tuple[str, np.ndarray]:
    """Chooses a candidate inside the training part, and predicts with it trained on all of it."""
    inner, held_out = next(splits(train, 1, seed=1))
    scores = [
        (train.part(held_out).score(model.predict(train.part(inner), train.part(held_out))), -at, model)
        for at, model in enumerate(candidates(train))
    ]
    model = max(scores, key=lambda each: each[:2])[2]
    return model.name, model.predict(train, test)


def with_error(values: List[float], sign: str = "") -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{np.mean(values):{sign}.4f} ± {error:.4f}"


def measure(name: str, data: Data, n: int, every: bool) -> None:
    """Prints a table of one set of data."""
    models: List[Any] = [CatBoost("CatBoost"), CatBoost("CatBoost, nothing at random", random_strength=0, bootstrap_type="No")]
    models.append(SklearnEncoded())
    models += list(candidates(data)) if every else []
    scores: Dict[str, List[float]] = {}
    choices: Dict[str, int] = {}
    begun = time.time()
    for rows, new in splits(data, n, seed=0):
        train, test = data.part(rows), data.part(new)
        for model in models:
            scores.setdefault(model.name, []).append(test.score(model.predict(train, test)))
        choice, predicted = chosen(train, test)
        scores.setdefault("this library, chosen", []).append(test.score(predicted))
        choices[choice] = choices.get(choice, 0) + 1
    metric = {0: "R²", 2: "AUC"}.get(data.classes, "minus log loss")
    print(f"\n{name}: {len(data.y)} rows, {len(data.categories)} categorical columns, {n} splits, {time.time() - begun:.0f} s\n")
    print(f"| | {metric} | minus CatBoost's |\n|---|---|---|")
    for model, values in scores.items():
        falls = [a - b for a, b in zip(values, scores["CatBoost"])]
        print(f"| {model} | {with_error(values)} | {with_error(falls, '+')} |")
    print("\nchosen: " + ", ".join(f"{choice} {count}" for choice, count in sorted(choices.items())), flush=True)


def main() -> None:
    """Measures the sets of data that are asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--splits", type=int)
    parser.add_argument("--every", action="store_true", help="all candidates in each split, too")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)
    for name in args.data:
        data = DATA[name]()
        measure(name, data, args.splits or (20 if len(data.y) < 5000 else 5), args.every)


if __name__ == "__main__":
    main()
