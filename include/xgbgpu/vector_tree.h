/// One regression tree of vectors: a leaf has a number for each output.
#ifndef XGBGPU_VECTOR_TREE_H_
#define XGBGPU_VECTOR_TREE_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {

/// docs/adr/0043-vector-leaves.md
struct XGBGPU_API VectorTree {
  Tree shape;                     ///< nodes and splits; gains and hessians are summed over outputs, weights are empty
  std::uint32_t outputs{0};       ///< 1 or more
  std::vector<float> weight;      ///< [nodes, outputs] best outputs of the node before shrinkage
  std::vector<float> leaf_value;  ///< [nodes, outputs] weight × learning rate, which a leaf adds to the margins

  /// Returns [nodes] the values that leaves add to the margin of one output.
  std::vector<float> LeafValues(std::uint32_t output) const;
};

/// Returns true if structure and numbers are equal bit by bit.
XGBGPU_API bool operator==(VectorTree const& a, VectorTree const& b);
inline bool operator!=(VectorTree const& a, VectorTree const& b) { return !(a == b); }

}  // namespace xgbgpu

#endif  // XGBGPU_VECTOR_TREE_H_
