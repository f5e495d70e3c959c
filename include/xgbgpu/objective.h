/// Objectives: margins of rows → gradients of the loss, and margins → predictions.
///
/// The element-wise objectives of XGBoost 1.7.4, softmax, two of survival times, and ranking. The formulas, and
/// where they round to float, are stock's; e^x and ln(1 + x) are the portable ones of core/portable_float.h, within
/// 0.5003 units of the last place.
#ifndef XGBGPU_OBJECTIVE_H_
#define XGBGPU_OBJECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// With F = margin, y = label, p = prediction, d = their difference.
enum class Objective : std::uint8_t {
  kSquaredError,     ///< reg:squarederror: (F - y)^2 / 2
  kSquaredLogError,  ///< reg:squaredlogerror: (ln(F + 1) - ln(y + 1))^2 / 2
  kLogistic,         ///< reg:logistic, binary:logistic: cross entropy of y and p = 1 / (1 + e^-F)
  kLogitRaw,         ///< binary:logitraw: the gradients of kLogistic; predictions are the margins
  kHinge,            ///< binary:hinge: max(0, 1 - (2y - 1) F)
  kPoisson,          ///< count:poisson: e^F - yF
  kGamma,            ///< reg:gamma: F + y e^-F
  kTweedie,          ///< reg:tweedie: e^((2-rho)F) / (2-rho) - y e^((1-rho)F) / (1-rho)
  kPseudoHuber,      ///< reg:pseudohubererror: slope^2 (sqrt(1 + (d/slope)^2) - 1)
  kAbsoluteError,    ///< reg:absoluteerror: |d|; leaves become medians of residuals (objective/leaf_median.h)
  kSoftmax,          ///< multi:softmax, multi:softprob: cross entropy of y and e^F_k / sum over k of e^F_k
  kAft,           ///< survival:aft: minus the log-likelihood of bounds of a time whose logarithm is F + scale · noise
  kCox,           ///< survival:cox: minus the partial log-likelihood of times, where e^F is the hazard (cox_ops.h)
  kRankPairwise,  ///< rank:pairwise: ln(1 + e^(F_b - F_a)) for pairs of rows of a group, a with the larger label
  kRankNdcg,      ///< rank:ndcg: kRankPairwise, times what the pair's exchange would change of the group's NDCG
  kRankMap,       ///< rank:map: kRankPairwise, times what the exchange would change of the average precision
};

inline bool IsRanking(Objective kind) { return kind >= Objective::kRankPairwise; }

/// XGBoost checks the ranges of these when it reads them.
struct ObjectiveParams {
  Objective kind;
  float scale_pos_weight{1};           ///< factor of the weight where the label is 1: the first four objectives
  float max_delta_step{0.7f};          ///< kPoisson: the hessian is e^(F + max_delta_step)
  float tweedie_variance_power{1.5f};  ///< rho, [1, 2)
  float huber_slope{1};
  AftDistribution aft_distribution{AftDistribution::kNormal};
  float aft_scale{1};               ///< aft_loss_distribution_scale
  std::uint32_t num_pairsample{1};  ///< pairs that every row draws, 1 and more: ranking
  float fix_list_weight{0};         ///< weight of all pairs of a group; 0: a group weighs as many as it has
  std::uint32_t iteration{0};       ///< rounds that the model has: with the seed it decides which pairs are drawn
  std::uint64_t seed{0};
};

inline bool operator==(ObjectiveParams const& a, ObjectiveParams const& b) {
  auto const fields = [](ObjectiveParams const& params) {
    auto const& [c, d, e, f, g, h, i, j, k, l, m] = params;  // all that there are
    return std::tie(c, d, e, f, g, h, i, j, k, l, m);
  };
  return fields(a) == fields(b);
}

/// Returns the objective with this name in XGBoost; nothing if it is none of these.
XGBGPU_API std::optional<Objective> ObjectiveByName(std::string const& name);

/// Returns the name of the objective in XGBoost; of several, the first of the list.
XGBGPU_API char const* NameOf(Objective kind);

/// Looks whether a training can begin, once for all its rounds: what follows trusts its input.
///
/// In      labels and weights in host memory; `rows` rows, `outputs` margins for each
/// Cost    one pass over the labels
/// Throws  InvalidArgument with stock's words for the case: a label out of range (with the first such row, its label
///         and the range), no labels, other than one label for each margin (kSoftmax: each row), huber_slope 0. kAft
///         takes any bounds, as stock does, and no labels: it throws if bounds are missing or outputs are not 1, which
///         kCox and kAbsoluteError ask for, too. For ranking: groups that do not cover the rows one after another,
///         more than 2^31 - 1 rows, num_pairsample 0.
///         What stock takes: a max_delta_step of kPoisson so large that e^max_delta_step is not finite.
void CheckTargets(ObjectiveParams const& params, TargetView const& targets, std::uint64_t rows, std::uint32_t outputs,
                  int threads);

namespace host {

/// Computes the gradients of every row and output, times the row's weight.
///
/// In      what CheckTargets has passed; margins and gradients have the same rows and outputs, any strides
///         Ranking: weights are those of groups; where targets have no groups, all rows are one.
/// Out     Hessians have stock's lower bounds, before the weight is applied or after it as there. Finite margins give
///         finite gradients where the formula does; where it overflows (e^F of kPoisson, kGamma and kTweedie beyond
///         F = 88) the result is infinite or NaN, as in stock XGBoost. kSoftmax never overflows: every row is taken
///         relative to its largest margin.
///         Ranking: every row draws num_pairsample rows of its group that have another label, uniformly, by (seed,
///         iteration, row). Stock draws from a generator of each thread: the same distribution, other pairs. Before the
///         factor of the group, what a pair adds is off by 2^-45 at most (rank_ops.h), on top of the rounding of p;
///         margins have to be finite: a NaN's pairs are left out.
///         kCox: sums in double over rows in order of time (core/ordered_scan.h). Stock takes each denominator as what
///         is left of a sum over all rows, of powers rounded to float: late rows have ours, exact to 2^-46, more
///         accurately. Where margins differ by more than 300 the smallest count as if they did by 300.
/// Cost    one pass; kCox five, and a sort unless `by_time` is given; kSoftmax reads the margins twice, writes twice,
///         and takes one e^x for each. No allocation but for kCox, 16 bytes a row, and ranking.
///         Ranking: one sort of each group by labels, for kRankNdcg and kRankMap another by margins; parallel over
///         groups, with memory of 56 bytes for each row of a thread's largest group.
///         Shards of the rows: kCox, and ranking without groups, bring labels, weights and margins of all rows to every
///         shard (objective/all_rows.h), which computes all gradients; ranking with groups, which lie in one shard
///         each, the weights of all groups.
/// Same    bit-equal on every backend and thread count (a NaN is a NaN: its bits may differ), and in any shards
XGBGPU_API void ComputeGradients(ObjectiveParams const& params, TargetView const& targets,
                                 OutputView<float const> margins, OutputView<GradientPair> gradients, int threads,
                                 Collective& collective = NoOtherShards());

/// Turns margins into what metrics are given (XGBoost's EvalTransform): predictions, for kSoftmax the probabilities of
/// all classes. `out` may be `margins` itself (the same data and strides), but must not overlap it otherwise.
/// Same  bit-equal on every backend and thread count
XGBGPU_API void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
                          int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_H_
