// Compares vector trees, and takes one output out of them.
#include "xgbgpu/vector_tree.h"

#include <cstddef>
#include <cstring>

namespace xgbgpu {

namespace {

bool SameBits(std::vector<float> const& a, std::vector<float> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace

std::vector<float> VectorTree::LeafValues(std::uint32_t output) const {
  std::vector<float> values(shape.size());
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = leaf_value[n * outputs + output];
  return values;
}

bool operator==(VectorTree const& a, VectorTree const& b) {
  return a.shape == b.shape && a.outputs == b.outputs && SameBits(a.weight, b.weight) &&
         SameBits(a.leaf_value, b.leaf_value);
}

}  // namespace xgbgpu
