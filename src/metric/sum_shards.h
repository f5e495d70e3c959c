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
#include "metric/shard_items.h"
#include "metric/sum_host.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::host {

/// Returns the term with its row numbered over all shards.
inline MetricSum OfAllShards(MetricSum term, std::uint64_t first_row) {
  if (term.bad != 0) term.bad -= first_row << 32;
  return term;
}

/// Returns the sum over the items of all shards, in the order of the shards' numbers. The sum has the bits of SumTerms
/// over all items. A shard has `n` items. It sends the sums of its whole blocks, and then the terms of up to two blocks
/// that it shares with other shards: compute(items, values) writes both to `values` [items.blocks + items.loose()].
template <typename T, typename Compute>
T SumShards(std::uint64_t n, Compute&& compute, Collective& collective) {
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
  std::vector<T> values(own.blocks + own.loose());
  compute(own, values.data());
  std::vector<std::uint32_t> words(values.size() * kWords);
  if (!words.empty()) std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
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

/// Does the work of `compute` in SumShards with terms(i) in host memory.
template <typename Terms, typename T>
void SumItems(Terms const& terms, ShardItems const& own, int threads, T* values) {
  ParallelTasks(threads, own.blocks, [&](std::size_t b, int) {
    std::uint64_t const begin = own.begin(b);
    values[b] = SumBlock(terms, begin, std::min<std::uint64_t>(own.size, begin + kSumBlock));
  });
  for (std::uint64_t i = 0; i < own.loose(); ++i) values[own.blocks + i] = terms(own.loose_item(i));
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_METRIC_SUM_SHARDS_H_
