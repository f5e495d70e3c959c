"""Times until an event, some of them only known to be later than the end of the study (censored): AFT and Cox."""

import numpy as np
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)

rng = np.random.default_rng(0)
rows = 4000
x = rng.normal(size=(rows, 6)).astype(np.float32)
time = np.exp(1 + 0.8 * x[:, 0] - 0.5 * (x[:, 1] > 0) + 0.3 * rng.gumbel(size=rows))
end = rng.uniform(1, 20, rows)  # each row's own end of observation
seen = time <= end
train, test = np.arange(rows) < 3000, np.arange(rows) >= 3000
print(f"{np.mean(~seen):.0%} of the times are censored")

# Accelerated failure time: an interval for each row; it is open above where the event was not seen.
lower, upper = np.minimum(time, end), np.where(seen, time, np.inf)


def intervals(part: np.ndarray) -> xgb.DMatrix:
    data = xgb.DMatrix(x[part])
    data.set_float_info("label_lower_bound", lower[part])
    data.set_float_info("label_upper_bound", upper[part])
    return data


aft = xgb.train(
    {
        "tree_method": "gpu_hist",
        "objective": "survival:aft",
        "aft_loss_distribution": "normal",
        "aft_loss_distribution_scale": 0.5,
        "eta": 0.1,
        "max_depth": 4,
    },
    intervals(train),
    100,
)
predicted = aft.predict(xgb.DMatrix(x[test]))

# Cox: the sign of the label says whether the event was seen; the prediction is a hazard ratio.
label = np.where(seen, time, -end)
cox = xgb.train(
    {"tree_method": "gpu_hist", "objective": "survival:cox", "eta": 0.1, "max_depth": 4},
    xgb.DMatrix(x[train], label[train]),
    100,
)
hazard = cox.predict(xgb.DMatrix(x[test]))


def concordance(score: np.ndarray) -> float:
    """Share of the comparable pairs of rows that the score orders as the true times do."""
    a, b = np.meshgrid(np.arange(len(score)), np.arange(len(score)))
    first = (time[test][a] < time[test][b]) & seen[test][a]
    return float(np.mean(score[a][first] < score[b][first]))


print(f"concordance with the true times: AFT {concordance(predicted):.3f}, Cox {concordance(-hazard):.3f}")
assert concordance(predicted) > 0.7 and concordance(-hazard) > 0.7
