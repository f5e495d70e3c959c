/// A split in progress. The device backend's host code and its kernels share this struct.
#ifndef XGBGPU_TREE_FAMILY_H_
#define XGBGPU_TREE_FAMILY_H_

#include <cstdint>

#include "base/hd.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// A parent, its two children, and the slots of their histograms. The root is a family of one. The alignment lets a
/// device copy it in large pieces.
struct alignas(16) Family {
  NodeIndex parent;              ///< kNoNode for the root
  NodeIndex left;                ///< first child; the root itself
  std::int32_t built_slot;       ///< histogram of the child that is summed
  std::int32_t sibling_slot;     ///< histogram of the other child; -1: there is none
  std::uint8_t subtract;         ///< sibling_slot holds the parent's histogram; subtraction makes it the sibling's
  std::uint8_t left_is_built;    ///< LeftIsBuilt (split/built_child_ops.h); the root's "left child" is the root
  std::uint32_t finished_built;  ///< groups, or blocks, that have searched either child
  std::uint32_t finished_sibling;
  unsigned long long moved;  ///< rows that have gone left (low half) and right (high half)

  XGBGPU_HD NodeIndex built() const { return left_is_built != 0 ? left : left + 1; }
  XGBGPU_HD NodeIndex sibling() const { return left_is_built != 0 ? left + 1 : left; }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_FAMILY_H_
