// Finds the split of a symmetric tree's level on the host: sums gains over nodes, in order.
#include "split/level_split.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/parallel.h"
#include "split/category_ops.h"

namespace xgbgpu::host {

namespace {

/// The rows of a node on one side of a division, bin by bin, where leaves are numbers.
template <bool kMonotone>
class SideOfNumbers {
 public:
  /// `node` must outlive it.
  SideOfNumbers(LevelParams const& params, std::size_t /*cells*/, LevelNode const* node, int direction)
      : params_{*params.of_outputs}, node_{*node}, direction_{direction} {}

  void Clear() { sum_ = {}; }
  /// Adds the rows of a bin. Returns false if there are none.
  bool Add(GradientSum const* bin) {
    if ((bin->grad | bin->hess) == 0) return false;
    sum_ += *bin;
    return true;
  }
  void Add(SideOfNumbers const& other) { sum_ += other.sum_; }
  /// Becomes the other side.
  void Turn() { sum_ = node_.total - sum_; }
  bool HasAllRows() const { return sum_ == node_.total; }
  double GainAsLeft() const { return DivisionGain<kMonotone>(params_, sum_, node_.total - sum_, node_, direction_); }
  double GainAsRight() const { return DivisionGain<kMonotone>(params_, node_.total - sum_, sum_, node_, direction_); }

 private:
  SplitParams const& params_;
  LevelNode const& node_;
  int direction_;
  GradientSum sum_;
};

/// The rows of a node on one side of a division, bin by bin, where leaves are vectors. A bin has a cell for each
/// output. From one output's cell to the next output's are `cells` cells.
template <bool kMonotone>
class SideOfVectors {
 public:
  SideOfVectors(LevelParams const& params, std::size_t cells, LevelNode const* node, int direction)
      : params_{params}, cells_{cells}, node_{node}, direction_{direction}, sums_(params.outputs) {}

  void Clear() { std::fill(sums_.begin(), sums_.end(), GradientSum{}); }
  bool Add(GradientSum const* bin) {
    std::int64_t some = 0;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      GradientSum const& of_output = bin[k * cells_];
      some |= of_output.grad | of_output.hess;
      sums_[k] += of_output;
    }
    return some != 0;
  }
  void Add(SideOfVectors const& other) {
    for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] += other.sums_[k];
  }
  void Turn() {
    for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] = node_[k].total - sums_[k];
  }
  bool HasAllRows() const {
    return std::equal(sums_.begin(), sums_.end(), node_,
                      [](GradientSum const& sum, LevelNode const& node) { return sum == node.total; });
  }
  double GainAsLeft() const {
    return DivisionGainOfOutputs<kMonotone>(
        params_, [&](auto k) { return sums_[k]; }, [&](auto k) { return Rest(k); }, node_, direction_);
  }
  double GainAsRight() const {
    return DivisionGainOfOutputs<kMonotone>(
        params_, [&](auto k) { return Rest(k); }, [&](auto k) { return sums_[k]; }, node_, direction_);
  }

 private:
  GradientSum Rest(std::size_t k) const { return node_[k].total - sums_[k]; }

  LevelParams const& params_;
  std::size_t cells_;
  LevelNode const* node_;
  int direction_;
  std::vector<GradientSum> sums_;  ///< [outputs]
};

}  // namespace

LevelSplitFinder::LevelSplitFinder(QuantisedMatrix const& matrix, int threads)
    : matrix_{matrix}, threads_{threads}, scores_{matrix.cuts}, gains_(static_cast<std::size_t>(threads)) {}

void LevelSplitFinder::Begin(LevelParams const& params, Constraints const& constraints,
                             std::vector<FeatureBlock> const& blocks) {
  params_ = params;
  constraints_ = &constraints;
  blocks_ = &blocks;
  scores_.BeginTree(*params.of_outputs);
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
    for (std::size_t k = 0; k < params_.outputs && family.subtract; ++k) {
      std::size_t const first_cell = k * matrix_.cells();
      SubtractHistogram((*blocks_)[task % blocks], family.jobs[0].sums + first_cell, family.jobs[1].sums + first_cell);
    }
  });
  std::vector<SplitJob const*> jobs;
  for (SplitFamily const& family : families) {
    for (SplitJob const& job : family.jobs) {
      if (job.total.hess > 0) jobs.push_back(&job);
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](SplitJob const* a, SplitJob const* b) { return a->node < b->node; });
  if (first == 0 && !jobs.empty()) SortCategories(jobs[0]->sums, nodes.data());
  bool const of_numbers = params_.outputs == 1, monotone = constraints_->monotone();
  auto const add_feature = of_numbers ? (monotone ? &LevelSplitFinder::AddFeature<SideOfNumbers<true>>
                                                  : &LevelSplitFinder::AddFeature<SideOfNumbers<false>>)
                                      : (monotone ? &LevelSplitFinder::AddFeature<SideOfVectors<true>>
                                                  : &LevelSplitFinder::AddFeature<SideOfVectors<false>>);
  std::vector<FeatureIndex> const& features = scores_.features();
  ParallelTasks(threads_, features.size(), [&](std::size_t i, int thread) {
    for (SplitJob const* job : jobs) {
      std::size_t const node = static_cast<std::size_t>(job->node - first) * params_.outputs;
      (this->*add_feature)(features[i], job->sums, nodes.data() + node, &gains_[static_cast<std::size_t>(thread)]);
    }
  });
}

