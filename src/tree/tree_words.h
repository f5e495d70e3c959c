/// A tree as a list of integers, on its way from one process to another.
#ifndef XGBGPU_TREE_TREE_WORDS_H_
#define XGBGPU_TREE_TREE_WORDS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/tree.h"

namespace xgbgpu {

/// Returns all bits of the tree: 40 bytes for each node, and those of its categories.
std::vector<std::uint32_t> ToWords(Tree const& tree);
/// Returns the tree that ToWords was given. Throws Error if `words` are too few or too many for the tree they begin.
Tree TreeOfWords(std::vector<std::uint32_t> const& words);

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_TREE_WORDS_H_
