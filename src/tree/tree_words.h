/// A tree as a list of integers, for the transfer between processes.
#ifndef XGBGPU_TREE_TREE_WORDS_H_
#define XGBGPU_TREE_TREE_WORDS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/tree.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu {

/// Returns all bits of the tree: 40 bytes for each node, and the bits of its categories; of a tree of vectors 32 bytes,
/// and 8 for each node and output.
std::vector<std::uint32_t> ToWords(Tree const& tree);
std::vector<std::uint32_t> ToWords(VectorTree const& tree);
/// Writes the tree of ToWords. Throws Error if `words` has too few or too many integers for the tree it begins.
void OfWords(std::vector<std::uint32_t> const& words, Tree* tree);
void OfWords(std::vector<std::uint32_t> const& words, VectorTree* tree);

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_TREE_WORDS_H_
