// Resizes and compares trees, and reads their sets of categories.
#include "xgbgpu/tree.h"

#include <cstring>

namespace xgbgpu {

namespace {

template <typename T>
bool SameBits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

void Tree::Resize(std::size_t nodes) {
  parent.resize(nodes, kNoNode);
  left.resize(nodes, kNoNode);
  feature.resize(nodes);
  split_bin.resize(nodes);
  threshold.resize(nodes);
  default_left.resize(nodes);
  gain.resize(nodes);
  sum_hess.resize(nodes);
  weight.resize(nodes);
  leaf_value.resize(nodes);
}

Span<std::uint32_t const> Tree::RightCategories(NodeIndex n) const {
  if (category_ptr.empty()) return {};
  std::uint32_t const begin = category_ptr[static_cast<std::size_t>(n)];
  return {category_bits.data() + begin, category_ptr[static_cast<std::size_t>(n) + 1] - begin};
}

bool operator==(Tree const& a, Tree const& b) {
  return SameBits(a.parent, b.parent) && SameBits(a.left, b.left) && SameBits(a.feature, b.feature) &&
         SameBits(a.split_bin, b.split_bin) && SameBits(a.threshold, b.threshold) &&
         SameBits(a.default_left, b.default_left) && SameBits(a.gain, b.gain) && SameBits(a.sum_hess, b.sum_hess) &&
         SameBits(a.weight, b.weight) && SameBits(a.leaf_value, b.leaf_value) && a.category_ptr == b.category_ptr &&
         a.category_bits == b.category_bits;
}

}  // namespace xgbgpu
