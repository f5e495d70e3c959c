/// The hot path: one level at once. The last splits are applied, histograms of the smaller children summed, those of
/// their siblings subtracted, and the best split of every child found.
#ifndef XGBGPU_LEVEL_LEVEL_H_
#define XGBGPU_LEVEL_LEVEL_H_

#include <deque>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/trace.h"
#include "gradient/gradient.h"
#include "growth/grow_queue.h"
#include "histogram/histogram.h"
#include "histogram/histogram_cache.h"
#include "matrix/matrix.h"
#include "partition/partition.h"
#include "sample/sample.h"
#include "split/category_split.h"
#include "split/constraints.h"
#include "split/split.h"
#include "tree/node.h"

namespace xgbgpu::host {

/// Grows the nodes of one tree after the other on one matrix.
///
/// Memory  17 bytes per row, the histogram cache (`cache_bytes` at most, or two histograms), scratch. A histogram that
///         does not fit the cache is summed again when it is needed: the size changes speed, never a tree.
class LevelBuilder {
 public:
  /// `timer` must outlive it.
  LevelBuilder(QuantisedMatrix const& matrix, int threads, std::size_t cache_bytes, HostStageTimer const* timer);

  /// Forgets the last tree. Throws InvalidArgument (constraints on features that are not there). `rows` of RootRows()
  /// are in the sample; `gradients` must live until the tree is finished.
  void Begin(GradientView const& gradients, SplitParams const& params, FeatureSampler const& features,
             TrainParams const& train, std::size_t rows);
  /// Where the caller lists the rows of the root, ascending; [rows of the matrix].
  Span<RowRecord> RootRows() { return lists_[0].span(); }

  /// Histogram and best split of the root.
  void BuildRoot();
  /// Takes the nodes to split next from the queue; false if there are none.
  bool SelectNodes();
  /// Splits the selected nodes and finds the best splits of their children.
  void ExpandNodes();

  Span<Node const> nodes() const { return nodes_; }
  Constraints const& constraints() const { return constraints_; }
  /// Of the nodes' splits by categories.
  CategorySets category_sets() const { return {category_sets_, set_words_}; }
  /// Writes the leaf of every sampled row to positions[row]; other elements stay as they are.
  void LeafPositions(NodeIndex* positions);
  /// Where children that stay leaves leave their rows' positions during growth.
  void SetPositions(NodeIndex* positions) { positions_ = positions; }
  std::size_t bytes() const;

 private:
  /// Children of one node, or the root alone, whose best splits are wanted.
  struct Family {
    NodeIndex built;    ///< its rows are summed
    NodeIndex sibling;  ///< kNoNode, or the other child
    bool subtract;      ///< the sibling's histogram is what is left of the parent's; else its rows are summed too
  };

  NodeIndex AddNode(NodeIndex parent, GradientSum sum);
  Node& node(NodeIndex n) { return nodes_[static_cast<std::size_t>(n)]; }
  PartitionJob MakePartitionJob(Node const& parent);
  void SplitRows(std::vector<NodeIndex> const& parents);
  void BuildFamilies(std::vector<NodeIndex> const& parents);
  bool PlanFamily(NodeIndex parent, bool may_evict, Family* family);
  bool AcquireSlot(NodeIndex owner, bool may_evict, NodeIndex keep);
  void ReleaseSlot(NodeIndex owner);
  void EvaluateFamilies(std::vector<Family> const& families);
  void WriteCategorySets(std::vector<NodeIndex> const& nodes);
  std::vector<std::vector<FeatureIndex>> FeatureSets(std::vector<NodeIndex> const& nodes) const;

  QuantisedMatrix const& matrix_;
  int threads_;
  HostStageTimer const* timer_;
  RowPartitioner partitioner_;
  HistogramBuilder histograms_;
  HistogramCache cache_;
  Buffer<RowRecord> lists_[2];

  GradientView gradients_;
  SplitParams const* params_{nullptr};
  FeatureSampler const* features_{nullptr};
  NodeIndex* positions_{nullptr};
  GrowQueue queue_;
  std::vector<Node> nodes_;
  Constraints constraints_;
  NodeLimits limits_;
  std::size_t set_words_;                     ///< of one set of categories; 0: no feature is categorical
  std::vector<std::uint32_t> category_sets_;  ///< one after the other
  std::vector<NodeIndex> selected_;
  std::deque<std::pair<NodeIndex, int>> waiting_;  ///< (node, slot) in the order of their building: first to be evicted
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_LEVEL_LEVEL_H_
