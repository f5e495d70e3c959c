// Evaluates the splits of one node on the host.
#include "split/category_split.h"
#include "split/constraint_ops.h"
#include "split/split.h"
#include "split/split_ops.h"

namespace xgbgpu {

SplitParams::SplitParams(TrainParams const& p, GradientFormat format)
    : reg_lambda{p.reg_lambda},
      reg_alpha{p.reg_alpha},
      max_delta_step{p.max_delta_step},
      min_child_weight{p.min_child_weight},
      max_cat_to_onehot{p.max_cat_to_onehot},
      max_cat_threshold{static_cast<BinIndex>(p.max_cat_threshold)},
      grad_unit{ScaleByPowerOfTwo(1.0, -format.grad_shift)},
      hess_unit{ScaleByPowerOfTwo(1.0, -format.hess_shift)},
      is_of_3_4{p.regularisation == Regularisation::kOf3_4} {}

SplitParams ParamsOfOutput(TrainParams const& p, GradientFormat format) {
  SplitParams params{p, format};
  params.min_child_weight = 0.0;
  params.is_of_3_4 = true;
  return params;
}

GradientSum TotalOfOutputs(Span<GradientSum const> sums) {
  int const shift = CeilLog2(sums.size());  // a sum of an output may take 62 bits
  GradientSum total;
  for (GradientSum const& of_output : sums) total.hess += of_output.hess >> shift;
  return total;
}

namespace host {

namespace {

/// Scans the bins of a feature. kForward: bins join the left side one after the other, and missing values stay right.
/// Otherwise bins join the right side from the last bin down, and missing values stay left. Returns the sum of the
/// bins.
template <bool kForward, bool kMonotone>
GradientSum Scan(SplitParams const& p, GradientSum const* bins, BinIndex n, GradientSum total, NodeTerms const& node,
                 int direction, FeatureIndex feature, SplitCandidate* best) {
  GradientSum moved;
  for (BinIndex i = 0; i < n; ++i) {
    BinIndex const b = kForward ? i : n - 1 - i;
    if ((bins[b].grad | bins[b].hess) == 0) continue;
    moved += bins[b];
    GradientSum const rest = total - moved;
    GradientSum const& left = kForward ? moved : rest;
    GradientSum const& right = kForward ? rest : moved;
    float const gain = SplitGain<kMonotone>(p, left, right, node, direction);
    if (gain > best->gain) *best = {gain, feature, kForward ? b + 1 : b, !kForward, false, left, right};
  }
  return moved;
}

template <bool kMonotone>
SplitCandidate Evaluate(SplitParams const& params, QuantisedMatrix const& matrix, GradientSum const* sums,
                        GradientSum total, Span<FeatureIndex const> features, Span<std::int8_t const> directions,
                        WeightBounds bounds) {
  NodeTerms const node = TermsOf<kMonotone>(params, total, bounds);
  SplitCandidate best;
  for (FeatureIndex f : features) {
    GradientSum const* const bins = sums + matrix.cell_ptr[f];
    BinIndex const n = matrix.cuts.bins(f);
    int const direction = kMonotone ? directions[f] : 0;
    if (matrix.cuts.IsCategorical(f)) {
      EvaluateCategories<kMonotone>(params, {bins, n}, total, node, direction, f, &best);
      continue;
    }
    GradientSum const present = Scan<true, kMonotone>(params, bins, n, total, node, direction, f, &best);
    if (present != total) Scan<false, kMonotone>(params, bins, n, total, node, direction, f, &best);
  }
  return best;
}

}  // namespace

SplitCandidate EvaluateSplits(SplitParams const& params, QuantisedMatrix const& matrix, GradientSum const* sums,
                              GradientSum total, Span<FeatureIndex const> features, Span<std::int8_t const> directions,
                              WeightBounds bounds) {
  auto const evaluate = directions.empty() ? Evaluate<false> : Evaluate<true>;
  return evaluate(params, matrix, sums, total, features, directions, bounds);
}

}  // namespace host
}  // namespace xgbgpu
