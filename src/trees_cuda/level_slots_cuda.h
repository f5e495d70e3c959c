/// The slots of histograms of the nodes of a symmetric tree's level.
#ifndef XGBGPU_TREES_CUDA_LEVEL_SLOTS_CUDA_H_
#define XGBGPU_TREES_CUDA_LEVEL_SLOTS_CUDA_H_

#include <cstdint>
#include <vector>

#include "growth/symmetric_tree.h"
#include "tree/family.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Deals slots to the nodes of one level after the other. All nodes of a level that can be divided have one.
class LevelSlots {
 public:
  /// Returns the slots that a tree of `levels` levels takes, if a level has at most `rows` nodes.
  static std::uint64_t Wanted(int levels, std::uint64_t rows);

  /// Begins a tree. Its root has the first of `slots` slots of `bytes` each.
  void Begin(SymmetricTree const& tree, std::uint32_t slots, std::uint64_t bytes);
  /// Returns the slots of the nodes of the last level that can be divided, in their order.
  std::vector<std::int32_t> const& of_nodes() const { return slots_; }
  /// Plans the families of `parents`, the nodes of the last level, which has just been divided. The built child gets a
  /// new slot, and its sibling gets the slot of the parent. Slots of children that will not be divided become free; the
  /// children of the last division (`is_last`) take none. Throws OutOfDeviceMemory if there are too few.
  std::vector<Family> const& Plan(SymmetricTree const& tree, std::vector<NodeIndex> const& parents, bool is_last);

 private:
  void FreeUnused();

  std::uint32_t all_{0};
  std::uint64_t bytes_{0};  ///< of a slot
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> free_;  ///< the last one is taken first
  std::vector<Family> families_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_LEVEL_SLOTS_CUDA_H_
