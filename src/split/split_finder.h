/// Stage 7 for all nodes of a level.
#ifndef XGBGPU_SPLIT_SPLIT_FINDER_H_
#define XGBGPU_SPLIT_SPLIT_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "histogram/histogram.h"
#include "matrix/matrix.h"
#include "split/category_split.h"
#include "split/constraints.h"
#include "split/split.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A node and its best split.
struct SplitJob {
  NodeIndex node;
  GradientSum* sums;  ///< [cells]
  GradientSum total;  ///< over all rows of the node
  WeightBounds bounds;
  std::optional<std::vector<FeatureIndex>> features;  ///< ascending; nullopt: all features of the tree
  SplitCandidate best;                                ///< output
};

/// The children of one node, first the child whose rows were summed, or a root alone.
struct SplitFamily {
  std::vector<SplitJob> jobs;
  /// The second child's `sums` are still the parent's. Subtracting the first child's sums leaves its own.
  bool subtract;
};

/// Finds the best splits of many nodes at once: EvaluateSplits of each, in blocks of features.
///
/// Same    bit-equal for any number of threads: candidates have a total order
class SplitFinder {
 public:
  /// `matrix` has the cuts and cells of all pages and shards.
  SplitFinder(QuantisedMatrix const& matrix, int threads);

  /// Drops the last tree. All three arguments must outlive the next tree.
  void Begin(SplitParams const& params, Constraints const& constraints, std::vector<FeatureBlock> const& blocks);
  /// Subtracts siblings, where families want it, and writes `best` of every job. The `bin` of a split by categories is
  /// the number of a set.
  void Find(Span<SplitFamily> families);
  /// Returns the sets of all splits by categories so far.
  CategorySets category_sets() const { return {category_sets_, set_words_}; }

 private:
  SplitCandidate FindInBlock(SplitJob const& job, FeatureBlock const& block) const;
  void WriteCategorySets(Span<SplitFamily> families);

  QuantisedMatrix const& matrix_;
  int threads_;
  SplitParams const* params_{nullptr};
  Constraints const* constraints_{nullptr};
  std::vector<FeatureBlock> const* blocks_{nullptr};
  std::size_t set_words_;                     ///< words of one set of categories; 0: no feature is categorical
  std::vector<std::uint32_t> category_sets_;  ///< consecutive
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_SPLIT_SPLIT_FINDER_H_
