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

/// A node whose best split is wanted.
struct SplitJob {
  NodeIndex node;
  GradientSum* sums;  ///< [cells]
  GradientSum total;  ///< over all rows of the node
  WeightBounds bounds;
  std::optional<std::vector<FeatureIndex>> features;  ///< ascending; none given: all of the tree
  SplitCandidate best;                                ///< out
};

/// The children of one node, the one whose rows were summed first, or a root alone.
struct SplitFamily {
  std::vector<SplitJob> jobs;
  /// The second child's `sums` are still those of the parent: what is left without the first child's is its own.
  bool subtract;
};

/// Finds the best splits of many nodes at once: EvaluateSplits of each, over blocks of features.
///
/// Same    bit-equal for any number of threads: candidates have a total order
class SplitFinder {
 public:
  /// `matrix` has the cuts and cells of all pages and shards.
  SplitFinder(QuantisedMatrix const& matrix, int threads);

  /// Forgets the last tree. All three arguments must outlive the next one.
  void Begin(SplitParams const& params, Constraints const& constraints, std::vector<FeatureBlock> const& blocks);
  /// Subtracts, where that is wanted, and writes `best` of every job. The `bin` of a split by categories is the number
  /// of a set.
  void Find(Span<SplitFamily> families);
  /// The sets of all splits by categories that were found.
  CategorySets category_sets() const { return {category_sets_, set_words_}; }

 private:
  SplitCandidate FindInBlock(SplitJob const& job, FeatureBlock const& block) const;
  void WriteCategorySets(Span<SplitFamily> families);

  QuantisedMatrix const& matrix_;
  int threads_;
  SplitParams const* params_{nullptr};
  Constraints const* constraints_{nullptr};
  std::vector<FeatureBlock> const* blocks_{nullptr};
  std::size_t set_words_;                     ///< of one set of categories; 0: no feature is categorical
  std::vector<std::uint32_t> category_sets_;  ///< one after the other
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_SPLIT_SPLIT_FINDER_H_
