/// Stage 7 for symmetric trees: sums per bin of all nodes of a level → one split for all nodes.
#ifndef XGBGPU_SPLIT_LEVEL_SPLIT_H_
#define XGBGPU_SPLIT_LEVEL_SPLIT_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "histogram/histogram.h"
#include "matrix/matrix.h"
#include "split/constraints.h"
#include "split/level_scores.h"
#include "split/split_finder.h"
#include "split/symmetric_ops.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Finds the best split of a level: the largest sum of DivisionGain over its nodes, added in the order of their paths.
/// Candidates are EvaluateSplits's. Sorted categories have the order of their sums over all rows of the tree.
///
/// In trees of vectors a node's gain is the sum over the outputs, in their order. Histograms have the cells of each
/// output, one output after the other. Sorted categories have VectorCategoryKeys's order in the root.
///
/// Scores are summed as families come, so histograms need not be in memory all at once.
///
/// Memory  16 bytes a bin
/// Cost    reads the histograms of the level once or twice; one division pair per bin that is not empty, and output
/// Same    bit-equal on every backend and thread count: one thread adds a feature's scores, in order
class LevelSplitFinder {
 public:
  /// `matrix` has the cuts and cells of all pages and shards.
  LevelSplitFinder(QuantisedMatrix const& matrix, int threads);

  /// Drops the last tree. The data that `params` points to, `constraints` and `blocks` must outlive the next tree.
  void Begin(LevelParams const& params, Constraints const& constraints, std::vector<FeatureBlock> const& blocks);
  /// Drops the last level. `features` of the next level ascend.
  void BeginLevel(std::vector<FeatureIndex> features) { scores_.BeginLevel(std::move(features)); }
  /// Subtracts siblings, where families want it, and adds the families' part of all scores. Families come in the order
  /// of paths. The first family of a tree is its root. `nodes` [nodes, outputs] are the level's, and `first` is the
  /// number of the first.
  void Add(Span<SplitFamily const> families, Span<LevelNode const> nodes, NodeIndex first);
  /// Returns the best split after all families have been added.
  LevelSplit Best() { return scores_.Best(); }
  /// Writes the sums over the rows of a node that go left. `sums` [outputs, cells], `node` and `left` [outputs].
  void SumLeft(LevelSplit const& split, GradientSum const* sums, LevelNode const* node, GradientSum* left) const;

  /// Returns the sets of all splits by categories so far.
  CategorySets category_sets() const { return scores_.category_sets(); }
  std::size_t bytes() const { return scores_.bytes(); }

 private:
  template <typename Side>
  void AddFeature(FeatureIndex feature, GradientSum const* sums, LevelNode const* node, std::vector<double>* gains);
  template <typename Side>
  void AddNumbers(FeatureIndex feature, GradientSum const* bins, Side* side, double* gains);
  template <typename Side>
  void AddCategories(FeatureIndex feature, GradientSum const* bins, Side* side);
  void SortCategories(GradientSum const* sums, LevelNode const* root);
  bool MayMiss(FeatureIndex feature) const;
  int DirectionOf(FeatureIndex f) const { return constraints_->monotone() ? constraints_->directions()[f] : 0; }

  QuantisedMatrix const& matrix_;
  int threads_;
  LevelParams params_{};
  Constraints const* constraints_{nullptr};
  std::vector<FeatureBlock> const* blocks_{nullptr};
  LevelScores scores_;
  std::vector<std::vector<double>> gains_;  ///< [threads] scratch for the bins of one feature
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_SPLIT_LEVEL_SPLIT_H_
