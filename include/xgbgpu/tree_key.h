/// The numbers of a tree inside a training.
#ifndef XGBGPU_TREE_KEY_H_
#define XGBGPU_TREE_KEY_H_

#include <cstdint>

namespace xgbgpu {

/// The place of a tree in a training. All draws of a tree are a function of the seed and this key.
struct TreeKey {
  std::uint32_t iteration{0};  ///< boosting round, counted over continuations
  std::uint32_t index{0};      ///< tree inside the round: class × num_parallel_tree + tree
};
inline bool operator==(TreeKey a, TreeKey b) { return a.iteration == b.iteration && a.index == b.index; }

/// A tree on the gradients of one output of resident rows.
struct RoundTree {
  std::uint32_t output;
  TreeKey key;
};
inline bool operator==(RoundTree const& a, RoundTree const& b) { return a.output == b.output && a.key == b.key; }

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_KEY_H_
