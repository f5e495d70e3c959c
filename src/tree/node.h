/// A node of a growing tree.
#ifndef XGBGPU_TREE_NODE_H_
#define XGBGPU_TREE_NODE_H_

#include <cstdint>

#include "tree/split_candidate.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The list that has the rows of a node: partitioning moves rows between two arrays.
enum class RowList : std::uint8_t { kFirst = 0, kSecond = 1, kNone = 2 };

/// A node of a growing tree. Only devices use first_row, rows, list and slot. Trees on the host keep places of rows in
/// partition/row_lists.h and places of histograms in histogram/histogram_slots.h.
struct Node {
  NodeIndex parent{kNoNode};
  NodeIndex left{kNoNode};  ///< kNoNode while the node is a leaf; the right child is left + 1
  int depth{0};
  GradientSum sum;             ///< over the node's rows
  SplitCandidate split;        ///< the best split found; made if left != kNoNode
  std::uint32_t first_row{0};  ///< offset of the node's rows in both arrays
  std::uint32_t rows{0};
  RowList list{RowList::kFirst};  ///< kNone: the rows' positions are final, no list has them
  int slot{-1};                   ///< slot of the node's histogram, or -1
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_NODE_H_
