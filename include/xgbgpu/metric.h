/// Evaluation metrics: predictions and labels → one number, as XGBoost 1.7 defines it.
///
/// The number is a function of its input: the same double, to the bit, for any number of threads, on host and device. A
/// NaN is always the same NaN.
///
/// Distance from the stock CPU metrics:
///   means over rows   What stock computes of a row in float is computed in float, operation by operation; log, exp,
///                     log1p and lgamma are rounded once from double, the C library's float functions are off by at
///                     most 1 ulp more (lgammaf: a few). So a row differs by no more than an ulp of each such function,
///                     carried through what follows, and metrics without one (rmse, mae, mape, mphe, error, merror)
///                     only by the order of the sum: relative 2^-53 · (additions in a row), for terms of one sign.
///   aft-nloglik, interval-regression-accuracy
///                     All in double; exp, log and erf are off by what core/portable_math.h says. -ln of a difference
///                     of probabilities d is off by 2^-48 / d more, at most 2^-8 for the smallest d, 1e-12.
///   cox-nloglik       In double (core/ordered_scan.h). Stock rounds ln p to float, 2^-24 of it, and takes the sum at
///                     risk as what is left of the sum over all rows.
///   auc, aucpr        Weights are rounded to multiples of 2^-w of the largest, w = min(45, 62 - ceil(log2 rows));
///                     labels 0 and 1 without weights are exact. Areas are summed in double.
///
///   pre, ndcg, map, auc and aucpr over groups
///                     Counts are exact; sums within a group and over groups are in double.
///
/// Cost: element-wise one pass over labels, weights and predictions; auc and aucpr a sort for each class, rankings
/// see metric/ranking.h.
///
/// Rows with NaN in labels, weights or predictions make element-wise metrics NaN (where stock does) and have some fixed
/// place in the order of auc and aucpr. Where stock ends with an error because all rows are of one class (aucpr), the
/// metric is NaN, as it is for auc.
#ifndef XGBGPU_METRIC_H_
#define XGBGPU_METRIC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/row_views.h"

namespace xgbgpu {

/// Of label y and prediction p of a row the loss is given; the metric is Σ w loss / Σ w, its root for kRmse and
/// kRmsle, the sum itself where all weights w are 0.
enum class Metric : std::uint8_t {
  kRmse,              ///< (y - p)²
  kRmsle,             ///< (ln(1 + y) - ln(1 + p))²
  kMae,               ///< |y - p|
  kMape,              ///< |(y - p) / y|
  kMphe,              ///< s² (√(1 + ((y - p) / s)²) - 1), s the huber_slope
  kLogloss,           ///< -y ln p - (1 - y) ln(1 - p), numbers below 1e-16 taken for that
  kError,             ///< 1 - y if p is above the threshold, else y
  kPoissonNloglik,    ///< ln Γ(y + 1) + p - y ln p
  kGammaNloglik,      ///< y / p + ln p, the dispersion being 1
  kGammaDeviance,     ///< 2 (ln(p / y) + y / p - 1), 1e-6 added to y and p
  kTweedieNloglik,    ///< p^(2 - v) / (2 - v) - y p^(1 - v) / (1 - v), v the tweedie_variance_power
  kMerror,            ///< is class y not the first one of the largest p?
  kMlogloss,          ///< -ln of the p of class y, at least 1e-16
  kAuc,               ///< metric/auc.h; over groups metric/ranking.h
  kAucpr,             ///< metric/auc.h; over groups metric/ranking.h
  kAftNloglik,        ///< metric/survival_ops.h: -ln of the likelihood that the time is between its bounds
  kIntervalAccuracy,  ///< metric/survival_ops.h: is the predicted time between the bounds?
  kCoxNloglik,        ///< metric/cox.h
  kPre,               ///< metric/ranking.h
  kNdcg,              ///< metric/ranking.h
  kMap                ///< metric/ranking.h
};

/// True for metrics over ranking groups (metric/ranking.h).
constexpr bool IsRanking(Metric metric, TargetView const& targets) {
  return metric == Metric::kPre || metric == Metric::kNdcg || metric == Metric::kMap ||
         ((metric == Metric::kAuc || metric == Metric::kAucpr) && targets.group_ptr != nullptr);
}

struct MetricParams {
  Metric kind;
  float threshold{0.5f};               ///< kError: predictions above it count as positive
  float tweedie_variance_power{1.5f};  ///< kTweedieNloglik: in [1, 2)
  float huber_slope{1.0f};             ///< kMphe: not 0; XGBoost's parameter, not part of the name
  /// kAftNloglik: aft_loss_distribution and its scale, XGBoost's parameters
  AftDistribution aft_distribution{AftDistribution::kNormal};
  float aft_scale{1.0f};
  /// kPre, kNdcg, kMap: the first so many rows of a group count; the value of a group where nothing can be found is 0
  /// ("ndcg@5-") or 1 ("ndcg@5")
  std::uint32_t top{0xFFFFFFFFU};
  bool without_hits_is_zero{false};
};

/// Returns the metric with this full name in XGBoost, as "rmse", "error@0.7", "tweedie-nloglik@1.5" or "ndcg@5-". It is
/// nullopt if the name is not one of ours, or not a valid one: XGBoost then computes it, or says what is wrong with it.
XGBGPU_API std::optional<MetricParams> MetricByName(std::string const& name);

/// Returns XGBoost's name of the metric, without what comes after '@'.
XGBGPU_API char const* NameOf(Metric metric);

/// Throws InvalidArgument unless the arrays fit the metric: labels (aft-nloglik, interval-regression-accuracy: bounds)
/// are there; element-wise metrics have one prediction a label (those of times: a row) and weights of rows, not of
/// groups; merror, mlogloss, auc and aucpr have one label a row, metrics of rankings (metric/ranking.h) also one
/// prediction; huber_slope is not 0. Looks at no array: that group_ptr ends with the number of rows is the caller's
/// promise.
XGBGPU_API void CheckMetricInput(MetricParams const& params, TargetView const& targets,
                                 OutputView<float const> predictions);

namespace host {

/// `predictions` are what the objective makes of margins for evaluation (probabilities, for example). Throws as
/// CheckMetricInput, and InvalidArgument for labels of merror and mlogloss that are no class, for labels of ndcg
/// outside 0 to 30 and of aucpr over groups outside [0, 1], and for labels outside [0, 1] with which an area under a
/// curve has no meaning.
///
/// Shards of the rows: all get the number of all rows, those of shard 0 first, with the same bits; rows in messages are
/// counted over all shards. Where some shards have ranking groups, all that have rows must have them, and no group is
/// in two shards. Sums over rows and over groups bring up to 4,095 terms of a shard to every other, and 24 bytes for
/// each 2,048 rows; auc and aucpr without groups, cox-nloglik, and pre, ndcg and map without groups bring predictions,
/// labels and weights of all rows to every shard (objective/all_rows.h), which computes the metric of all.
XGBGPU_API double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                           int threads, Collective& collective = NoOtherShards());

}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_H_
