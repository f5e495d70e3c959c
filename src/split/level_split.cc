// Finds the split of a symmetric tree's level on the host: sums gains over nodes, in order.
#include "split/level_split.h"

#include <algorithm>
#include <iterator>

#include "base/parallel.h"
#include "split/category_ops.h"

namespace xgbgpu::host {

LevelSplitFinder::LevelSplitFinder(QuantisedMatrix const& matrix, int threads)
    : matrix_{matrix}, threads_{threads}, scores_{matrix.cuts}, gains_(static_cast<std::size_t>(threads)) {}

void LevelSplitFinder::Begin(SplitParams const& params, Constraints const& constraints,
                             std::vector<FeatureBlock> const& blocks) {
  params_ = &params;
  constraints_ = &constraints;
  blocks_ = &blocks;
  scores_.BeginTree(params);
}

/// Returns false if no row of any shard misses the feature.
bool LevelSplitFinder::MayMiss(FeatureIndex feature) const {
  bool const is_dense = matrix_.dense();
  return !is_dense || matrix_.cell_ptr[feature + 1] - matrix_.cell_ptr[feature] > matrix_.cuts.bins(feature);
}

void LevelSplitFinder::Add(Span<SplitFamily const> families, Span<LevelNode const> nodes, NodeIndex first) {
  std::size_t const blocks = blocks_->size();
  ParallelTasks(threads_, families.size() * blocks, [&](std::size_t task, int) {
    SplitFamily const& family = families[task / blocks];
    if (family.subtract) SubtractHistogram((*blocks_)[task % blocks], family.jobs[0].sums, family.jobs[1].sums);
  });
  std::vector<SplitJob const*> jobs;
  for (SplitFamily const& family : families) {
    for (SplitJob const& job : family.jobs) {
      if (job.total.hess > 0) jobs.push_back(&job);
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](SplitJob const* a, SplitJob const* b) { return a->node < b->node; });
  if (first == 0 && !jobs.empty()) SortCategories(jobs[0]->sums);
  std::vector<FeatureIndex> const& features = scores_.features();
  ParallelTasks(threads_, features.size(), [&](std::size_t i, int thread) {
    for (SplitJob const* job : jobs) {
      AddFeature(features[i], job->sums + matrix_.cell_ptr[features[i]],
                 nodes[static_cast<std::size_t>(job->node - first)], static_cast<std::size_t>(thread));
    }
  });
}

void LevelSplitFinder::AddFeature(FeatureIndex feature, GradientSum const* sums, LevelNode const& node,
                                  std::size_t thread) {
  bool const monotone = constraints_->monotone();
  if (matrix_.cuts.IsCategorical(feature)) {
    monotone ? AddCategories<true>(feature, sums, node) : AddCategories<false>(feature, sums, node);
    return;
  }
  auto& gains = gains_[thread];
  gains.resize(std::max<std::size_t>(gains.size(), matrix_.cuts.bins(feature)));
  monotone ? AddNumbers<true>(feature, sums, node, gains.data()) : AddNumbers<false>(feature, sums, node, gains.data());
}

/// Adds the gains of dividing a node at each bin. An empty bin divides it like the bin before.
template <bool kMonotone>
void LevelSplitFinder::AddNumbers(FeatureIndex feature, GradientSum const* sums, LevelNode const& node, double* gains) {
  SplitParams const& p = *params_;
  BinIndex const n = matrix_.cuts.bins(feature);
  int const direction = DirectionOf(feature);
  double* const missing_right = scores_.first() + matrix_.cuts.ptr[feature];
  double* const missing_left = scores_.second() + matrix_.cuts.ptr[feature];
  GradientSum moved;
  double gain = 0.0;
  for (BinIndex b = 0; b < n; ++b) {
    if ((sums[b].grad | sums[b].hess) != 0) {
      moved += sums[b];
      gain = DivisionGain<kMonotone>(p, moved, node.total - moved, node, direction);
    }
    gains[b] = gain;
  }
  for (BinIndex b = 0; b < n; ++b) missing_right[b] += gains[b];
  if (!MayMiss(feature)) return;  // missing values left would repeat the same candidates
  if (moved == node.total) {      // the same holds for this node
    for (BinIndex b = 1; b < n; ++b) missing_left[b] += gains[b - 1];
    return;
  }
  moved = {};
  gain = 0.0;
  for (BinIndex b = n; b-- > 0;) {
    if ((sums[b].grad | sums[b].hess) != 0) {
      moved += sums[b];
      gain = DivisionGain<kMonotone>(p, node.total - moved, moved, node, direction);
    }
    missing_left[b] += gain;
  }
}

template <bool kMonotone>
void LevelSplitFinder::AddCategories(FeatureIndex feature, GradientSum const* sums, LevelNode const& node) {
  BinIndex const n = matrix_.cuts.bins(feature);
  int const direction = DirectionOf(feature);
  double* const first = scores_.first() + matrix_.cuts.ptr[feature];
  double* const second = scores_.second() + matrix_.cuts.ptr[feature];
  auto const gain = [&](CategoryDivision const& d) {
    return DivisionGain<kMonotone>(*params_, d.left, d.right, node, direction);
  };
  if (scores_.KindOf(feature) == CandidateKind::kOneByOne) {
    GradientSum missing = node.total;
    for (BinIndex c = 0; c < n; ++c) missing -= sums[c];
    for (BinIndex c = 0; c < n; ++c) {
      first[c] += gain(DivideOneByOne(2 * c, sums[c], missing, node.total));
      second[c] += gain(DivideOneByOne(2 * c + 1, sums[c], missing, node.total));
    }
    return;
  }
  auto const& sorted = scores_.sorted(feature);
  for (bool const from_front : {true, false}) {
    GradientSum end;
    for (BinIndex i = 0; i < SortedSplits(*params_, n); ++i) {
      end += sums[sorted[from_front ? i : n - 1 - i]];
      (from_front ? first : second)[i] += gain(DivideSorted(i, from_front, n, end, node.total));
    }
  }
}

/// Sorts the categories of all features of the tree by the root's histogram.
void LevelSplitFinder::SortCategories(GradientSum const* root) {
  std::vector<FeatureIndex> features;
  for (FeatureBlock const& block : *blocks_) {
    std::copy_if(block.features.begin(), block.features.end(), std::back_inserter(features),
                 [&](FeatureIndex f) { return scores_.KindOf(f) == CandidateKind::kSorted; });
  }
  ParallelTasks(threads_, features.size(), [&](std::size_t i, int) {
    FeatureIndex const f = features[i];
    scores_.SortCategories(f, {root + matrix_.cell_ptr[f], std::size_t{matrix_.cuts.bins(f)}});
  });
}

GradientSum LevelSplitFinder::LeftOf(LevelSplit const& split, GradientSum const* sums, GradientSum total) const {
  GradientSum const* const bins = sums + matrix_.cell_ptr[split.feature];
  std::uint32_t const* const set = split.categorical ? category_sets().set(split.bin) : nullptr;
  GradientSum left, right;
  for (BinIndex b = 0; b < matrix_.cuts.bins(split.feature); ++b) {
    bool const goes_right = set != nullptr ? ((set[b / 32] >> (b % 32)) & 1U) != 0 : b >= split.bin;
    (goes_right ? right : left) += bins[b];
  }
  return split.default_left ? total - right : left;
}

}  // namespace xgbgpu::host
