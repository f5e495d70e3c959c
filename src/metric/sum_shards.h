/// Sums over the rows of all shards, in the order of metric_sum.h.
#ifndef XGBGPU_METRIC_SUM_SHARDS_H_
#define XGBGPU_METRIC_SUM_SHARDS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
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
/// `sizes` [shards]: the numbers of items, or empty in all shards, and then filled in.
template <typename T, typename Compute>
T SumShards(std::uint64_t n, Compute&& compute, Collective& collective, std::vector<std::int64_t>* sizes) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::int64_t) == 0);
  constexpr std::size_t kWords = sizeof(T) / sizeof(std::int64_t);
  if (sizes->empty()) {
    std::vector<std::int64_t> of_all(static_cast<std::size_t>(collective.shards()));
    of_all[static_cast<std::size_t>(collective.shard())] = static_cast<std::int64_t>(n);
    collective.Sum(Span<std::int64_t>{of_all});
    *sizes = std::move(of_all);
  }
  std::uint64_t all = 0;
  for (std::int64_t const size : *sizes) all += static_cast<std::uint64_t>(size);
  std::vector<ShardItems> shards;
  std::uint64_t first = 0;
  for (std::int64_t const size : *sizes) {
    shards.emplace_back(first, static_cast<std::uint64_t>(size), all);
    first += static_cast<std::uint64_t>(size);
  }

  ShardItems const& own = shards[static_cast<std::size_t>(collective.shard())];
  std::uint64_t before = 0, values_of_all = 0;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (static_cast<int>(s) == collective.shard()) before = values_of_all;
    values_of_all += shards[s].blocks + shards[s].loose();
  }
  std::vector<T> values(own.blocks + own.loose());
  compute(own, values.data());
  // Bit patterns: the words of other shards are zero.
  std::vector<std::int64_t> words(values_of_all * kWords);
  if (!values.empty()) std::memcpy(&words[before * kWords], values.data(), values.size() * sizeof(T));
  collective.Sum(Span<std::int64_t>{words});

  std::vector<T> blocks(SumBlocks(all));
  std::vector<char> is_whole(blocks.size());
  std::vector<T> shared;  // terms of all other blocks, in order
  std::size_t at = 0;
  for (ShardItems const& shard : shards) {
    for (std::uint64_t i = 0; i < shard.blocks + shard.loose(); ++i, at += kWords) {
      T value;
      std::memcpy(&value, &words[at], sizeof(T));
      if (i >= shard.blocks) {
        shared.push_back(value);
      } else {
        blocks[shard.first_block + i] = value;
        is_whole[shard.first_block + i] = 1;
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
