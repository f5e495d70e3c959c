/// A tree as a list of integers, for the transfer between processes.
#ifndef XGBGPU_TREE_TREE_WORDS_H_
#define XGBGPU_TREE_TREE_WORDS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/tree.h"

namespace xgbgpu {

/// Returns all bits of the tree: 40 bytes for each node, and the bits of its categories.
std::vector<std::uint32_t> ToWords(Tree const& tree);
/// Returns the tree of ToWords. Throws Error if `words` has too few or too many integers for the tree it begins.
Tree TreeOfWords(std::vector<std::uint32_t> const& words);

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_TREE_WORDS_H_
