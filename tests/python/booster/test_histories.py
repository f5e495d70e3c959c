"""Random histories of a booster: whatever it was asked and told before, a round gives the tree that its saved model gives.

Both backends meet the same models, so that histories are the same on host and device, too.
"""

import threading
from typing import Any, Callable, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import OURS, assert_same_trees, fresh, only_ours, params

pytestmark = only_ours
OBJECTIVES = ["reg:squarederror", "binary:logistic", "count:poisson", "reg:absoluteerror"]


class Part:
    """A matrix that may be trained on, and how to make it anew."""

    def __init__(self, rng: np.random.Generator, objective: str) -> None:
        rows = int(rng.choice([40, 150, 600]))
        x = (rng.integers(0, 30, (rows, 4)) / 2 - 3).astype(np.float32)
        score = np.sin(x[:, 0]) + 0.3 * rng.normal(size=rows)
        counts = rng.poisson(np.exp(np.clip(score, -2, 2)))
        self.labels = {"binary:logistic": score > 0, "count:poisson": counts}.get(objective, score)
        self.x, self.margin = x, None
        self.live = self.anew()

    def anew(self) -> xgb.DMatrix:
        return xgb.DMatrix(self.x, self.labels, base_margin=self.margin)

    def set_margin(self, margin: np.ndarray) -> None:
        self.margin = margin
        self.live.set_base_margin(margin)


def random_settings(rng: np.random.Generator) -> Dict[str, Any]:
    settings = params(objective=str(rng.choice(OBJECTIVES)), max_depth=int(rng.integers(1, 6)), eta=0.3)
    if rng.random() < 0.3:
        settings.update(subsample=0.5)
    if rng.random() < 0.2:
        settings.update(grow_policy="lossguide", max_leaves=6)
    if rng.random() < 0.2 and settings["objective"] != "reg:absoluteerror":  # which a dart does not take
        settings.update(booster="dart")
    if OURS and "max_leaves" not in settings and rng.random() < 0.2:
        settings.update(grow_policy="symmetric")
    return settings


@pytest.mark.parametrize("seed", range(40))
def test_a_round_depends_on_the_model_and_the_data_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    settings = random_settings(rng)
    parts = [Part(rng, settings["objective"]) for _ in range(3)]
    booster = xgb.Booster(settings, [part.live for part in parts])
    booster.update(parts[0].live, 0)

    def in_a_thread(act: Callable[[], Any]) -> None:
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()

    def set_param(name: str, value: Any) -> None:
        settings[name] = value
        booster.set_param(name, value)

    events: List[Callable[[Part], Any]] = [
        lambda part: booster.predict(part.live),
        lambda part: booster.eval(part.live),
        lambda part: in_a_thread(lambda: booster.predict(part.live)),
        lambda part: set_param("base_score", float(rng.choice([0.2, 0.4, 0.6]))),
        lambda part: set_param("eta", float(rng.choice([0.1, 0.5]))),
        lambda part: part.set_margin(rng.normal(size=len(part.x)).astype(np.float32)),
    ]
    for number in range(1, 12):
        for event in rng.choice(len(events), size=int(rng.integers(0, 3))):
            events[event](parts[rng.integers(3)])
        part = parts[rng.integers(3)]
        again = fresh(booster)
        again.set_param(settings)
        again.update(part.anew(), number)
        booster.update(part.live, number)
        assert_same_trees(booster, again)
