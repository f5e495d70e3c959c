#include "core/parallel.h"
#include "sample/sample.h"
#include "sample/sample_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 15;  // rows per chunk, a multiple of 4

/// Calls f(row) for every sampled row of [begin, end).
template <typename F>
void ForEachSampled(RandomStream const& stream, std::uint64_t threshold, std::size_t begin, std::size_t end, F&& f) {
  for (std::size_t i = begin; i < end; i += 4) {
    RandomBlock const random = stream.Block(static_cast<std::uint32_t>(i / 4));
    for (std::size_t k = i; k < i + 4 && k < end; ++k) {
      if (IsSampled(random.word[k - i], threshold)) f(k);
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
