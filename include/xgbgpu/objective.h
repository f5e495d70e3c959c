/// Objectives: gradients of the loss, and predictions, from margins.
///
/// The element-wise objectives of XGBoost 1.7.4, softmax, two of survival times, and ranking; quantiles of 2.0 to 3.3,
/// and expectiles; the smooth losses of 3.4. Formulas and roundings to float are XGBoost's. e^x, ln(1 + x) and tanh are
/// portable functions, within 0.5005 units of the last place.
#ifndef XGBGPU_OBJECTIVE_H_
#define XGBGPU_OBJECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// F is the margin, y the label, p the prediction, d their difference.
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
  kAbsoluteError,    ///< reg:absoluteerror: |d|; leaves become medians of residuals
  kQuantile,         ///< reg:quantileerror: alpha max(0, -d) + (1 - alpha) max(0, d); leaves become quantiles
  /// reg:expectileerror: the sum over outputs of alpha max(0, -d)^2 / 2 + (1 - alpha) max(0, d)^2 / 2. Predictions
  /// ascend: the first is F, each further one lies 1e-6 + ln(1 + e^F) above the one before. The hessian of an output is
  /// the square of its prediction's slope 1 / (1 + e^-F), 1 for the first, times the sum of shares, alpha or 1 - alpha,
  /// from this output on
  kExpectile,
  /// reg:absoluteerror since 3.4: s^2 sqrt(1 + (d/s)^2), with the hessian 1 / sqrt(1 + (d/s)^2). s, of an output, is
  /// the square of the weighted mean of sqrt(|d|) over all rows
  kSmoothAbsoluteError,
  /// reg:quantileerror since 3.4: s d (1 - 2 alpha) / 2 + s b ln(cosh(d/b)) / 2 with b = .04 s, and the hessian
  /// 12.5 tanh(d/b) / (d/b), at least .00375. s as above
  kSmoothQuantile,
  kSoftmax,       ///< multi:softmax, multi:softprob: cross entropy of y and e^F_k / sum over k of e^F_k
  kAft,           ///< survival:aft: minus the log-likelihood of bounds of a time whose logarithm is F + scale · noise
  kCox,           ///< survival:cox: minus the partial log-likelihood of times, where e^F is the hazard
  kRankPairwise,  ///< rank:pairwise: ln(1 + e^(F_b - F_a)) for pairs of rows of a group, a with the larger label
  kRankNdcg,      ///< rank:ndcg: kRankPairwise, times the change of the group's NDCG if the pair were exchanged
  kRankMap,       ///< rank:map: kRankPairwise, times the change of the average precision
};

/// Returns true if a tree's leaves are set from the residuals of their rows.
inline bool AdaptsLeaves(Objective kind) { return kind == Objective::kAbsoluteError || kind == Objective::kQuantile; }
/// Returns true if each output has an alpha, and all have the same label.
inline bool HasAlphas(Objective kind) {
  return kind == Objective::kQuantile || kind == Objective::kExpectile || kind == Objective::kSmoothQuantile;
}
/// Returns true if a loss has a scale that all rows decide.
inline bool HasScale(Objective kind) {
  return kind == Objective::kSmoothAbsoluteError || kind == Objective::kSmoothQuantile;
}
inline bool IsRanking(Objective kind) { return kind >= Objective::kRankPairwise; }
/// Returns true if no shard needs the rows of others for gradients and leaves: shards tell each other sums and maxima.
/// Groups of a ranking each lie in one shard, and leaves that adapt (AdaptsLeaves) are of rows without weights.
inline bool StaysInShard(Objective kind) { return kind != Objective::kCox; }

/// LambdaRank, the meaning of ranking objectives in XGBoost 2.0 and later. Defaults are XGBoost 3's.
struct LambdaRank {
  bool is_used{false};             ///< false: as in 1.7
  bool has_top{true};              ///< lambdarank_pair_method: topk, the first rows by margin with all below; or mean
  std::uint32_t pairs{32};         ///< lambdarank_num_pair_per_sample: the first rows, or draws of each row; 1 or more
  bool normalizes{true};           ///< lambdarank_normalization: by log2(1 + s) / s, s the sum of a group; by the draws
  bool normalizes_by_score{true};  ///< lambdarank_score_normalization: a pair by the difference of its margins
  bool has_exp_gain{true};         ///< ndcg_exp_gain: gains are 2^label - 1, or labels
  bool is_unbiased{false};         ///< lambdarank_unbiased: pairs are divided by PositionBiases
  double bias_norm{1};             ///< lambdarank_bias_norm, 0 or more: biases are ratios to the power 1 / (1 + this)
};

