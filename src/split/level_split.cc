#include "split/level_split.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "split/category_ops.h"

namespace xgbgpu::host {

LevelSplitFinder::LevelSplitFinder(QuantisedMatrix const& matrix, int threads)
    : matrix_{matrix}, threads_{threads}, gains_(threads), set_words_{CategorySetWords(matrix.cuts)} {}

void LevelSplitFinder::Begin(SplitParams const& params, Constraints const& constraints,
                             std::vector<FeatureBlock> const& blocks) {
  params_ = &params;
  constraints_ = &constraints;
  blocks_ = &blocks;
  category_sets_.clear();
  sorted_.clear();
  right_.Reserve(matrix_.cells());
  left_.Reserve(matrix_.cells());
}

void LevelSplitFinder::BeginLevel(std::vector<FeatureIndex> features) {
  features_ = std::move(features);
  for (FeatureIndex const f : features_) {
    BinIndex const first = matrix_.cell_ptr[f], n = matrix_.cuts.bins(f);
    std::fill_n(right_.data() + first, n, 0.0);
    std::fill_n(left_.data() + first, n, 0.0);
  }
}

/// False if no row of any shard misses the feature.
bool LevelSplitFinder::MayMiss(FeatureIndex feature) const {
  bool const is_dense = matrix_.layout == MatrixLayout::kDense8 || matrix_.layout == MatrixLayout::kDense16;
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
  bool const monotone = constraints_->monotone();
  ParallelTasks(threads_, features_.size(), [&](std::size_t i, int thread) {
    FeatureIndex const f = features_[i];
    auto& gains = gains_[static_cast<std::size_t>(thread)];
    gains.resize(std::max<std::size_t>(gains.size(), matrix_.cuts.bins(f)));
    for (SplitJob const* job : jobs) {
      LevelNode const& node = nodes[static_cast<std::size_t>(job->node - first)];
      GradientSum const* const sums = job->sums + matrix_.cell_ptr[f];
      if (matrix_.cuts.IsCategorical(f)) {
        monotone ? AddCategories<true>(f, sums, node) : AddCategories<false>(f, sums, node);
      } else {
        monotone ? AddNode<true>(f, sums, node, gains.data()) : AddNode<false>(f, sums, node, gains.data());
      }
    }
  });
}

/// Adds the gains of dividing a node at each bin. An empty bin divides it as the bin before did.
template <bool kMonotone>
void LevelSplitFinder::AddNode(FeatureIndex feature, GradientSum const* sums, LevelNode const& node, double* gains) {
  SplitParams const& p = *params_;
  BinIndex const n = matrix_.cuts.bins(feature);
  int const direction = DirectionOf(feature);
  double* const right = right_.data() + matrix_.cell_ptr[feature];
  double* const left = left_.data() + matrix_.cell_ptr[feature];
  GradientSum moved;
  double gain = 0.0;
  for (BinIndex b = 0; b < n; ++b) {
    if ((sums[b].grad | sums[b].hess) != 0) {
      moved += sums[b];
      gain = DivisionGain<kMonotone>(p, moved, node.total - moved, node, direction);
    }
    gains[b] = gain;
  }
  for (BinIndex b = 0; b < n; ++b) right[b] += gains[b];
  if (!MayMiss(feature)) return;
  if (moved == node.total) {  // nothing is missing: only that bins up to b - 1 go left matters
    for (BinIndex b = 1; b < n; ++b) left[b] += gains[b - 1];
    return;
  }
  moved = {};
  gain = 0.0;
  for (BinIndex b = n; b-- > 0;) {
    if ((sums[b].grad | sums[b].hess) != 0) {
      moved += sums[b];
      gain = DivisionGain<kMonotone>(p, node.total - moved, moved, node, direction);
    }
    left[b] += gain;
  }
}

template <bool kMonotone>
void LevelSplitFinder::AddCategories(FeatureIndex feature, GradientSum const* sums, LevelNode const& node) {
  BinIndex const n = matrix_.cuts.bins(feature);
  int const direction = DirectionOf(feature);
  double* const first = right_.data() + matrix_.cell_ptr[feature];
  double* const second = left_.data() + matrix_.cell_ptr[feature];
  auto const gain = [&](CategoryDivision const& d) {
    return DivisionGain<kMonotone>(*params_, d.left, d.right, node, direction);
  };
  if (SplitsOneByOne(*params_, n)) {
    GradientSum missing = node.total;
    for (BinIndex c = 0; c < n; ++c) missing -= sums[c];
    for (BinIndex c = 0; c < n; ++c) {
      first[c] += gain(DivideOneByOne(2 * c, sums[c], missing, node.total));
      second[c] += gain(DivideOneByOne(2 * c + 1, sums[c], missing, node.total));
    }
    return;
  }
  auto const& sorted = sorted_[feature];
  for (bool const from_front : {true, false}) {
    GradientSum end;
    for (BinIndex i = 0; i < SortedSplits(*params_, n); ++i) {
      end += sums[sorted[from_front ? i : n - 1 - i]];
      (from_front ? first : second)[i] += gain(DivideSorted(i, from_front, n, end, node.total));
    }
  }
}

/// Sorts the categories of all features by the histogram of the root.
void LevelSplitFinder::SortCategories(GradientSum const* root) {
  if (set_words_ == 0) return;
  sorted_.resize(matrix_.features());
  std::vector<FeatureIndex> features;
  for (FeatureBlock const& block : *blocks_) {
    for (FeatureIndex const f : block.features) {
      if (matrix_.cuts.IsCategorical(f) && !SplitsOneByOne(*params_, matrix_.cuts.bins(f))) features.push_back(f);
    }
  }
  ParallelTasks(threads_, features.size(), [&](std::size_t i, int) {
    FeatureIndex const f = features[i];
    for (std::uint64_t const key :
         SortedCategoryKeys(*params_, {root + matrix_.cell_ptr[f], std::size_t{matrix_.cuts.bins(f)}})) {
      sorted_[f].push_back(CategoryOf(key));
    }
  });
}

LevelSplit LevelSplitFinder::Best() {
  LevelSplit best;
  for (FeatureIndex const f : features_) {
    BinIndex const n = matrix_.cuts.bins(f);
    bool const categorical = matrix_.cuts.IsCategorical(f);
    double const* const right = right_.data() + matrix_.cell_ptr[f];
    double const* const left = left_.data() + matrix_.cell_ptr[f];
    auto const consider = [&](double score, BinIndex bin, bool default_left) {
      if (score > best.score) best = {score, f, bin, default_left, categorical};
    };
    if (!categorical) {
      for (BinIndex b = 0; b < n; ++b) consider(right[b], b + 1, false);
      for (BinIndex b = n; b-- > 0;) consider(left[b], b, true);
    } else if (SplitsOneByOne(*params_, n)) {
      for (BinIndex c = 0; c < n; ++c) {
        consider(right[c], c, true);
        consider(left[c], c, false);
      }
    } else {
      BinIndex const splits = SortedSplits(*params_, n);
      for (BinIndex i = 0; i < splits; ++i) consider(right[i], i + 1, true);
      for (BinIndex i = 0; i < splits; ++i) consider(left[i], n - 1 - i, false);
    }
  }
  if (best.categorical) WriteCategorySet(&best);
  return best;
}

void LevelSplitFinder::WriteCategorySet(LevelSplit* split) {
  std::size_t const number = category_sets_.size() / set_words_;
  category_sets_.resize(category_sets_.size() + set_words_);
  std::uint32_t* const set = category_sets_.data() + number * set_words_;
  auto const add = [&](BinIndex category) { set[category / 32] |= 1U << (category % 32); };
  if (SplitsOneByOne(*params_, matrix_.cuts.bins(split->feature))) {
    add(split->bin);
  } else {
    for (BinIndex i = 0; i < split->bin; ++i) add(sorted_[split->feature][i]);
  }
  split->bin = static_cast<BinIndex>(number);
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
