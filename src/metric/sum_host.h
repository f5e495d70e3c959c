/// Sums on the host in the order of metric_sum.h.
#ifndef XGBGPU_METRIC_SUM_HOST_H_
#define XGBGPU_METRIC_SUM_HOST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "metric/metric_sum.h"

namespace xgbgpu::host {

/// Sums items begin … end - 1 as one block.
template <typename Terms>
auto SumBlock(Terms const& terms, std::uint64_t begin, std::uint64_t end) {
  using T = decltype(terms(std::uint64_t{0}));
  T lanes[kSumLanes]{};
  for (std::uint64_t base = begin; base < end; base += kSumLanes) {
    auto const here = static_cast<std::uint32_t>(std::min<std::uint64_t>(kSumLanes, end - base));
    for (std::uint32_t l = 0; l < here; ++l) lanes[l] = Combine(lanes[l], terms(base + l));
  }
  for (std::uint32_t group = 0; group < kSumLanes; group += kSumGroup) {
    for (std::uint32_t d = kSumGroup / 2; d > 0; d /= 2) {
      for (std::uint32_t l = group; l < group + d; ++l) lanes[l] = Combine(lanes[l], lanes[l + d]);
    }
  }
  for (std::uint32_t d = kSumGroups / 2; d > 0; d /= 2) {
    for (std::uint32_t g = 0; g < d; ++g) {
      lanes[g * kSumGroup] = Combine(lanes[g * kSumGroup], lanes[(g + d) * kSumGroup]);
    }
  }
  return lanes[0];
}

/// Sums items 0 … n - 1.
template <typename Terms>
auto SumTerms(Terms const& terms, std::uint64_t n, int threads) {
  using T = decltype(terms(std::uint64_t{0}));
  std::vector<T> blocks(SumBlocks(n));
  ParallelTasks(threads, blocks.size(), [&](std::size_t b, int) {
    blocks[b] = SumBlock(terms, b * kSumBlock, std::min<std::uint64_t>(n, (b + 1) * kSumBlock));
  });
  return SumBlock([&](std::uint64_t b) { return blocks[b]; }, 0, blocks.size());
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_METRIC_SUM_HOST_H_
