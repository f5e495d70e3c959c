/// Sums over the rows of all shards, in the order of metric_sum.h.
#ifndef XGBGPU_METRIC_SUM_SHARDS_H_
#define XGBGPU_METRIC_SUM_SHARDS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "metric/metric_sum.h"
#include "metric/sum_host.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::host {

/// Returns the term with its row numbered over all shards.
inline MetricSum OfAllShards(MetricSum term, std::uint64_t first_row) {
  if (term.bad != 0) term.bad -= first_row << 32;
  return term;
}

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
  /// Returns the number of items before the whole blocks; all items if there are no whole blocks.
  std::uint64_t head() const { return blocks == 0 ? size : first_block * kSumBlock - first; }
  /// Returns the place of the first item behind the whole blocks, relative to the shard's first.
  std::uint64_t tail() const { return blocks == 0 ? size : std::min(size, (first_block + blocks) * kSumBlock - first); }
};

/// Returns the sum over the items of all shards, in the order of the shards' numbers. The sum has the bits of SumTerms
/// over all items. Each shard sends the sums of its whole blocks, and the terms of up to two blocks that it shares with
/// other shards.
template <typename Terms>
auto SumShardTerms(Terms const& terms, std::uint64_t n, int threads, Collective& collective) {
  using T = decltype(terms(std::uint64_t{0}));
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint32_t);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(collective.shards()));
  sizes[static_cast<std::size_t>(collective.shard())] = static_cast<std::int64_t>(n);
  collective.Sum(Span<std::int64_t>{sizes});
  std::uint64_t all = 0;
  for (std::int64_t const size : sizes) all += static_cast<std::uint64_t>(size);
  std::vector<ShardItems> shards;
  std::uint64_t first = 0;
  for (std::int64_t const size : sizes) {
    shards.emplace_back(first, static_cast<std::uint64_t>(size), all);
    first += static_cast<std::uint64_t>(size);
  }

  ShardItems const& own = shards[static_cast<std::size_t>(collective.shard())];
  std::uint64_t const loose = own.head() + (own.size - own.tail());
  std::vector<std::uint32_t> words((own.blocks + loose) * kWords);
  auto const write = [&](std::uint64_t at, T const& value) { std::memcpy(&words[at * kWords], &value, sizeof(T)); };
  ParallelTasks(threads, own.blocks, [&](std::size_t b, int) {
    std::uint64_t const begin = (own.first_block + b) * kSumBlock - own.first;
    write(b, SumBlock(terms, begin, std::min<std::uint64_t>(n, begin + kSumBlock)));
  });
  for (std::uint64_t i = 0; i < loose; ++i) {
    write(own.blocks + i, terms(i < own.head() ? i : own.tail() + i - own.head()));
  }
  auto const gathered = collective.Gather(Span<std::uint32_t const>{words});

  std::vector<T> blocks(SumBlocks(all));
  std::vector<char> is_whole(blocks.size());
  std::vector<T> shared;  // terms of all other blocks, in order
  for (std::size_t s = 0; s < shards.size(); ++s) {
    for (std::uint64_t i = 0; i < gathered[s].size() / kWords; ++i) {
      T value;
      std::memcpy(&value, &gathered[s][i * kWords], sizeof(T));
      if (i >= shards[s].blocks) {
        shared.push_back(value);
      } else {
        blocks[shards[s].first_block + i] = value;
        is_whole[shards[s].first_block + i] = 1;
      }
    }
  }
  std::uint64_t next = 0;
  for (std::uint64_t b = 0; b < blocks.size(); ++b) {
    if (is_whole[b] != 0) continue;
    std::uint64_t const size = std::min<std::uint64_t>(kSumBlock, all - b * kSumBlock);
    blocks[b] = SumBlock([&](std::uint64_t i) { return shared[next + i]; }, 0, size);
    next += size;
  }
  return SumBlock([&](std::uint64_t b) { return blocks[b]; }, 0, blocks.size());
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_METRIC_SUM_SHARDS_H_
