// Draws the sampled rows of a tree on the host.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/parallel.h"
#include "core/random_run.h"
#include "gradient/gradient.h"
#include "sample/sample.h"
#include "sample/sample_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 15;  // rows per chunk, a multiple of 4 · kRandomRun

/// Calls f(row, chance) for every sampled row of [begin, end) of a shard whose first row is row `first_row` of all.
template <typename Chance, typename F>
void ForEachSampled(RandomStream const& stream, std::uint64_t first_row, Chance&& chance_of, std::size_t begin,
                    std::size_t end, F&& f) {
  ForEachRandomRun(stream, first_row, begin, end, [&](std::size_t i, std::uint32_t const* random, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      std::uint64_t const chance = chance_of(i + k);
      if (IsSampled(random[k], chance)) f(i + k, chance);
    }
  });
}

/// Lists the sampled rows in ascending order, and calls each(row, chance) for every one.
template <typename Chance, typename Each>
std::size_t ListSampled(RandomStream const& stream, std::uint64_t first_row, Chance&& chance_of, std::size_t n,
                        Span<std::size_t> counts, Span<RowRecord> rows, int threads, Each&& each) {
  ParallelChunks(threads, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    ForEachSampled(stream, first_row, chance_of, begin, end, [&](std::size_t, std::uint64_t) { ++count; });
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
    ForEachSampled(stream, first_row, chance_of, begin, end, [&](std::size_t row, std::uint64_t chance) {
      *out++ = {static_cast<RowIndex>(row), {}};
      each(row, chance);
    });
  });
  return total;
}

std::vector<std::uint16_t> KeysOf(Span<GradientPair const> gradients, SamplingMethod method, int threads) {
  std::vector<std::uint16_t> keys(gradients.size());
  ParallelChunks(threads, keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) keys[i] = static_cast<std::uint16_t>(KeyOf(gradients[i], method));
  });
  return keys;
}

/// Counts the rows of all shards by the bins of their keys.
std::vector<std::int64_t> CountKeys(Span<std::uint16_t const> keys, std::uint32_t first_told_apart, int threads,
                                    Collective& collective) {
  std::vector<std::atomic<std::int64_t>> counts(kKeyBins);
  ParallelChunks(threads, keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> own(kKeyBins);
    for (std::size_t i = begin; i < end; ++i) ++own[KeyBin(keys[i], first_told_apart)];
    for (std::uint32_t b = 0; b < kKeyBins; ++b) {
      if (own[b] != 0) counts[b] += own[b];
    }
  });
  std::vector<std::int64_t> all{counts.begin(), counts.end()};
  collective.Sum(Span<std::int64_t>{all});
  return all;
}

SampleRule FindRule(SampleTarget const& target, Span<std::uint16_t const> keys, int threads, Collective& collective) {
  std::uint16_t const largest = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  std::uint32_t const first = FirstToldApart(static_cast<std::uint32_t>(collective.MaxOf(largest)));
  std::vector<std::int64_t> const all = CountKeys(keys, first, threads, collective);
  std::vector<std::uint64_t> const counts{all.begin(), all.end()};
  KeyTotals totals{};
  for (std::uint32_t b = 0; b < kKeyBins; ++b) totals.sum += counts[b] * KeyValue(b);
  std::uint32_t bin = kKeyBins;
  do {
    totals.above += totals.count;
    totals.sum -= totals.count * KeyValue(bin);
    totals.count = counts[--bin];
  } while (bin != 0 && !IsBelowThreshold(target, bin, totals));
  return MakeSampleRule(target, first, bin, totals);
}

}  // namespace

void ListAllRows(Span<RowRecord> rows, int threads) {
  ParallelChunks(threads, rows.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) rows[i] = {static_cast<RowIndex>(i), {}};
  });
}

std::size_t SampleChunks(std::size_t n) { return (n + kGrain - 1) / kGrain; }

std::size_t SampleRows(RandomStream const& stream, float subsample, std::size_t n, Span<std::size_t> counts,
                       Span<RowRecord> rows, int threads, std::uint64_t first_row) {
  if (subsample >= 1.0f) {
    ListAllRows(rows.subspan(0, n), threads);
    return n;
  }
  std::uint64_t const threshold = SampleThreshold(subsample);
  return ListSampled(
      stream, first_row, [&](std::size_t) { return threshold; }, n, counts, rows, threads,
      [](std::size_t, std::uint64_t) {});
}

namespace {

/// Writes the gradients of the sample, and returns the result of draw(chance of a row, action for a sampled row).
template <typename Draw>
std::size_t DrawSample(TrainParams const& params, Span<GradientPair const> gradients, Span<GradientPair> sampled,
                       int threads, Shard const& shard, Draw&& draw) {
  LargestGradients(gradients, threads, *shard.collective);  // throws if a gradient is not finite
  ParallelChunks(threads, gradients.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::fill(sampled.data() + begin, sampled.data() + end, GradientPair{0.0f, 0.0f});
  });
  if (params.sampling_method == SamplingMethod::kUniform) {
    std::uint64_t const threshold = SampleThreshold(params.subsample);
    return draw([&](std::size_t) { return threshold; },
                [&](std::size_t row, std::uint64_t) { sampled[row] = gradients[row]; });
  }
  auto const keys = KeysOf(gradients, params.sampling_method, threads);
  SampleTarget const target = MakeSampleTarget(params, shard.all_rows);
  SampleRule const rule = FindRule(target, keys, threads, *shard.collective);
  return draw([&](std::size_t row) { return ChanceOf(rule, keys[row]); },
              [&](std::size_t row, std::uint64_t chance) { sampled[row] = DivideByChance(gradients[row], chance); });
}

}  // namespace

std::size_t SampleRows(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                       Span<std::size_t> counts, Span<RowRecord> rows, Span<GradientPair> sampled, int threads,
                       Shard const& shard) {
  RandomStream const stream{params.seed, RandomPurpose::kRowSample, tree, 0};
  return DrawSample(params, gradients, sampled, threads, shard, [&](auto&& chance_of, auto&& take) {
    return ListSampled(stream, shard.first_row, chance_of, gradients.size(), counts, rows, threads, take);
  });
}

std::size_t MarkSampledRows(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                            Span<NodeIndex> positions, Span<GradientPair> sampled, int threads, Shard const& shard) {
  RandomStream const stream{params.seed, RandomPurpose::kRowSample, tree, 0};
  return DrawSample(params, gradients, sampled, threads, shard, [&](auto&& chance_of, auto&& take) {
    std::atomic<std::size_t> total{0};
    ParallelChunks(threads, gradients.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::fill(positions.data() + begin, positions.data() + end, ~NodeIndex{0});
      std::size_t own = 0;
      ForEachSampled(stream, shard.first_row, chance_of, begin, end, [&](std::size_t row, std::uint64_t chance) {
        positions[row] = 0;
        take(row, chance);
        ++own;
      });
      total += own;
    });
    return std::size_t{total};
  });
}

}  // namespace xgbgpu::host
