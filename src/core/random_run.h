/// Runs of consecutive random blocks, for the host.
#ifndef XGBGPU_CORE_RANDOM_RUN_H_
#define XGBGPU_CORE_RANDOM_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/random.h"

namespace xgbgpu {

/// Random blocks of one call: enough for the vector unit, few enough for its registers and the first-level cache.
constexpr int kRandomRun = 16;

/// Sets words[4·i … 4·i+3] to stream.Block(first + i) for i < kRandomRun.
void FillRandom(RandomStream const& stream, std::uint32_t first, std::uint32_t* words);

/// Calls f(i, words, n) for rows [begin, end) of a shard in runs of n. words[k] is the draw of the shard's row i + k,
/// whose number over all shards is first_row + i + k.
template <typename F>
void ForEachRandomRun(RandomStream const& stream, std::uint64_t first_row, std::size_t begin, std::size_t end, F&& f) {
  constexpr std::size_t kWords = 4 * kRandomRun;
  std::uint32_t words[kWords];
  for (std::size_t i = begin; i < end;) {
    std::uint64_t const row = first_row + i;
    std::size_t const before = row % kWords, n = std::min(kWords - before, end - i);
    FillRandom(stream, static_cast<std::uint32_t>((row - before) / 4), words);
    f(i, words + before, n);
    i += n;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_RANDOM_RUN_H_
