// Finds the best splits of nodes whose sums are vectors.
#include "split/vector_split.h"

#include <algorithm>

#include "base/parallel.h"
#include "split/category_ops.h"
#include "split/features_in_block.h"

namespace xgbgpu::host {

namespace {

bool IsIn(std::uint32_t const* set, BinIndex category) { return ((set[category / 32] >> (category % 32)) & 1U) != 0; }

}  // namespace

std::vector<std::uint64_t> VectorCategoryKeys(Span<SplitParams const> params, GradientSum const* total,
                                              Span<GradientSum const* const> sums, BinIndex categories) {
  std::vector<float> own;
  for (std::size_t k = 0; k < params.size(); ++k) own.push_back(BestOutput(params[k], total[k]));
  std::vector<std::uint64_t> keys(categories);
  for (BinIndex c = 0; c < categories; ++c) {
    double product = 0.0;
    for (std::size_t k = 0; k < params.size(); ++k) product += PartOfProduct(params[k], own[k], sums[k][c]);
    keys[c] = CategoryKeyOfProduct(product, c);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

VectorSplitFinder::VectorSplitFinder(QuantisedMatrix const& matrix, std::uint32_t outputs, int threads)
    : matrix_{matrix}, threads_{threads}, params_(outputs), set_words_{CategorySetWords(matrix.cuts)} {}

void VectorSplitFinder::Begin(TrainParams const& params, Span<GradientFormat const> formats,
                              Span<GradientSum const> roots, Constraints const& constraints,
                              std::vector<FeatureBlock> const& blocks) {
  min_child_weight_ = params.min_child_weight;
  constraints_ = &constraints;
  blocks_ = &blocks;
  category_sets_.clear();
  sums_.assign(roots.begin(), roots.end());
  weights_.resize(outputs());
  bounds_.assign(constraints.monotone() ? outputs() : 0, WeightBounds{});
  for (std::size_t k = 0; k < outputs(); ++k) {
    params_[k] = ParamsOfOutput(params, formats[k]);
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
    terms.gain += terms.bounds == nullptr ? NodeGain(params_[k], sum)
                                          : LimitedGain(params_[k], sum, static_cast<double>(weights_[first + k]));
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
      gain += LimitedGain(p, left, static_cast<double>(w.left)) + LimitedGain(p, right, static_cast<double>(w.right));
    } else {
      gain += NodeGain(p, left) + NodeGain(p, right);
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

std::vector<std::uint64_t> VectorSplitFinder::SortedKeys(Terms const& node, GradientSum const* sums,
                                                         FeatureIndex feature) const {
  std::vector<GradientSum const*> bins;
  for (std::size_t k = 0; k < outputs(); ++k) bins.push_back(sums + k * matrix_.cells() + matrix_.cell_ptr[feature]);
  return VectorCategoryKeys(params_, node.total, bins, matrix_.cuts.bins(feature));
}

/// Returns the sums over the rows of the node that have no value of the feature.
std::vector<GradientSum> VectorSplitFinder::MissingOf(Terms const& node, GradientSum const* sums,
                                                      FeatureIndex feature) const {
  std::vector<GradientSum> missing{node.total, node.total + outputs()};
  for (std::size_t k = 0; k < outputs(); ++k) {
    GradientSum const* const bins = sums + k * matrix_.cells() + matrix_.cell_ptr[feature];
    for (BinIndex c = 0; c < matrix_.cuts.bins(feature); ++c) missing[k] -= bins[c];
  }
  return missing;
}

/// Tries the splits that EvaluateCategories tries, in its order.
template <bool kMonotone>
void VectorSplitFinder::TryCategories(Terms const& node, GradientSum const* sums, FeatureIndex feature,
                                      SplitCandidate* best) const {
  BinIndex const n = matrix_.cuts.bins(feature);
  int const direction = kMonotone ? constraints_->directions()[feature] : 0;
  std::vector<GradientSum> moved(outputs());
  auto const bin = [&](std::size_t k, BinIndex c) { return sums[k * matrix_.cells() + matrix_.cell_ptr[feature] + c]; };
  auto const consider = [&](CategoryDivision const& d, bool moved_is_left) {
    float const gain = GainOf<kMonotone>(node, moved.data(), moved_is_left, direction);
    if (gain > best->gain) *best = {gain, feature, d.bin, d.default_left, true, {}, {}};
  };
  if (SplitsOneByOne(params_[0], n)) {
    std::vector<GradientSum> const missing = MissingOf(node, sums, feature);
    for (BinIndex i = 0; i < 2 * n; ++i) {
      CategoryDivision d{};
      for (std::size_t k = 0; k < outputs(); ++k) {
        d = DivideOneByOne(i, bin(k, i / 2), missing[k], node.total[k]);
        moved[k] = d.right;
      }
      consider(d, false);
    }
    return;
  }
  auto const keys = SortedKeys(node, sums, feature);
  for (bool const from_front : {true, false}) {
    moved.assign(outputs(), {});
    for (BinIndex i = 0; i < SortedSplits(params_[0], n); ++i) {
      BinIndex const category = CategoryOf(keys[from_front ? i : n - 1 - i]);
      for (std::size_t k = 0; k < outputs(); ++k) moved[k] += bin(k, category);
      consider(DivideSorted(i, from_front, n, {}, {}), !from_front);
    }
  }
}

template <bool kMonotone>
SplitCandidate VectorSplitFinder::FindInBlock(SplitJob const& job, Span<FeatureIndex const> features) const {
  Terms const node = TermsOf(job.node);
  SplitCandidate best;
  for (FeatureIndex const f : features) {
    if (matrix_.cuts.IsCategorical(f)) {
      TryCategories<kMonotone>(node, job.sums, f, &best);
    } else if (Scan<true, kMonotone>(node, job.sums, f, &best)) {
      Scan<false, kMonotone>(node, job.sums, f, &best);
    }
  }
  return best;
}

/// Notes the sums on both sides of the best split, and the set of its categories.
void VectorSplitFinder::TakeBest(SplitJob* job) {
  SplitCandidate& best = job->best;
  BinIndex const n = matrix_.cuts.bins(best.feature);
  GradientSum* const left = left_.data() + First(job->node);
  std::vector<GradientSum> right(outputs());
  if (!best.default_left) right = MissingOf(TermsOf(job->node), job->sums, best.feature);
  if (best.categorical) TakeCategories(job);
  for (std::size_t k = 0; k < outputs(); ++k) {
    GradientSum const* const bins = job->sums + k * matrix_.cells() + matrix_.cell_ptr[best.feature];
    for (BinIndex b = 0; b < n; ++b) {
      bool const goes_right = best.categorical ? IsIn(category_sets().set(best.bin), b) : b >= best.bin;
      if (goes_right) right[k] += bins[b];
    }
    left[k] = sums_[First(job->node) + k] - right[k];
  }
  best.left = TotalOfOutputs({left, outputs()});
  best.right = TotalOfOutputs(right);
  directions_[static_cast<std::size_t>(job->node)] =
      constraints_->monotone() ? constraints_->directions()[best.feature] : 0;
}

/// Writes the set of the best split, whose number becomes its bin.
void VectorSplitFinder::TakeCategories(SplitJob* job) {
  SplitCandidate& best = job->best;
  std::size_t const number = category_sets_.size() / set_words_;
  category_sets_.resize(category_sets_.size() + set_words_);
  std::uint32_t* const set = category_sets_.data() + number * set_words_;
  auto const add = [set](BinIndex category) { set[category / 32] |= 1U << (category % 32); };
  if (SplitsOneByOne(params_[0], matrix_.cuts.bins(best.feature))) {
    add(best.bin);
  } else {
    auto const keys = SortedKeys(TermsOf(job->node), job->sums, best.feature);
    for (BinIndex i = 0; i < best.bin; ++i) add(CategoryOf(keys[i]));
  }
  best.bin = static_cast<BinIndex>(number);
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

}  // namespace xgbgpu::host