template <typename Side>
void LevelSplitFinder::AddFeature(FeatureIndex feature, GradientSum const* sums, LevelNode const* node,
                                  std::vector<double>* gains) {
  Side side{params_, matrix_.cells(), node, DirectionOf(feature)};
  GradientSum const* const bins = sums + matrix_.cell_ptr[feature];
  if (matrix_.cuts.IsCategorical(feature)) {
    AddCategories(feature, bins, &side);
    return;
  }
  gains->resize(std::max<std::size_t>(gains->size(), matrix_.cuts.bins(feature)));
  AddNumbers(feature, bins, &side, gains->data());
}

/// Adds the gains of dividing a node at each bin. An empty bin divides it like the bin before.
template <typename Side>
void LevelSplitFinder::AddNumbers(FeatureIndex feature, GradientSum const* bins, Side* side, double* gains) {
  BinIndex const n = matrix_.cuts.bins(feature);
  double* const missing_right = scores_.first() + matrix_.cuts.ptr[feature];
  double* const missing_left = scores_.second() + matrix_.cuts.ptr[feature];
  double gain = 0.0;
  for (BinIndex b = 0; b < n; ++b) {
    if (side->Add(bins + b)) gain = side->GainAsLeft();
    gains[b] = gain;
  }
  for (BinIndex b = 0; b < n; ++b) missing_right[b] += gains[b];
  if (!MayMiss(feature)) return;  // missing values left would repeat the same candidates
  if (side->HasAllRows()) {       // the same holds for this node
    for (BinIndex b = 1; b < n; ++b) missing_left[b] += gains[b - 1];
    return;
  }
  side->Clear();
  gain = 0.0;
  for (BinIndex b = n; b-- > 0;) {
    if (side->Add(bins + b)) gain = side->GainAsRight();
    missing_left[b] += gain;
  }
}

template <typename Side>
void LevelSplitFinder::AddCategories(FeatureIndex feature, GradientSum const* bins, Side* side) {
  BinIndex const n = matrix_.cuts.bins(feature);
  double* const first = scores_.first() + matrix_.cuts.ptr[feature];
  double* const second = scores_.second() + matrix_.cuts.ptr[feature];
  if (scores_.KindOf(feature) == CandidateKind::kOneByOne) {
    Side missing = *side;  // without rows
    for (BinIndex c = 0; c < n; ++c) missing.Add(bins + c);
    missing.Turn();
    for (BinIndex c = 0; c < n; ++c) {
      side->Clear();
      side->Add(bins + c);
      first[c] += side->GainAsRight();
      side->Add(missing);
      second[c] += side->GainAsRight();
    }
    return;
  }
  auto const& sorted = scores_.sorted(feature);
  BinIndex const splits = SortedSplits(*params_.of_outputs, n);
  for (BinIndex i = 0; i < splits; ++i) {
    side->Add(bins + sorted[i]);
    first[i] += side->GainAsRight();
  }
  side->Clear();
  for (BinIndex i = 0; i < splits; ++i) {
    side->Add(bins + sorted[n - 1 - i]);
    second[i] += side->GainAsLeft();
  }
}

/// Sorts the categories of all features of the tree by the root's histogram.
void LevelSplitFinder::SortCategories(GradientSum const* sums, LevelNode const* root) {
  std::vector<FeatureIndex> features;
  for (FeatureBlock const& block : *blocks_) {
    std::copy_if(block.features.begin(), block.features.end(), std::back_inserter(features),
                 [&](FeatureIndex f) { return scores_.KindOf(f) == CandidateKind::kSorted; });
  }
  std::vector<GradientSum> total;
  for (std::size_t k = 0; k < params_.outputs; ++k) total.push_back(root[k].total);
  ParallelTasks(threads_, features.size(), [&](std::size_t i, int) {
    FeatureIndex const f = features[i];
    std::vector<GradientSum const*> bins;
    for (std::size_t k = 0; k < params_.outputs; ++k) bins.push_back(sums + k * matrix_.cells() + matrix_.cell_ptr[f]);
    scores_.SortCategories(f, params_, total.data(), bins);
  });
}

void LevelSplitFinder::SumLeft(LevelSplit const& split, GradientSum const* sums, LevelNode const* node,
                               GradientSum* left) const {
  std::uint32_t const* const set = split.categorical ? category_sets().set(split.bin) : nullptr;
  for (std::size_t k = 0; k < params_.outputs; ++k) {
    GradientSum const* const bins = sums + k * matrix_.cells() + matrix_.cell_ptr[split.feature];
    GradientSum of_left, of_right;
    for (BinIndex b = 0; b < matrix_.cuts.bins(split.feature); ++b) {
      bool const goes_right = set != nullptr ? ((set[b / 32] >> (b % 32)) & 1U) != 0 : b >= split.bin;
      (goes_right ? of_right : of_left) += bins[b];
    }
    left[k] = split.default_left ? node[k].total - of_right : of_left;
  }
}

}  // namespace xgbgpu::host
