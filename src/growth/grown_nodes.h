/// Chooses the nodes of a growing tree that are split next, and the split nodes that make up the tree.
#ifndef XGBGPU_GROWTH_GROWN_NODES_H_
#define XGBGPU_GROWTH_GROWN_NODES_H_

#include <cstddef>
#include <vector>

#include "growth/grow_queue.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A node has two numbers: one in the order of making, one in the tree. Depth-wise growth splits the nodes that the
/// queue selects, and both numbers are equal. Loss-guided growth splits the likeliest nodes ahead of their turn, many
/// at a time. It then takes them into the tree in the order of the queue. The tree is equal to a tree split one node at
/// a time. Nodes that were split and never taken leave their rows in the leaf above them.
///
/// `made` are all nodes made so far, parents before their children. A split node knows its left child.
class GrownNodes {
 public:
  /// Forgets the last tree. `in_order`: no node is split ahead of its turn, and its two numbers are equal.
  void Reset(TrainParams const& params, bool in_order);
  /// Looks at the nodes that have been made since the last call: the root, then children, with their best splits. All
  /// nodes may come at once, split as far as possible: then the tree is finished.
  void Learn(Span<Node const> made);
  /// Returns true if a node may be split. Its best split must be known.
  bool IsCandidate(Node const& node) const { return queue_.IsCandidate(node); }
  /// Returns true if children of a node that is split next may be split. Otherwise their histograms are not needed.
  bool ChildrenMaySplit(Node const& node) const;
  /// Returns true if there is a split to make. If not, the tree is finished.
  bool MaySplit();
  /// Returns the nodes to split next, at most `most`, by their numbers as made. The caller must split the first node.
  /// It may split only some nodes at the front; all others may come again.
  std::vector<NodeIndex> Next(Span<Node const> made, std::size_t most);

  std::vector<Node> const& tree() const { return tree_; }
  /// Returns the number as made of a node of the tree.
  NodeIndex MadeNumber(NodeIndex number) const { return made_number_[static_cast<std::size_t>(number)]; }
  /// Returns for every node made the number in the tree of the leaf with its rows, or kNoNode if its children have the
  /// rows.
  std::vector<NodeIndex> LeafNumbers(Span<Node const> made) const;

 private:
  /// The facts about a node that was made.
  struct Known {
    float priority;    ///< when nodes are chosen: least gain on the way from the nearest node of the tree to this one
    NodeIndex number;  ///< in the tree; kNoNode: not taken (yet)
  };

  Known& known(NodeIndex n) { return known_[static_cast<std::size_t>(n)]; }
  void Take(Span<Node const> made, NodeIndex parent_number);
  void AdvanceLevel(Span<Node const> made);
  void AdvanceQueue(Span<Node const> made);
  void SetPriorities(Span<Node const> made);
  std::size_t CountPossible(Span<Node const> made, std::vector<NodeIndex> const& waiting) const;
  std::vector<NodeIndex> Likeliest(Span<Node const> made, std::size_t most);

  bool loss_guided_{false};
  bool in_order_{false};
  GrowQueue queue_;
  std::vector<Known> known_;  ///< [nodes made]
  std::vector<Node> tree_;
  std::vector<NodeIndex> made_number_;  ///< of every node of the tree
  std::vector<NodeIndex> selected_;     ///< depth-wise: numbers in the tree of the level that is being split
};

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_GROWN_NODES_H_
