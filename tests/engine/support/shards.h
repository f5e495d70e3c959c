/// Rows of a case in shards.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_SHARDS_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_SHARDS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "reference/matrix.h"
#include "support/grow.h"

namespace xgbgpu::testing {

/// Returns [shards + 1] the first row of each shard. Shards are uneven; of 7 the first, one in the middle and the last
/// are empty.
inline std::vector<std::size_t> Boundaries(std::size_t rows, int shards) {
  std::size_t const fifth = rows / 5, after = std::min(rows, fifth + 1);
  switch (shards) {
    case 1:
      return {0, rows};
    case 2:
      return {0, std::min(rows, rows / 3 + 1), rows};
    case 3:
      return {0, rows / 2, rows / 2 + rows / 10, rows};
    default:
      return {0, 0, fifth, after, after, std::max(after, rows / 2), rows, rows};
  }
}

/// Returns rows [begin, end) of a case.
inline TreeCase Slice(TreeCase const& c, std::size_t begin, std::size_t end) {
  TreeCase own{reference::Values{end - begin, c.values.features}, {}, c.params, c.max_bin, {}, c.key, c.categorical};
  auto const features = static_cast<std::ptrdiff_t>(c.values.features);
  auto const first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
  own.values.at.assign(c.values.at.begin() + first * features, c.values.at.begin() + last * features);
  own.gradients.assign(c.gradients.begin() + first, c.gradients.begin() + last);
  if (!c.weights.empty()) own.weights.assign(c.weights.begin() + first, c.weights.begin() + last);
  return own;
}

/// `all` has an element for each tree and row. Returns those of rows [begin, end).
template <typename T>
std::vector<T> RowsOf(std::vector<T> const& all, std::size_t rows, std::size_t begin, std::size_t end) {
  std::vector<T> own;
  for (std::size_t tree = 0; tree < all.size(); tree += rows) {
    auto const first = all.begin() + static_cast<std::ptrdiff_t>(tree);
    own.insert(own.end(), first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
  }
  return own;
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_SHARDS_H_
