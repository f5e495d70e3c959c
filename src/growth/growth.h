/// Grows the nodes of depth-wise and loss-guided trees on the host: chooses the nodes to split, the children to search,
/// and the children to sum.
#ifndef XGBGPU_GROWTH_GROWTH_H_
#define XGBGPU_GROWTH_GROWTH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "growth/family_planner.h"
#include "growth/grown_nodes.h"
#include "growth/level.h"
#include "histogram/histogram.h"
#include "histogram/histogram_slots.h"
#include "sample/sample.h"
#include "split/constraints.h"
#include "split/node_splits.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Holds the nodes of one tree after the other, and plans their levels.
class Growth {
 public:
  /// Plans for the given stages, which must outlive it. `outputs`: FamilyPlanner's.
  Growth(HistogramBuilder const& histograms, NodeSplits* splits, HistogramSlots* slots, int threads,
         std::uint32_t outputs = 1);

  /// Forgets the last tree. `root`: sum over the rows of all shards. `in_pages`: a pass over the rows costs more than
  /// its work. Loss-guided trees then split in a pass all nodes that may be part of the tree, unless columns are
  /// sampled for each node, by its number. All other arguments must live until the tree is finished.
  void Begin(TrainParams const& train, SplitParams const& params, FeatureSampler const& features,
             Constraints const& constraints, GradientSum root, bool in_pages);
  /// Takes the best splits that the stages have found for `level`, and makes `level` the next level. Returns false if
  /// there is none: the tree is finished.
  bool Plan(Level* level);
  /// Finds the best split of every node of `level`.
  void Find(Level* level) { splits_->Find(level->families); }

  /// The nodes of the tree.
  Span<Node const> nodes() const { return grown_.tree(); }
  /// Returns the number by which divisions and splits named a node of the tree.
  NodeIndex MadeNumber(NodeIndex number) const { return grown_.MadeNumber(number); }
  /// Returns true if nodes that divisions name have other numbers in the tree, or none.
  bool MadeOtherNodes() const { return !in_order_; }
  /// For every node that a division named: GrownNodes::LeafNumbers.
  std::vector<NodeIndex> LeafNumbers() const { return grown_.LeafNumbers(nodes_); }

 private:
  Node& node(NodeIndex n) { return nodes_[static_cast<std::size_t>(n)]; }
  NodeIndex AddNode(NodeIndex parent, GradientSum sum);
  void TakeSplits(Span<SplitFamily const> families);
  void SplitNodes(Level* level);
  bool PlanChildren(NodeIndex parent, Level* level);
  void ChooseFeatures(Level* level) const;

  NodeSplits* splits_;
  HistogramSlots* slots_;
  FamilyPlanner planner_;
  int threads_;

  SplitParams const* params_{nullptr};
  FeatureSampler const* features_{nullptr};
  Constraints const* constraints_{nullptr};
  bool in_pages_{false};
  bool in_order_{true};
  GradientSum root_;
  GrownNodes grown_;
  NodeLimits limits_;
  std::vector<Node> nodes_;  ///< as they were made
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_GROWTH_GROWTH_H_
