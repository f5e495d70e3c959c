/// Evaluation metrics: one number from predictions and labels, as XGBoost 1.7 defines it.
///
/// Same    the same double, to the bit, for any number of threads, on host and device, and in any shards
/// Error   against the metrics of XGBoost on the CPU:
///         means over rows   A row differs by at most one ulp for each log, exp, log1p and lgamma of its formula, which
///                           are rounded once from double. Metrics without such a function (rmse, mae, mape, mphe,
///                           error, merror) differ by the order of the sum only: relative 2^-53 for each addition, for
///                           terms of one sign.
///         aft-nloglik, interval-regression-accuracy
///                           All in double. -ln of a difference d of probabilities has an error of 2^-48 / d, at most
///                           2^-8 for the smallest d, 1e-12.
///         cox-nloglik       In double. XGBoost rounds ln p to float, and subtracts from the sum over all rows.
///         auc, aucpr        Weights are rounded to multiples of 2^-w of the largest weight, w = min(45, 62 - ceil(log2
///                           rows)). Labels 0 and 1 without weights are exact. Areas are summed in double.
///         rankings          Counts are exact. Sums within a group and over groups are in double.
/// Cost    element-wise: one pass over labels, weights and predictions; auc and aucpr: a sort for each class; rankings:
///         two sorts at most, and for auc all pairs of a group
///
/// NaNs in labels, weights or predictions make element-wise metrics NaN, as in XGBoost, and have a fixed place in the
/// order of auc and aucpr. If all rows are of one class, auc and aucpr are NaN; XGBoost throws for aucpr.
#ifndef XGBGPU_METRIC_H_
#define XGBGPU_METRIC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// For element-wise metrics the loss of a row with label y and prediction p. The metric is Σ w loss / Σ w, with the
/// weight w of a row; its root for kRmse and kRmsle; Σ w loss if all weights are 0.
enum class Metric : std::uint8_t {
  kRmse,              ///< (y - p)²
  kRmsle,             ///< (ln(1 + y) - ln(1 + p))²
  kMae,               ///< |y - p|
  kMape,              ///< |(y - p) / y|
  kMphe,              ///< s² (√(1 + ((y - p) / s)²) - 1), s the huber_slope
  kLogloss,           ///< -y ln p - (1 - y) ln(1 - p), where p and 1 - p are at least 1e-16
  kError,             ///< 1 - y if p is above the threshold, else y
  kPoissonNloglik,    ///< ln Γ(y + 1) + p - y ln p
  kGammaNloglik,      ///< y / p + ln p, the dispersion being 1
  kGammaDeviance,     ///< 2 (ln(p / y) + y / p - 1), 1e-6 added to y and p
  kTweedieNloglik,    ///< p^(2 - v) / (2 - v) - y p^(1 - v) / (1 - v), v the tweedie_variance_power
  kMerror,            ///< 0 if class y is the first class with the largest p, or 1
  kMlogloss,          ///< -ln p of class y, where p is at least 1e-16
  kAuc,               ///< area under true over false positives; classes weighted by true positives; groups equally
  kAucpr,             ///< area under precision over recall; classes and groups weighted equally
  kAftNloglik,        ///< -ln of the likelihood that the time is between its bounds
  kIntervalAccuracy,  ///< 1 if the predicted time is between the bounds, or 0
  kCoxNloglik,        ///< mean over events of ln(D / p), with D the sum of p over rows of the same time and later
  kPre,               ///< hits (labels >= 1) among the first k rows of a group, by prediction, / k
  kNdcg,              ///< Σ (2^y - 1) / log2(position + 1) over the first k rows / the same for the best order
  kMap                ///< mean over hits of (hits up to the hit) / position; 0 for hits behind the first k
};

/// Returns true if the metric is the mean over ranking groups.
constexpr bool IsRanking(Metric metric, TargetView const& targets) {
  return metric == Metric::kPre || metric == Metric::kNdcg || metric == Metric::kMap ||
         ((metric == Metric::kAuc || metric == Metric::kAucpr) && targets.group_ptr != nullptr);
}

