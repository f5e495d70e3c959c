#include "split/split.h"
#include "split/split_ops.h"

namespace xgbgpu {

SplitParams::SplitParams(TrainParams const& p, GradientFormat format)
    : reg_lambda{p.reg_lambda},
      reg_alpha{p.reg_alpha},
      max_delta_step{p.max_delta_step},
      min_child_weight{p.min_child_weight},
      grad_unit{ScaleByPowerOfTwo(1.0, -format.grad_shift)},
      hess_unit{ScaleByPowerOfTwo(1.0, -format.hess_shift)} {}

namespace host {

namespace {

/// One scan over the bins of a feature. kForward: bins join the left side one after the other, missing values stay
/// right; else they join the right side from the last bin down, missing values stay left. Returns the sum of the bins.
template <bool kForward>
GradientSum Scan(SplitParams const& p, GradientSum const* bins, BinIndex n, GradientSum total, double node_gain,
                 FeatureIndex feature, SplitCandidate* best) {
  GradientSum moved;
  for (BinIndex i = 0; i < n; ++i) {
    BinIndex const b = kForward ? i : n - 1 - i;
    if ((bins[b].grad | bins[b].hess) == 0) continue;
    moved.grad += bins[b].grad;
    moved.hess += bins[b].hess;
    GradientSum const rest{total.grad - moved.grad, total.hess - moved.hess};
    GradientSum const& left = kForward ? moved : rest;
    GradientSum const& right = kForward ? rest : moved;
    float const gain = SplitGain(p, left, right, node_gain);
    if (gain > best->gain) *best = {gain, feature, kForward ? b + 1 : b, !kForward, left, right};
  }
  return moved;
}

}  // namespace

SplitCandidate EvaluateSplits(SplitParams const& params, QuantisedMatrix const& matrix, GradientSum const* sums,
                              GradientSum total, Span<FeatureIndex const> features) {
  double const node_gain = NodeGain(params, ToLoss(params, total));
  SplitCandidate best;
  for (FeatureIndex f : features) {
    GradientSum const* const bins = sums + matrix.cell_ptr[f];
    BinIndex const n = matrix.cuts.bins(f);
    GradientSum const present = Scan<true>(params, bins, n, total, node_gain, f, &best);
    if (present != total) Scan<false>(params, bins, n, total, node_gain, f, &best);
  }
  return best;
}

}  // namespace host
}  // namespace xgbgpu
