// Numbers distinct keys on the host: by a table, or by a radix sort.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"
#include "xgbgpu/encode.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kChunkKeys = 1 << 14;  // keys of a chunk

struct Range {
  std::uint64_t least, largest;
};

Range FindRange(Span<std::uint64_t const> keys, int threads) {
  std::vector<Range> of_chunk((keys.size() + kChunkKeys - 1) / kChunkKeys);
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    auto const [least, largest] = std::minmax_element(keys.begin() + begin, keys.begin() + end);
    of_chunk[begin / kChunkKeys] = {*least, *largest};
  });
  Range all = of_chunk[0];
  for (Range const& chunk : of_chunk) {
    all = {std::min(all.least, chunk.least), std::max(all.largest, chunk.largest)};
  }
  return all;
}

/// Numbers keys by a table over all numbers between the least and the largest key.
std::uint32_t NumberByTable(Span<std::uint64_t const> keys, Range range, std::uint32_t* codes, int threads) {
  std::size_t const size = range.largest - range.least + 1;
  auto const occurs = std::make_unique<std::atomic<std::uint8_t>[]>(size);
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    // Threads may write the same byte, but always the value 1. Reading first keeps lines of frequent keys in all
    // caches.
    for (std::size_t i = begin; i < end; ++i) {
      auto& byte = occurs[keys[i] - range.least];
      if (byte.load(std::memory_order_relaxed) == 0) byte.store(1, std::memory_order_relaxed);
    }
  });
  Buffer<std::uint32_t> const number{size};
  std::uint32_t distinct = 0;
  for (std::size_t key = 0; key < size; ++key) {
    number[key] = distinct;
    distinct += occurs[key].load(std::memory_order_relaxed);
  }
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) codes[i] = number[keys[i] - range.least];
  });
  return distinct;
}

struct KeyAt {
  std::uint64_t key;
  std::uint32_t place;
};

/// Sorts items by key, by digits of 11 bits from the lowest on. Every chunk counts its digits. An item's place is
/// behind the items of smaller digits, and behind items of the same digit in earlier chunks.
class RadixSort {
 public:
  RadixSort(std::size_t n, int threads) : items_{n}, scratch_{n}, threads_{threads} {
    std::size_t const chunks = std::max<std::size_t>(1, std::min<std::size_t>(threads, n / kLeastChunk));
    grain_ = (n + chunks - 1) / chunks;
    counts_.resize((n + grain_ - 1) / grain_ * kDigits);
  }

  Buffer<KeyAt>& items() { return items_; }

  /// `most` is an upper bound of the keys.
  void Run(std::uint64_t most) {
    for (int shift = 0; shift < 64 && (most >> shift) != 0; shift += kBits) Pass(shift);
  }

 private:
  static constexpr int kBits = 11;
  static constexpr std::size_t kDigits = std::size_t{1} << kBits;
  static constexpr std::size_t kLeastChunk = 1 << 14;  // a smaller chunk would not pay for its counts

  static std::size_t Digit(KeyAt const& item, int shift) { return (item.key >> shift) % kDigits; }

  void Pass(int shift) {
    std::fill(counts_.begin(), counts_.end(), 0);
    ParallelChunks(threads_, items_.size(), grain_, [&](std::size_t begin, std::size_t end) {
      std::uint32_t* const counts = &counts_[begin / grain_ * kDigits];
      for (std::size_t i = begin; i < end; ++i) ++counts[Digit(items_[i], shift)];
    });
    std::uint32_t before = 0;
    for (std::size_t digit = 0; digit < kDigits; ++digit) {
      for (std::size_t at = digit; at < counts_.size(); at += kDigits) before += std::exchange(counts_[at], before);
    }
    ParallelChunks(threads_, items_.size(), grain_, [&](std::size_t begin, std::size_t end) {
      std::uint32_t* const next = &counts_[begin / grain_ * kDigits];
      for (std::size_t i = begin; i < end; ++i) scratch_[next[Digit(items_[i], shift)]++] = items_[i];
    });
    std::swap(items_, scratch_);
  }

  Buffer<KeyAt> items_, scratch_;
  int threads_;
  std::size_t grain_;
  std::vector<std::uint32_t> counts_;  ///< [chunks, kDigits]
};

std::uint32_t NumberBySort(Span<std::uint64_t const> keys, Range range, std::uint32_t* codes, int threads) {
  RadixSort sort{keys.size(), threads};
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      sort.items()[i] = {keys[i] - range.least, static_cast<std::uint32_t>(i)};
    }
  });
  sort.Run(range.largest - range.least);
  auto const& items = sort.items();
  auto const is_new = [&](std::size_t i) { return i == 0 || items[i].key != items[i - 1].key; };
  // The number of new keys in earlier chunks.
  std::vector<std::uint32_t> before((keys.size() + kChunkKeys - 1) / kChunkKeys + 1);
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) before[begin / kChunkKeys + 1] += is_new(i);
  });
  for (std::size_t chunk = 1; chunk < before.size(); ++chunk) before[chunk] += before[chunk - 1];
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    std::uint32_t seen = before[begin / kChunkKeys];
    for (std::size_t i = begin; i < end; ++i) {
      seen += is_new(i);
      codes[items[i].place] = seen - 1;
    }
  });
  return before.back();
}

}  // namespace

std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int threads) {
  if (keys.size() == 0) return 0;
  constexpr std::uint64_t kTablePerKey = 4;
  Range const range = FindRange(keys, threads);
  bool const is_narrow = range.largest - range.least < kTablePerKey * keys.size();
  return is_narrow ? NumberByTable(keys, range, codes, threads) : NumberBySort(keys, range, codes, threads);
}

void FindKeys(Span<std::uint64_t const> keys, Span<std::uint64_t const> known, std::uint32_t* codes, int threads) {
  ParallelChunks(threads, keys.size(), kChunkKeys, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      auto const found = std::lower_bound(known.begin(), known.end(), keys[i]);
      bool const is_known = found != known.end() && *found == keys[i];
      codes[i] = static_cast<std::uint32_t>(is_known ? found - known.begin() : known.size());
    }
  });
}

}  // namespace xgbgpu::host