inline bool operator==(LambdaRank const& a, LambdaRank const& b) {
  auto const fields = [](LambdaRank const& params) {
    auto const& [c, d, e, f, g, h, i, j] = params;
    return std::tie(c, d, e, f, g, h, i, j);
  };
  return fields(a) == fields(b);
}

/// Position biases of LambdaRank: how much a row's place in the data adds to its label, a click. A position is a row's
/// number in its group, in the order of the data. Later rows have no bias.
/// From  Hu, Wang, Peng & Li, "Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm", 2019
struct PositionBiases {
  std::vector<float> high;  ///< [positions] of rows with the larger label of a pair: t+
  std::vector<float> low;   ///< [positions] of rows with the smaller label: t-
};

inline bool operator==(PositionBiases const& a, PositionBiases const& b) { return a.high == b.high && a.low == b.low; }

/// The most positions that have a bias.
constexpr std::uint32_t kMostPositions = 65536;

/// Returns the biases of the first round, which are 1: of `pairs` positions with topk, of 32 with mean.
/// Throws  InvalidArgument (more than kMostPositions)
XGBGPU_API PositionBiases FirstBiases(LambdaRank const& params);

/// Parameters of an objective. Ranges are checked by their reader (XGBoost), not here.
struct ObjectiveParams {
  Objective kind;
  float scale_pos_weight{1};           ///< factor of the weight of rows with label 1: the first four objectives
  float max_delta_step{0.7f};          ///< kPoisson: the hessian is e^(F + max_delta_step)
  float tweedie_variance_power{1.5f};  ///< rho, [1, 2)
  float huber_slope{1};
  AftDistribution aft_distribution{AftDistribution::kNormal};
  float aft_scale{1};               ///< aft_loss_distribution_scale
  std::uint32_t num_pairsample{1};  ///< ranking: number of pairs that each row draws, 1 or more
  float fix_list_weight{0};         ///< ranking: total weight of the pairs of a group; 0: their number
  std::uint32_t iteration{0};       ///< rounds of the model; decides with the seed which pairs are drawn
  std::uint64_t seed{0};
  LambdaRank lambdarank{};      ///< ranking: if it is used, num_pairsample and fix_list_weight are not
  PositionBiases biases{};      ///< ranking: of is_unbiased
  std::vector<float> alphas{};  ///< [outputs] quantile_alpha or expectile_alpha, 0 to 1
  bool whole_classes{false};    ///< kSoftmax: a label between two classes is an error; else such a row is of no class
};

inline bool operator==(ObjectiveParams const& a, ObjectiveParams const& b) {
  auto const fields = [](ObjectiveParams const& params) {
    auto const& [c, d, e, f, g, h, i, j, k, l, m, n, o, q, r] = params;  // all that there are
    return std::tie(c, d, e, f, g, h, i, j, k, l, m, n, o, q, r);
  };
  return fields(a) == fields(b);
}

/// Returns the biases of the next round. `losses`: as ComputeGradients with `params` added them up over all rows.
/// Bit-equal for equal losses.
XGBGPU_API PositionBiases NextBiases(ObjectiveParams const& params, Span<std::int64_t const> losses);

/// Returns the objective with this name in XGBoost, or nothing if the engine does not have it.
XGBGPU_API std::optional<Objective> ObjectiveByName(std::string const& name);

/// Returns the name of the objective in XGBoost, the first one if it has several.
XGBGPU_API char const* NameOf(Objective kind);

