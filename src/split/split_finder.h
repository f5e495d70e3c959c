/// Stage 7 for all nodes of a level.
#ifndef XGBGPU_SPLIT_SPLIT_FINDER_H_
#define XGBGPU_SPLIT_SPLIT_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "histogram/histogram.h"
#include "matrix/matrix.h"
#include "split/constraints.h"
#include "split/node_splits.h"
#include "split/split.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Finds the best splits of many nodes at once: EvaluateSplits of each, in blocks of features.
///
/// Same    bit-equal for any number of threads: candidates have a total order
class SplitFinder final : public NodeSplits {
 public:
  /// `matrix` has the cuts and cells of all pages and shards.
  SplitFinder(QuantisedMatrix const& matrix, int threads);

  /// Drops the last tree. All three arguments must outlive the next tree.
  void Begin(SplitParams const& params, Constraints const& constraints, std::vector<FeatureBlock> const& blocks);
  void Find(Span<SplitFamily> families) override;
  CategorySets category_sets() const override { return {category_sets_, set_words_}; }
  /// The sums of children are those of the split.
  void AddChildren(NodeIndex, NodeIndex) override {}

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
