/// Growth in batches that the host chooses: which nodes a device expands next, and where their histograms go.
#ifndef XGBGPU_GROWTH_BATCH_GROWTH_H_
#define XGBGPU_GROWTH_BATCH_GROWTH_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "growth/grown_nodes.h"
#include "tree/family.h"
#include "tree/node.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// GrownNodes names the nodes; device numbers count the nodes as they are made.
///
/// Nodes that wait for their split have histogram slots. If no slot is free, the node that has waited longest loses its
/// histogram. Both of its children are then summed.
class BatchGrowth {
 public:
  /// `slots` >= 2. `in_order`: no node is expanded ahead of its turn, and its two numbers are equal.
  void Reset(TrainParams const& params, std::uint32_t slots, bool in_order);
  /// Nodes that the device has made: the root, then the children of each batch, in order, with their best splits. All
  /// nodes may come at once, split as far as possible: then the tree is finished.
  void Learn(Span<Node const> nodes);
  /// Returns true if there is a split to make. If not, the tree is finished.
  bool MaySplit() { return grown_.MaySplit(); }
  /// The splits to make now, at most `most`. Children get the device numbers made().size() and up.
  std::vector<Family> NextBatch(std::size_t most);

  std::vector<Node> const& made() const { return made_; }
  std::vector<Node> const& tree() const { return grown_.tree(); }
  /// Returns the number as made of a node of the tree.
  NodeIndex MadeNumber(NodeIndex number) const { return grown_.MadeNumber(number); }
  std::vector<NodeIndex> LeafNumbers() const { return grown_.LeafNumbers(made_); }

 private:
  Node& made(NodeIndex n) { return made_[static_cast<std::size_t>(n)]; }
  bool PlanFamily(NodeIndex parent, Family* family);
  std::int32_t AcquireSlot(NodeIndex keep);
  void ReleaseSlot(NodeIndex node);

  GrownNodes grown_;
  std::vector<Node> made_;
  std::vector<std::int32_t> free_slots_;
  std::deque<NodeIndex> holders_;  ///< nodes with a slot, oldest first; some have given it back since
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_BATCH_GROWTH_H_
