/// Least-significant-digit radix sort of 32-bit keys, with or without a payload.
#ifndef XGBGPU_QUANTILE_RADIX_SORT_H_
#define XGBGPU_QUANTILE_RADIX_SORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Sorts `items` by key(item), stably: three passes of 11 bits. Skips a pass if all digits are equal. `scratch` is as
/// long as `items`. Returns the sorted items, which are in one of the two spans.
template <typename T, typename Key>
Span<T> RadixSort(Span<T> items, Span<T> scratch, Key&& key) {
  constexpr std::size_t kSmall = 512;
  if (items.size() <= kSmall) {
    std::stable_sort(items.begin(), items.end(), [&](T const& a, T const& b) { return key(a) < key(b); });
    return items;
  }
  constexpr int kPasses = 3, kBits = 11;
  constexpr std::uint32_t kBuckets = 1U << kBits;
  std::array<std::array<std::uint32_t, kBuckets>, kPasses> counts{};
  for (T const& item : items) {
    std::uint32_t const k = key(item);
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass][(k >> (pass * kBits)) % kBuckets];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    auto& offset = counts[pass];
    int const shift = pass * kBits;
    if (offset[(key(items[0]) >> shift) % kBuckets] == items.size()) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& c : offset) sum += std::exchange(c, sum);
    for (T const& item : items) scratch[offset[(key(item) >> shift) % kBuckets]++] = item;
    std::swap(items, scratch);
  }
  return items;
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_RADIX_SORT_H_
