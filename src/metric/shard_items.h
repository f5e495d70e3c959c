/// A shard's part of a sum over the items of all shards.
#ifndef XGBGPU_METRIC_SHARD_ITEMS_H_
#define XGBGPU_METRIC_SHARD_ITEMS_H_

#include <cstdint>

#include "base/hd.h"
#include "metric/metric_sum.h"

namespace xgbgpu {

/// The items of a shard in terms of blocks of all items: items of whole blocks, and items before and behind.
struct ShardItems {
  std::uint64_t first;  ///< number of the shard's first item
  std::uint64_t size;
  std::uint64_t first_block;  ///< first block whose items are all in this shard
  std::uint64_t blocks;       ///< number of such blocks

  ShardItems(std::uint64_t first_item, std::uint64_t n, std::uint64_t all) : first{first_item}, size{n} {
    std::uint64_t const end = first + n;
    std::uint64_t const end_block = end == all ? SumBlocks(all) : end / kSumBlock;
    first_block = SumBlocks(first);
    blocks = n != 0 && end_block > first_block ? end_block - first_block : 0;
  }
  /// Returns the first item of whole block b, relative to the shard's first.
  XGBGPU_HD std::uint64_t begin(std::uint64_t b) const { return (first_block + b) * kSumBlock - first; }
  /// Returns the number of items that are in no whole block, and the place of the i-th of them.
  XGBGPU_HD std::uint64_t loose() const { return head() + (size - tail()); }
  XGBGPU_HD std::uint64_t loose_item(std::uint64_t i) const { return i < head() ? i : tail() + i - head(); }

 private:
  /// Returns the number of items before the whole blocks; all items if there are no whole blocks.
  XGBGPU_HD std::uint64_t head() const { return blocks == 0 ? size : first_block * kSumBlock - first; }
  /// Returns the place of the first item behind the whole blocks, relative to the shard's first.
  XGBGPU_HD std::uint64_t tail() const {
    std::uint64_t const end = (first_block + blocks) * kSumBlock - first;
    return blocks == 0 || size < end ? size : end;
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_SHARD_ITEMS_H_
