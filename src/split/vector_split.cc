// Finds the best splits of nodes whose sums are vectors.
#include "split/vector_split.h"

#include <algorithm>

#include "base/parallel.h"
#include "split/features_in_block.h"

namespace xgbgpu::host {

VectorSplitFinder::VectorSplitFinder(QuantisedMatrix const& matrix, std::uint32_t outputs, int threads)
    : matrix_{matrix}, threads_{threads}, params_(outputs) {}

void VectorSplitFinder::Begin(TrainParams const& params, Span<GradientFormat const> formats,
                              Span<GradientSum const> roots, Constraints const& constraints,
                              std::vector<FeatureBlock> const& blocks) {
  min_child_weight_ = params.min_child_weight;
  constraints_ = &constraints;
  blocks_ = &blocks;
  sums_.assign(roots.begin(), roots.end());
  weights_.resize(outputs());
  bounds_.assign(constraints.monotone() ? outputs() : 0, WeightBounds{});
  for (std::size_t k = 0; k < outputs(); ++k) {
    params_[k] = SplitParams{params, formats[k]};
    params_[k].min_child_weight = 0.0;
    weights_[k] = LeafWeight(params_[k], ToLoss(params_[k], roots[k]), nullptr);
  }
}

void VectorSplitFinder::Find(Span<SplitFamily> families) {
  std::size_t const blocks = blocks_->size();
  auto const find =
      constraints_->monotone() ? &VectorSplitFinder::FindInBlock<true> : &VectorSplitFinder::FindInBlock<false>;
  std::vector<SplitCandidate> best(2 * families.size() * blocks);  // [families, 2, blocks]
  ParallelTasks(threads_, families.size() * blocks, [&](std::size_t task, int) {
    std::size_t const f = task / blocks, b = task % blocks;
    SplitFamily const& family = families[f];
    FeatureBlock const& block = (*blocks_)[b];
    for (std::size_t k = 0; k < outputs() && family.subtract; ++k) {
      std::size_t const first = k * matrix_.cells();
      SubtractHistogram(block, family.jobs[0].sums + first, family.jobs[1].sums + first);
    }
    for (std::size_t j = 0; j < family.jobs.size(); ++j) {
      best[(2 * f + j) * blocks + b] = (this->*find)(family.jobs[j], FeaturesInBlock(family.jobs[j], block));
    }
  });
  left_.resize(sums_.size());
  directions_.resize(sums_.size() / outputs());
  for (std::size_t f = 0; f < families.size(); ++f) {
    for (std::size_t j = 0; j < families[f].jobs.size(); ++j) {
      SplitJob& job = families[f].jobs[j];
      for (std::size_t b = 0; b < blocks; ++b) {
        SplitCandidate const& candidate = best[(2 * f + j) * blocks + b];
        if (IsBetter(candidate, job.best)) job.best = candidate;
      }
      if (job.best.gain > 0.0f) TakeBest(&job);
    }
  }
}

VectorSplitFinder::Terms VectorSplitFinder::TermsOf(NodeIndex node) const {
  std::size_t const first = First(node);
  Terms terms{sums_.data() + first, bounds_.empty() ? nullptr : bounds_.data() + first, 0.0};
  for (std::size_t k = 0; k < outputs(); ++k) {
    LossSum const sum = ToLoss(params_[k], terms.total[k]);
    terms.gain += terms.bounds == nullptr ? OutputGain(params_[k], sum)
                                          : GainOfWeight(params_[k], sum, static_cast<double>(weights_[first + k]));
  }
  return terms;
}

/// Returns the gain of dividing the node into the rows of `moved` [outputs] and the others; 0 if a side is too light.
template <bool kMonotone>
float VectorSplitFinder::GainOf(Terms const& node, GradientSum const* moved, bool moved_is_left, int direction) const {
  SideHessians hessians{0.0, 0.0};
  double gain = 0.0;
  for (std::size_t k = 0; k < outputs(); ++k) {
    SplitParams const& p = params_[k];
    LossSum const own = ToLoss(p, moved[k]), rest = ToLoss(p, node.total[k] - moved[k]);
    LossSum const &left = moved_is_left ? own : rest, &right = moved_is_left ? rest : own;
    hessians.left += left.hess;
    hessians.right += right.hess;
    if constexpr (kMonotone) {
      SideWeights const w = OrderedWeights(p, left, right, node.bounds[k], direction);
      gain += GainOfWeight(p, left, static_cast<double>(w.left)) + GainOfWeight(p, right, static_cast<double>(w.right));
    } else {
      gain += OutputGain(p, left) + OutputGain(p, right);
    }
  }
  if (!IsHeavyEnough(hessians, static_cast<double>(outputs()), min_child_weight_)) return 0.0f;
  return FiniteGain(gain - node.gain);
}

/// Scans the bins of a feature, as in EvaluateSplits. Returns true if rows of the node have no value of the feature.
template <bool kForward, bool kMonotone>
bool VectorSplitFinder::Scan(Terms const& node, GradientSum const* sums, FeatureIndex feature,
                             SplitCandidate* best) const {
  GradientSum const* const bins = sums + matrix_.cell_ptr[feature];
  BinIndex const n = matrix_.cuts.bins(feature);
  int const direction = kMonotone ? constraints_->directions()[feature] : 0;
  std::vector<GradientSum> moved(outputs());
  for (BinIndex i = 0; i < n; ++i) {
    BinIndex const b = kForward ? i : n - 1 - i;
    std::int64_t some = 0;
    for (std::size_t k = 0; k < outputs(); ++k) {
      GradientSum const& bin = bins[k * matrix_.cells() + b];
      some |= bin.grad | bin.hess;
      moved[k] += bin;
    }
    if (some == 0) continue;
    float const gain = GainOf<kMonotone>(node, moved.data(), kForward, direction);
    if (gain > best->gain) *best = {gain, feature, kForward ? b + 1 : b, !kForward, false, {}, {}};
  }
  return !std::equal(moved.begin(), moved.end(), node.total);
}

template <bool kMonotone>
SplitCandidate VectorSplitFinder::FindInBlock(SplitJob const& job, Span<FeatureIndex const> features) const {
  Terms const node = TermsOf(job.node);
  SplitCandidate best;
  for (FeatureIndex const f : features) {
    if (Scan<true, kMonotone>(node, job.sums, f, &best)) Scan<false, kMonotone>(node, job.sums, f, &best);
  }
  return best;
}

/// Notes the sums on both sides of the best split.
void VectorSplitFinder::TakeBest(SplitJob* job) {
  SplitCandidate& best = job->best;
  BinIndex const n = matrix_.cuts.bins(best.feature);
  GradientSum* const left = left_.data() + First(job->node);
  std::vector<GradientSum> right(outputs());
  for (std::size_t k = 0; k < outputs(); ++k) {
    GradientSum const* const bins = job->sums + k * matrix_.cells() + matrix_.cell_ptr[best.feature];
    GradientSum const& total = sums_[First(job->node) + k];
    GradientSum scanned;
    for (BinIndex b = best.default_left ? best.bin : 0; b < (best.default_left ? n : best.bin); ++b) scanned += bins[b];
    left[k] = best.default_left ? total - scanned : scanned;
    right[k] = total - left[k];
  }
  best.left = Total(left);
  best.right = Total(right.data());
  directions_[static_cast<std::size_t>(job->node)] =
      constraints_->monotone() ? constraints_->directions()[best.feature] : 0;
}

void VectorSplitFinder::AddChildren(NodeIndex parent, NodeIndex left) {
  std::size_t const from = First(parent), to_left = First(left), to_right = First(left + 1);
  std::size_t const size = std::max(sums_.size(), to_right + outputs());
  sums_.resize(size);
  weights_.resize(size);
  if (!bounds_.empty()) bounds_.resize(size);
  int const direction = directions_[static_cast<std::size_t>(parent)];
  for (std::size_t k = 0; k < outputs(); ++k) {
    SplitParams const& p = params_[k];
    GradientSum const &of_left = left_[from + k], of_right = sums_[from + k] - of_left;
    WeightBounds const bounds = bounds_.empty() ? WeightBounds{} : bounds_[from + k];
    SideWeights const w = OrderedWeights(p, ToLoss(p, of_left), ToLoss(p, of_right), bounds, direction);
    sums_[to_left + k] = of_left;
    sums_[to_right + k] = of_right;
    weights_[to_left + k] = w.left;
    weights_[to_right + k] = w.right;
    if (bounds_.empty()) continue;
    bounds_[to_left + k] = direction == 0 ? bounds : BoundsBelow(bounds, direction, w.left, w.right, false);
    bounds_[to_right + k] = direction == 0 ? bounds : BoundsBelow(bounds, direction, w.left, w.right, true);
  }
}

GradientSum VectorSplitFinder::Total(GradientSum const* sums) const {
  int const shift = CeilLog2(outputs());  // a sum of an output may take 62 bits
  GradientSum total;
  for (std::size_t k = 0; k < outputs(); ++k) total.hess += sums[k].hess >> shift;
  return total;
}

double VectorSplitFinder::HessianSum(NodeIndex node) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < outputs(); ++k) sum += ToLoss(params_[k], sums_[First(node) + k]).hess;
  return sum;
}

}  // namespace xgbgpu::host
