// Resizes and compares trees, and reads their sets of categories.
#include "xgbgpu/tree.h"

#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

namespace xgbgpu {

namespace {

template <typename T>
bool SameBits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <typename Fields, std::size_t... kPlaces>
bool SameBits(Fields const& a, Fields const& b, std::index_sequence<kPlaces...>) {
  return (SameBits(std::get<kPlaces>(a), std::get<kPlaces>(b)) && ...);
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

bool operator==(Tree const& one, Tree const& other) {
  auto const fields = [](Tree const& tree) {
    // This does not compile unless there is a name for every member.
    auto const& [a, b, c, d, e, f, g, h, i, j, k, l] = tree;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  };
  auto const ones = fields(one), others = fields(other);
  return SameBits(ones, others, std::make_index_sequence<std::tuple_size_v<decltype(fields(one))>>{});
}

}  // namespace xgbgpu
