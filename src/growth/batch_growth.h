/// Growth in batches that the host chooses: which nodes a device expands next, and which of them are the tree.
#ifndef XGBGPU_GROWTH_BATCH_GROWTH_H_
#define XGBGPU_GROWTH_BATCH_GROWTH_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "growth/grow_queue.h"
#include "tree/family.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// Nodes have two numbers: in the order in which the device makes them, and in the tree. Depth-wise growth expands what
/// the queue selects, and the two are the same. Loss-guided growth expands the likeliest nodes ahead of their turn,
/// then takes them into the tree in the order of the queue: the tree is the one that one node at a time gives. Nodes
/// that were expanded and never taken leave their rows in the leaf above them.
///
/// Histogram slots are dealt to nodes that wait for their split. When they run out, the one that has waited longest
/// loses its histogram; its children will both be summed.
class BatchGrowth {
 public:
  /// `slots` >= 2. `in_order`: no node is expanded ahead of its turn, so that its two numbers are the same.
  void Reset(TrainParams const& params, std::uint32_t slots, bool in_order);
  /// Nodes that the device has made: the root, then the children of each batch, in order, with their best splits. They
  /// may all come at once, split as far as they can be: then the tree is finished.
  void Learn(Span<Node const> nodes);
  /// Is there a split to make? If not, the tree is finished.
  bool MaySplit();
  /// The splits to make now, at most `most`. Children get the device numbers made().size() and up.
  std::vector<Family> NextBatch(std::size_t most);

  std::vector<Node> const& made() const { return made_; }
  std::vector<Node> const& tree() const { return tree_; }
  /// For every node made: the number in the tree of the leaf that its rows belong to, or kNoNode if its children have
  /// them.
  std::vector<NodeIndex> LeafNumbers() const;

 private:
  /// What only the host knows of a node.
  struct Known {
    float priority;    ///< when a batch is chosen: least gain on the way from the nearest node of the tree to this one
    NodeIndex number;  ///< in the tree; kNoNode: not taken (yet)
  };

  Node& made(NodeIndex n) { return made_[static_cast<std::size_t>(n)]; }
  Known& known(NodeIndex n) { return known_[static_cast<std::size_t>(n)]; }
  void Take(NodeIndex parent_number);
  void AdvanceTree();
  void SetPriorities();
  std::size_t CountPossible() const;
  std::vector<NodeIndex> Likeliest(std::size_t most);
  bool PlanFamily(NodeIndex parent, Family* family);
  std::int32_t AcquireSlot(NodeIndex keep);
  void ReleaseSlot(NodeIndex node);

  bool loss_guided_{false};
  bool in_order_{false};
  GrowQueue queue_;
  std::vector<Node> made_;
  std::vector<Known> known_;
  std::vector<Node> tree_;
  std::vector<NodeIndex> device_number_;  ///< device number of every node of the tree
  std::vector<NodeIndex> selected_;       ///< depth-wise: numbers in the tree of the level being expanded
  std::size_t next_selected_{0};
  std::vector<NodeIndex> waiting_;  ///< candidates not expanded yet, device numbers
  std::vector<std::int32_t> free_slots_;
  std::deque<NodeIndex> holders_;  ///< nodes with a slot, oldest first; some have given it back since
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_BATCH_GROWTH_H_
