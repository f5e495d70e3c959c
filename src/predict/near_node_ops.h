/// A node in one word, for walks in the shared memory of a block over records of at most 32 symbols of one byte,
/// without categories. The number of instructions bounds such a walk.
#ifndef XGBGPU_PREDICT_NEAR_NODE_OPS_H_
#define XGBGPU_PREDICT_NEAR_NODE_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "partition/row_paths.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// From the highest bit: the left child (10 bits), number of symbols that go right (9), place of the column's word in
/// its record (3), first symbol that goes right (8), place of the column's byte in its word (2). Both places have their
/// position in the address of a symbol: around eight bits that select the record.
///
/// Missing values are the last symbol, so the symbols that go right are consecutive. A leaf, or a node whose children
/// are not near, sends none to the right, and its left child is itself: a walk may take extra steps.
struct NearNode {
  static constexpr std::uint32_t kNodes = 1024;  ///< first nodes of a tree, which rows visit first
  static constexpr int kLeftShift = 22, kCountShift = 13, kWordShift = 10, kFirstShift = 2;
  static constexpr std::uint32_t kPlaceMask = 7U << kWordShift | 3U, kFirstMask = 0xFFU << kFirstShift,
                                 kCountMask = 0x1FFU << kFirstShift;
  std::uint32_t word;

  static XGBGPU_HD NearNode Make(NodeIndex n, WalkNode const& node) {
    PathSplit const& split = node.split;
    std::uint32_t const end = split.missing_left != kNoSymbol ? split.missing_left : 256U;
    std::uint32_t const first = split.bin < end ? split.bin : end;
    std::uint32_t const inner = static_cast<std::uint32_t>(node.left) << kLeftShift | (end - first) << kCountShift |
                                split.column / 4 << kWordShift | (first << kFirstShift & kFirstMask) | split.column % 4;
    bool const has_near = node.left != kNoNode && node.left + 1 < static_cast<NodeIndex>(kNodes);
    return {has_near ? inner : static_cast<std::uint32_t>(n) << kLeftShift};
  }
  /// Returns the bytes from the first symbol of a record to the deciding symbol. Words of a record are 256 words apart.
  XGBGPU_HD std::uint32_t Place() const { return word & kPlaceMask; }
  /// Returns the next node of rows with this symbol.
  XGBGPU_HD std::uint32_t Next(std::uint32_t symbol) const {
    // Times four; for symbols before the first it exceeds any count.
    std::uint32_t const after_first = (symbol << kFirstShift) - (word & kFirstMask);
    bool const right = after_first < (word >> (kCountShift - kFirstShift) & kCountMask);
    return (word >> kLeftShift) + (right ? 1 : 0);
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_NEAR_NODE_OPS_H_
