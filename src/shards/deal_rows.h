/// The rows that each of several devices gets.
#ifndef XGBGPU_SHARDS_DEAL_ROWS_H_
#define XGBGPU_SHARDS_DEAL_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/row_slice.h"

namespace xgbgpu {

/// Deals `rows` rows, 1 or more, to at most `most_shards` shards. Every shard gets some rows. Returns the number of
/// each shard's first row, and `rows`. Shards begin at multiples of kRowStep rows, so that a block of random numbers or
/// of a metric's sum belongs to one shard.
inline std::vector<std::uint64_t> DealRows(std::uint64_t rows, std::size_t most_shards) {
  std::uint64_t const blocks = std::max<std::uint64_t>(1, (rows + kRowStep - 1) / kRowStep);
  std::uint64_t const shards = std::min<std::uint64_t>(blocks, most_shards);
  std::vector<std::uint64_t> first;
  for (std::uint64_t s = 0; s <= shards; ++s) first.push_back(std::min(rows, blocks * s / shards * kRowStep));
  return first;
}

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_DEAL_ROWS_H_
