"""Ranks documents for queries: rank:ndcg, with groups of rows that belong to one query."""

import numpy as np
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)

rng = np.random.default_rng(0)


def queries(count: int) -> xgb.DMatrix:
    """Queries of 5 to 40 documents; relevance 0 to 4 depends on two of the ten features, and on chance."""
    sizes = rng.integers(5, 41, count)
    x = rng.normal(size=(sizes.sum(), 10)).astype(np.float32)
    score = x[:, 0] + np.abs(x[:, 1]) + 0.5 * rng.normal(size=len(x))
    relevance = np.clip(np.round(score + 1), 0, 4)
    return xgb.DMatrix(x, relevance, qid=np.repeat(np.arange(count), sizes))


train, test = queries(2000), queries(500)
history: dict = {}
xgb.train(
    {"tree_method": "gpu_hist", "objective": "rank:ndcg", "eval_metric": ["ndcg@5", "ndcg"], "eta": 0.1},
    train,
    60,
    evals=[(test, "test")],
    evals_result=history,
    verbose_eval=False,
)
first, last = history["test"]["ndcg@5"][0], history["test"]["ndcg@5"][-1]
print(f"ndcg@5 of held-out queries: {first:.4f} after one round, {last:.4f} after 60")
assert last > first