/// A metric with its parameters.
struct MetricParams {
  Metric kind;
  float threshold{0.5f};               ///< kError: predictions above it count as positive
  float tweedie_variance_power{1.5f};  ///< kTweedieNloglik: in [1, 2)
  float huber_slope{1.0f};             ///< kMphe: not 0; XGBoost's parameter, not part of the name
  /// kAftNloglik: XGBoost's aft_loss_distribution and aft_loss_distribution_scale.
  AftDistribution aft_distribution{AftDistribution::kNormal};
  float aft_scale{1.0f};
  /// kPre, kNdcg, kMap: number of first rows of a group that count (k). A group without hits has the value 0
  /// ("ndcg@5-") or 1 ("ndcg@5").
  std::uint32_t top{0xFFFFFFFFU};
  bool without_hits_is_zero{false};
};

/// Returns the metric with this full name in XGBoost, for example "rmse", "error@0.7", "tweedie-nloglik@1.5",
/// "ndcg@5-". Returns nothing if the name is invalid or the engine does not have the metric.
XGBGPU_API std::optional<MetricParams> MetricByName(std::string const& name);

/// Returns XGBoost's name of the metric, without '@' and parameter.
XGBGPU_API char const* NameOf(Metric metric);

/// Checks the shapes of the arrays of a metric. Reads no array: the caller guarantees that group_ptr ends with the
/// number of rows.
///
/// Throws  InvalidArgument: no labels (aft-nloglik, interval-regression-accuracy: no bounds); element-wise metrics: not
///         one prediction a label (survival times: a row), weights of groups; merror, mlogloss, auc, aucpr, rankings:
///         not one label a row; rankings: not one prediction a row; huber_slope 0
XGBGPU_API void CheckMetricInput(MetricParams const& params, TargetView const& targets,
                                 OutputView<float const> predictions);

/// Facts about the rows of one metric that shards have exchanged. Empty before the first evaluation, which fills it in.
/// Later evaluations do not exchange them again. They must be of this metric, and no shard may change its numbers of
/// rows, groups, weights and outputs.
struct SharedRows {
  struct Facts {
    bool have_groups;   ///< a shard has ranking groups
    bool have_weights;  ///< a shard has weights
    bool can_count;     ///< the devices of all shards can count areas
  };
  std::optional<Facts> facts;
  std::optional<Shard> place;       ///< of this shard's rows; empty: not needed
  std::optional<bool> count_area;   ///< the devices of all shards have memory to count areas; empty: not needed
  std::vector<std::int64_t> items;  ///< [shards] numbers of items that are summed; empty: not needed
};

namespace host {

/// Returns the metric of predictions in host memory.
///
/// In      `predictions`, as host::Transform makes them of margins (probabilities, for example). `shared`: filled in
///         all shards or in none; null: as if it were empty.
///         Shards: if one shard has ranking groups, all shards with rows have groups; no group is in two shards
/// Cost    shards: sums over rows and groups gather up to 4,095 terms of each shard, and 24 bytes for each 2,048 rows.
///         auc and aucpr without groups, cox-nloglik, and pre, ndcg and map without groups gather predictions, labels
///         and weights of all rows in every shard, which computes the metric
/// Throws  as CheckMetricInput; InvalidArgument for labels that are no class (merror, mlogloss), outside 0 to 30
///         (ndcg), outside [0, 1] (aucpr over groups; other areas that would have no meaning). Rows in messages count
///         over all shards
XGBGPU_API double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                           int threads, Collective& collective = NoOtherShards(), SharedRows* shared = nullptr);

/// Returns several metrics of the rows of all shards, with the results of one call for each metric. Metrics that are
/// sums over rows take one message together. `shared`: of each metric.
/// Throws  as the call for one metric
XGBGPU_API std::vector<double> Evaluate(Span<MetricParams const> metrics, TargetView const& targets,
                                        OutputView<float const> predictions, int threads, Collective& collective,
                                        Span<SharedRows* const> shared);

}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_H_