/// Checks the targets of a training, once for all its rounds. ComputeGradients trusts its input.
///
/// In      labels and weights in host memory, of `rows` rows; `outputs` margins a row
/// Cost    one pass over the labels
/// Throws  InvalidArgument with the words of XGBoost: a label out of range (with the first such row, its label and the
///         range), no labels, not one label for each margin (kSoftmax: for each row), huber_slope 0. kAft takes any
///         bounds and no labels; it throws if bounds are missing. kAft, kCox and kAbsoluteError throw if outputs are
///         not 1, objectives with alphas if there is not an alpha for each, and one label a row. Ranking: groups do
///         not cover the rows one after another, more than 2^31 - 1 rows, num_pairsample or the pairs of LambdaRank 0.
///         No error, as in XGBoost: a max_delta_step of kPoisson whose e^max_delta_step is not finite
XGBGPU_API void CheckTargets(ObjectiveParams const& params, TargetView const& targets, std::uint64_t rows,
                             std::uint32_t outputs, int threads);

namespace host {

/// Computes the gradients of every row and output, times the row's weight.
///
/// In      targets that CheckTargets accepts; margins and gradients of the same rows and outputs, with any strides.
///         Ranking: weights are of groups; without groups all rows are one group
/// Out     hessians have the lower bounds of XGBoost, before or after the weight is applied as there. Finite margins
///         give finite gradients unless the formula overflows (e^F of kPoisson, kGamma and kTweedie beyond F = 88):
///         then the result is infinite or NaN, as in XGBoost. kSoftmax never overflows: margins are relative to the
///         row's largest. Ranking: each row draws num_pairsample rows with another label from its group, uniformly, by
///         (seed, iteration, row). XGBoost draws from one generator a thread: the same distribution, other pairs.
///         Before the factor of the group, the term of a pair has an error of at most 2^-45 beside the rounding of p.
///         Pairs with a NaN margin are left out. With LambdaRank the pairs of topk are XGBoost's; the sums of their
///         terms are exact where XGBoost adds floats. is_unbiased: a bias below 2^-12 divides as 2^-12, below 1e-16 not
///         at all; `losses`, if not null, becomes [4 × positions] sums of all shards for NextBiases
///         kCox: sums in double over rows in order of time. The relative error is 2^-46. XGBoost subtracts from
///         a sum over all rows, of powers rounded to float, which is less accurate for late rows. Margins count as at
///         most 300 below the largest.
///         HasScale: the mean is of integers, 2^-59 of the largest term, where XGBoost adds floats; terms that are
///         infinite or NaN are left out, and their rows' gradients are NaN. Weights that add up to less than 1e-6 give
///         the scale 0, and kSmoothQuantile then gradients and hessians of 0. Weights are not negative
/// Cost    one pass; HasScale three; kCox five, and a sort unless `by_time` is given; kSoftmax two reads and two
///         writes, and one e^x for each margin; kExpectile with n outputs n (n + 1) / 2 additions a row, and two e^x
///         and a logarithm for each margin. No memory, but for kCox (16 bytes a row) and ranking.
///         Ranking: one sort of each group by labels, and one by margins for kRankNdcg and kRankMap; parallel over
///         groups; memory of 56 bytes for each row of the largest group of a thread.
///         Shards: kCox, and ranking without groups, gather labels, weights and margins of all rows in every shard,
///         which computes all gradients. Ranking with groups, each of which lies in one shard, gathers the weights of
///         groups, and is_unbiased adds up losses. HasScale: a maximum and a sum, of three integers for each output and
///         for the weights
/// Same    bit-equal on every backend, for any number of threads and any shards (but for the bits of a NaN)
XGBGPU_API void ComputeGradients(ObjectiveParams const& params, TargetView const& targets,
                                 OutputView<float const> margins, OutputView<GradientPair> gradients, int threads,
                                 Collective& collective = NoOtherShards(), std::vector<std::int64_t>* losses = nullptr);

/// Returns the totals of the ranking groups of all shards. All shards call it at the same time. A shard with rows has
/// groups.
/// Throws  InvalidArgument (some shards have weights of groups and some have none)
XGBGPU_API GroupTotals AddUpGroups(TargetView const& targets, std::uint64_t rows, Collective& collective);

/// Turns margins into the input of metrics (XGBoost's EvalTransform): predictions; for kSoftmax the probabilities of
/// all classes; for kSmoothQuantile the margins of each row in ascending order; for kExpectile the ascending
/// predictions. `out` may be `margins` itself (the same data and strides), but must not overlap it otherwise.
///
/// Same    bit-equal on every backend, for any number of threads
XGBGPU_API void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
                          int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_H_
