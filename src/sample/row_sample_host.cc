#include <algorithm>

#include "core/parallel.h"
#include "core/random_run.h"
#include "sample/sample.h"
#include "sample/sample_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 15;  // rows per chunk, a multiple of 4 · kRandomRun

/// Calls f(row) for every sampled row of [begin, end).
template <typename F>
void ForEachSampled(RandomStream const& stream, std::uint64_t threshold, std::size_t begin, std::size_t end, F&& f) {
  std::uint32_t random[4 * kRandomRun];
  for (std::size_t i = begin; i < end; i += 4 * kRandomRun) {
    FillRandom(stream, static_cast<std::uint32_t>(i / 4), random);
    std::size_t const n = std::min<std::size_t>(4 * kRandomRun, end - i);
    for (std::size_t k = 0; k < n; ++k) {
      if (IsSampled(random[k], threshold)) f(i + k);
    }
  }
}

}  // namespace

std::size_t SampleChunks(std::size_t n) { return (n + kGrain - 1) / kGrain; }

std::size_t SampleRows(RandomStream const& stream, float subsample, std::size_t n, Span<std::size_t> counts,
                       Span<RowRecord> rows, int threads) {
  if (subsample >= 1.0f) {
    ParallelChunks(threads, n, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) rows[i] = {static_cast<RowIndex>(i), {}};
    });
    return n;
  }
  std::uint64_t const threshold = SampleThreshold(subsample);
  ParallelChunks(threads, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    ForEachSampled(stream, threshold, begin, end, [&](std::size_t) { ++count; });
    counts[begin / kGrain] = count;
  });
  std::size_t total = 0;
  for (std::size_t c = 0; c < SampleChunks(n); ++c) {
    std::size_t const count = counts[c];
    counts[c] = total;
    total += count;
  }
  ParallelChunks(threads, n, kGrain, [&](std::size_t begin, std::size_t end) {
    RowRecord* out = rows.data() + counts[begin / kGrain];
    ForEachSampled(stream, threshold, begin, end, [&](std::size_t row) { *out++ = {static_cast<RowIndex>(row), {}}; });
  });
  return total;
}

}  // namespace xgbgpu::host
