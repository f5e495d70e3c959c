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
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Returns the term with its row numbered over all shards.
inline MetricSum OfAllShards(MetricSum term, std::uint64_t first_row) {
  if (term.bad != 0) term.bad -= first_row << 32;
  return term;
}

/// A sum over the items of all shards, in the order of the shards' numbers. It has the bits of SumTerms over all items.
template <typename T>
class ShardSum {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::int64_t) == 0);
  static constexpr std::size_t kWords = sizeof(T) / sizeof(std::int64_t);

 public:
  /// `sizes`: the numbers of items of all shards. This shard has the sums of its whole blocks, and then the terms of up
  /// to two blocks that it shares with other shards: compute(items, values) writes both to `values` [items.blocks +
  /// items.loose()].
  template <typename Compute>
  ShardSum(std::vector<std::int64_t> const& sizes, int shard, Compute&& compute) {
    for (std::int64_t const size : sizes) all_ += static_cast<std::uint64_t>(size);
    std::uint64_t first = 0, before = 0, values_of_all = 0;
    for (std::int64_t const size : sizes) {
      if (shards_.size() == static_cast<std::size_t>(shard)) before = values_of_all;
      shards_.emplace_back(first, static_cast<std::uint64_t>(size), all_);
      first += static_cast<std::uint64_t>(size);
      values_of_all += shards_.back().blocks + shards_.back().loose();
    }
    ShardItems const& own = shards_[static_cast<std::size_t>(shard)];
    std::vector<T> values(own.blocks + own.loose());
    compute(own, values.data());
    words_.resize(values_of_all * kWords);
    if (!values.empty()) std::memcpy(&words_[before * kWords], values.data(), values.size() * sizeof(T));
  }

  /// Returns the values of this shard as bit patterns. The words of other shards are zero.
  std::vector<std::int64_t> const& words() const { return words_; }
  /// Returns the sum. `of_all`: the sum of the words() of all shards.
  T From(Span<std::int64_t const> of_all) const;

 private:
  std::vector<ShardItems> shards_;
  std::uint64_t all_{0};  ///< items
  std::vector<std::int64_t> words_;
};

template <typename T>
T ShardSum<T>::From(Span<std::int64_t const> of_all) const {
  std::vector<T> blocks(SumBlocks(all_));
  std::vector<char> is_whole(blocks.size());
  std::vector<T> shared;  // terms of all other blocks, in order
  std::size_t at = 0;
  for (ShardItems const& shard : shards_) {
    for (std::uint64_t i = 0; i < shard.blocks + shard.loose(); ++i, at += kWords) {
      T value;
      std::memcpy(&value, &of_all[at], sizeof(T));
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
    std::uint64_t const size = std::min<std::uint64_t>(kSumBlock, all_ - b * kSumBlock);
    blocks[b] = SumBlock([&](std::uint64_t i) { return shared[next + i]; }, 0, size);
    next += size;
  }
  return SumBlock([&](std::uint64_t b) { return blocks[b]; }, 0, blocks.size());
}

/// Has all shards tell each other the numbers of their items, if `sizes` is empty. It is empty in all shards or in
/// none.
inline void ShareSizes(std::uint64_t n, Collective& collective, std::vector<std::int64_t>* sizes) {
  if (!sizes->empty()) return;
  std::vector<std::int64_t> of_all(static_cast<std::size_t>(collective.shards()));
  of_all[static_cast<std::size_t>(collective.shard())] = static_cast<std::int64_t>(n);
  collective.Sum(Span<std::int64_t>{of_all});
  *sizes = std::move(of_all);
}

/// Does the work of `compute` in ShardSum with terms(i) in host memory.
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
