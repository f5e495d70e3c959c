/// A node while its tree is growing.
#ifndef XGBGPU_TREE_NODE_H_
#define XGBGPU_TREE_NODE_H_

#include <cstdint>

#include "tree/split_candidate.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Where the rows of a node are listed: in one of two arrays that partitioning moves them between.
enum class RowList : std::uint8_t { kFirst = 0, kSecond = 1, kNone = 2 };

/// A node of a tree that grows. first_row, rows, list and slot are used on a device only: trees on the host keep the
/// places of rows in partition/row_lists.h and those of histograms in histogram/histogram_slots.h.
struct Node {
  NodeIndex parent{kNoNode};
  NodeIndex left{kNoNode};  ///< kNoNode while the node is a leaf; the right child is left + 1
  int depth{0};
  GradientSum sum;             ///< over the node's rows
  SplitCandidate split;        ///< the best one found; it is made if left != kNoNode
  std::uint32_t first_row{0};  ///< place of the node's rows in both arrays
  std::uint32_t rows{0};
  RowList list{RowList::kFirst};  ///< kNone: the rows' positions are final, nothing lists them
  int slot{-1};                   ///< place of the node's histogram in the cache, or -1
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_NODE_H_
