/// A node while its tree is growing.
#ifndef XGBGPU_TREE_NODE_H_
#define XGBGPU_TREE_NODE_H_

#include <cstdint>

#include "split/split.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Where the rows of a node are listed: in one of two arrays that partitioning moves them between.
enum class RowList : std::uint8_t { kFirst = 0, kSecond = 1, kNone = 2 };

/// Aligned as its split is.
struct Node {
  NodeIndex parent{kNoNode};
  NodeIndex left{kNoNode};  ///< kNoNode while the node is a leaf; the right child is left + 1
  int depth{0};
  GradientSum sum;             ///< over the node's rows
  SplitCandidate split;        ///< the best one found; made if left != kNoNode
  std::uint32_t first_row{0};  ///< place of the node's rows in both arrays
  std::uint32_t rows{0};
  RowList list{RowList::kFirst};  ///< kNone: the rows' positions are final, nothing lists them
  int slot{-1};                   ///< place of the node's histogram in the cache, or -1
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_NODE_H_
