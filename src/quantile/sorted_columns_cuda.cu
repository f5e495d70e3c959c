// Sorts columns of keys and pairs on a device and finds distinct keys and ranks in them.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/search.h"
#include "cuda/grid.h"
#include "quantile/quantile_ops.h"
#include "quantile/quantile_policy.h"
#include "quantile/sorted_columns_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr std::uint64_t kChunk = 4096;  // values that a block reads in one step
constexpr FeatureIndex kStreams = 8;    // columns that are sorted side by side

__host__ __device__ inline std::uint32_t KeyOfPair(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }
__host__ __device__ inline std::uint32_t ColumnOfPair(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32);
}

__global__ void MakePairsKernel(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex columns,
                                float const* weights, std::uint64_t* pairs, float* pair_weights) {
  std::uint64_t const n = rows * columns;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    std::uint64_t const column = i / rows;
    std::uint32_t key = keys[i];
    if (weights != nullptr) {
      float const weight = weights[i - column * rows];
      if (weight == 0.0f) key = kNoKey;
      pair_weights[i] = weight;
    }
    pairs[i] = (column << 32) | key;
  }
}

__global__ void ToIntegersKernel(float const* weights, double scale, std::uint64_t n, std::uint64_t* out) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    out[i] = static_cast<std::uint64_t>(IntegerWeight(weights[i], scale));
  }
}

__global__ void CarryKernel(std::uint64_t* at) { at[0] += at[-1]; }

/// Sorted columns one after the other as pairs. The kernels below take this view or SortedKeys.
struct SortedPairs {
  std::uint64_t const* pairs;
  std::uint64_t n;
  std::uint64_t const* sums;  ///< inclusive prefix sums of weights over all columns, modulo 2^64; or nullptr

  __device__ std::uint32_t Key(std::uint64_t i) const { return KeyOfPair(pairs[i]); }
  __device__ std::uint64_t Column(std::uint64_t i) const { return ColumnOfPair(pairs[i]); }
  __device__ std::uint64_t Begin(std::uint64_t column) const {
    return FirstWhere(std::uint64_t{0}, n, [&](std::uint64_t i) { return Column(i) >= column; });
  }
  /// Returns the integer weight of [begin, p), p > begin. Sums wrap around, but a difference inside a column is below
  /// 2^62.
  __device__ std::int64_t Weight(std::uint64_t begin, std::uint64_t p) const {
    if (sums == nullptr) return static_cast<std::int64_t>(p - begin);
    return static_cast<std::int64_t>(sums[p - 1] - (begin == 0 ? 0 : sums[begin - 1]));
  }
};

/// Columns of keys, all of one length. Each key has weight 1.
struct SortedKeys {
  std::uint32_t const* keys;
  std::uint64_t n;
  std::uint64_t rows;

  __device__ std::uint32_t Key(std::uint64_t i) const { return keys[i]; }
  __device__ std::uint64_t Column(std::uint64_t i) const { return i / rows; }
  __device__ std::uint64_t Begin(std::uint64_t column) const { return column * rows; }
  __device__ std::int64_t Weight(std::uint64_t begin, std::uint64_t p) const {
    return static_cast<std::int64_t>(p - begin);
  }
};

template <typename Sorted>
__global__ void FindColumnsKernel(Sorted sorted, FeatureIndex columns, ColumnSummary* summaries) {
  for (std::uint64_t c = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; c < columns;
       c += std::uint64_t{gridDim.x} * blockDim.x) {
    ColumnSummary s{};
    s.begin = sorted.Begin(c);
    s.stop = sorted.Begin(c + 1);
    s.end = FirstWhere(s.begin, s.stop, [&](std::uint64_t i) { return sorted.Key(i) == kNoKey; });
    if (s.begin != s.end) {
      s.first = sorted.Key(s.begin);
      s.last = sorted.Key(s.end - 1);
    }
    summaries[c] = s;
  }
}

/// Counts the distinct keys of each column and lists as many as there is room for. Skips chunks inside a column that is
/// known to have more than `enough`.
template <typename Sorted>
__global__ void ListDistinctKernel(Sorted sorted, std::uint64_t const* list_start, std::uint64_t enough,
                                   ColumnSummary* summaries, std::uint32_t* lists) {
  unsigned const lane = threadIdx.x % 32;
  for (std::uint64_t begin = blockIdx.x * kChunk; begin < sorted.n; begin += gridDim.x * kChunk) {
    std::uint64_t const end = min(begin + kChunk, sorted.n);
    std::uint64_t const first_column = sorted.Column(begin);
    bool const one_column = first_column == sorted.Column(end - 1);
    bool skip = lane == 0 && one_column && __ldcg(&summaries[first_column].distinct) > enough;
    skip = __shfl_sync(kAllLanes, skip, 0);  // other warps may see another count, but all lanes see the same
    if (skip) continue;
    for (std::uint64_t base = begin; base < end; base += kThreads) {
      std::uint64_t const i = base + threadIdx.x;
      std::uint32_t const key = i < end ? sorted.Key(i) : kNoKey;
      auto const column = static_cast<std::uint32_t>(one_column || i >= end ? first_column : sorted.Column(i));
      bool const next_is_here = one_column && i + 1 < end;
      bool const last_of_run = key != kNoKey && (i + 1 == sorted.n || sorted.Key(i + 1) != key ||
                                                 (!next_is_here && sorted.Column(i + 1) != column));
      unsigned const lanes = __ballot_sync(kAllLanes, last_of_run);
      if (!last_of_run) continue;
      unsigned const peers = __match_any_sync(lanes, column);
      int const leader = __ffs(static_cast<int>(peers)) - 1;
      unsigned long long slot = 0;
      if (static_cast<int>(lane) == leader) {
        slot = atomicAdd(&summaries[column].distinct, static_cast<unsigned long long>(__popc(peers)));
      }
      slot = __shfl_sync(peers, slot, leader) + __popc(peers & ((1U << lane) - 1));
      std::uint64_t const to = list_start[column] + slot;
      if (to < list_start[column + 1]) lists[to] = key;
    }
  }
}

/// One sorted column as runs of equal keys. Doubling steps find the end of a run: 2 reads where all values differ.
template <typename Sorted>
struct Runs {
  Sorted sorted;
  std::uint64_t begin, end;

  /// Returns the first place after the run of p.
  __device__ std::uint64_t End(std::uint64_t p) const {
    std::uint32_t const key = sorted.Key(p);
    std::uint64_t low = p, step = 1;  // low is in the run
    while (low + step < end && sorted.Key(low + step) == key) {
      low += step;
      step *= 2;
    }
    return FirstWhere(low + 1, min(low + step, end), [&](std::uint64_t i) { return sorted.Key(i) > key; });
  }
  __device__ std::uint64_t Begin(std::uint64_t p) const {
    std::uint32_t const key = sorted.Key(p);
    std::uint64_t high = p, step = 1;  // high is in the run
    while (high >= begin + step && sorted.Key(high - step) == key) {
      high -= step;
      step *= 2;
    }
    return FirstWhere(high >= begin + step ? high - step + 1 : begin, high,
                      [&](std::uint64_t i) { return sorted.Key(i) >= key; });
  }
  __device__ std::int64_t Weight(std::uint64_t p) const { return sorted.Weight(begin, p); }
};

/// Returns the key that ForEachQuantile takes for rank k. A bisection finds the first run after the column's first for
/// which rank k is below the middle of its cumulative weight and the next run's. The result is the key of this run or
/// of the next, or kNoKey if this run is the last.
template <typename Sorted>
__device__ std::uint32_t KeyOfRank(Runs<Sorted> const& runs, QuantileRanks const& ranks, int k,
                                   std::uint64_t second_run, std::uint64_t last_run) {
  std::uint64_t low = second_run, high = last_run;  // beginnings of runs
  while (low < high) {
    std::uint64_t const middle = low + (high - low) / 2;
    std::uint64_t const next = runs.End(middle);
    if (ranks.IsBelow(k, runs.Weight(runs.End(next)), runs.Weight(next))) {
      high = runs.Begin(middle);
    } else {
      low = next;
    }
  }
  if (low == last_run) return kNoKey;
  std::uint64_t const next = runs.End(low);
  std::int64_t const weight = runs.Weight(next);
  return runs.sorted.Key(ranks.IsBelow(k, weight, weight) ? low : next);
}

template <typename Sorted>
__global__ void RanksKernel(Sorted sorted, FeatureIndex columns, ColumnSummary const* summaries,
                            std::uint64_t const* list_start, CutRule rule, std::uint32_t* lists) {
  for (std::uint64_t c = blockIdx.x; c < columns; c += gridDim.x) {
    ColumnSummary const s = summaries[c];
    if (s.distinct <= rule.most_distinct) continue;
    Runs<Sorted> const runs{sorted, s.begin, s.end};
    std::uint64_t const second_run = runs.End(s.begin), last_run = runs.Begin(s.end - 1);
    std::int64_t const first = runs.Weight(second_run);
    QuantileRanks const ranks{first, runs.Weight(last_run) - first, rule.parts};
    for (int k = 1 + blockIdx.y * kThreads + threadIdx.x; k < rule.parts; k += gridDim.y * kThreads) {
      lists[list_start[c] + k - 1] = KeyOfRank(runs, ranks, k, second_run, last_run);
    }
    // Lists have room for at least one key more than ranks.
    if (blockIdx.y == 0 && threadIdx.x == 0) lists[list_start[c] + rule.parts - 1] = kNoKey;
  }
}

template <typename Sorted>
__global__ void WeightsKernel(Sorted sorted, KeyInColumn const* keys, std::uint64_t n, std::int64_t* weights) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    KeyInColumn const of = keys[i];
    std::uint64_t const above = FirstWhere(of.begin, of.end, [&](std::uint64_t p) { return sorted.Key(p) > of.key; });
    weights[i] = above == of.begin ? 0 : sorted.Weight(of.begin, above);
  }
}

template <typename Sorted>
void FindWeights(Sorted const& sorted, Span<KeyInColumn const> keys, Span<std::int64_t> weights, DeviceArena* arena,
                 cudaStream_t stream) {
  constexpr char const* kWhat = "weighing values";
  constexpr std::size_t kPiece = 1 << 18;  // 8 MiB: other processes wait, so memory must not be short
  std::size_t const most = std::min(kPiece, keys.size());
  DeviceBuffer<KeyInColumn> const on_device{arena, "columns", most};
  DeviceBuffer<std::int64_t> const found{arena, "columns", most};
  for (std::size_t first = 0; first < keys.size(); first += most) {
    std::size_t const n = std::min(most, keys.size() - first);
    CopyToDevice(on_device.data(), keys.data() + first, n, stream, kWhat);
    WeightsKernel<<<Blocks(n, kThreads, CurrentDeviceLimits(), kResident), kThreads, 0, stream>>>(
        sorted, on_device.data(), n, found.data());
    CheckLaunch(kWhat);
    CopyToHost(weights.data() + first, found.data(), n, stream, kWhat);
    CheckCuda(cudaStreamSynchronize(stream), kWhat);
  }
}

/// Finds the rule's keys in sorted columns. Waits.
template <typename Sorted>
SortedColumns Summarise(Sorted const& sorted, FeatureIndex columns, CutRule const& rule, DeviceArena* arena,
                        cudaStream_t stream) {
  constexpr char const* kWhat = "finding quantiles";
  SortedColumns result{std::vector<ColumnSummary>(columns), std::vector<std::uint64_t>(columns + std::size_t{1}), {}};
  DeviceLimits const limits = CurrentDeviceLimits();
  DeviceBuffer<ColumnSummary> summaries{arena, "columns", columns};
  FindColumnsKernel<<<Blocks(columns, kThreads, limits, kResident), kThreads, 0, stream>>>(sorted, columns,
                                                                                           summaries.data());
  CheckLaunch(kWhat);
  CopyToHost(result.columns.data(), summaries.data(), columns, stream, kWhat);
  CheckCuda(cudaStreamSynchronize(stream), kWhat);
  for (std::size_t c = 0; c < columns; ++c) {
    std::uint64_t const values = result.columns[c].end - result.columns[c].begin;
    result.list_start[c + 1] = result.list_start[c] + std::min(values, rule.most_distinct);
  }
  result.lists.resize(result.list_start.back());
  if (result.lists.empty()) return result;

  DeviceBuffer<std::uint64_t> list_start{arena, "columns", result.list_start.size()};
  DeviceBuffer<std::uint32_t> lists{arena, "cuts", result.lists.size()};
  FillBytes(lists.data(), 0, lists.size(), stream, kWhat);  // columns may use only a part of their room
  CopyToDevice(list_start.data(), result.list_start.data(), list_start.size(), stream, kWhat);
  std::uint64_t const enough = rule.parts == 0 ? ~std::uint64_t{0} : rule.most_distinct;
  ListDistinctKernel<<<Blocks(sorted.n, kChunk, limits, kResident), kThreads, 0, stream>>>(
      sorted, list_start.data(), enough, summaries.data(), lists.data());
  CheckLaunch(kWhat);
  if (rule.parts != 0) {
    unsigned const rank_blocks = static_cast<unsigned>(std::min(64, (rule.parts + kThreads - 1) / kThreads));
    RanksKernel<<<dim3(Blocks(columns, 1, limits, kResident), rank_blocks), kThreads, 0, stream>>>(
        sorted, columns, summaries.data(), list_start.data(), rule, lists.data());
    CheckLaunch(kWhat);
  }
  CopyToHost(result.columns.data(), summaries.data(), columns, stream, kWhat);
  CopyToHost(result.lists.data(), lists.data(), lists.size(), stream, kWhat);
  CheckCuda(cudaStreamSynchronize(stream), kWhat);
  return result;
}

}  // namespace

void MakePairs(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex columns, float const* weights,
               std::uint64_t* pairs, float* pair_weights, cudaStream_t stream) {
  unsigned const blocks = Blocks(rows * columns, kThreads, CurrentDeviceLimits(), kResident);
  MakePairsKernel<<<blocks, kThreads, 0, stream>>>(keys, rows, columns, weights, pairs, pair_weights);
  CheckLaunch("making sort keys");
}

PairSorter::PairSorter(DeviceArena* arena, std::uint64_t capacity, bool weighted) : arena_{arena} {
  for (auto& keys : keys_) keys = {arena, "keys to sort", capacity};
  if (!weighted) return;
  for (auto& weights : weights_) weights = {arena, "weights to sort", capacity};
  sums_ = {arena, "sums of weights", capacity};
}

void* PairSorter::Scratch(std::size_t bytes) {
  if (bytes > scratch_.size()) {
    scratch_ = {};
    scratch_ = {arena_, "scratch of sorting", bytes};
  }
  return scratch_.data();
}

PairSorter::Sorted PairSorter::Sort(std::uint64_t n, FeatureIndex columns, double scale, cudaStream_t stream) {
  constexpr char const* kWhat = "sorting values";
  int bits = 32;
  while (bits < 64 && (std::uint64_t{columns} - 1) >> (bits - 32) != 0) ++bits;
  cub::DoubleBuffer<std::uint64_t> keys{keys_[0].data(), keys_[1].data()};
  cub::DoubleBuffer<float> weights{weights_[0].data(), weights_[1].data()};
  bool const weighted = weights_[0].data() != nullptr;
  auto const sort = [&](void* scratch, std::size_t& bytes) {
    return weighted ? cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, weights, n, 0, bits, stream)
                    : cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, n, 0, bits, stream);
  };
  std::size_t bytes = 0;
  CheckCuda(sort(nullptr, bytes), kWhat);
  CheckCuda(sort(Scratch(bytes), bytes), kWhat);
  if (!weighted) return {keys.Current(), nullptr};

  ToIntegersKernel<<<Blocks(n, kThreads, CurrentDeviceLimits(), kResident), kThreads, 0, stream>>>(
      weights.Current(), scale, n, sums_.data());
  CheckLaunch(kWhat);
  constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;  // CUB before 2.6 counts the items of a scan in an int
  for (std::uint64_t begin = 0; begin < n; begin += kMostAtOnce) {
    std::uint64_t* const part = sums_.data() + begin;
    if (begin != 0) CarryKernel<<<1, 1, 0, stream>>>(part);
    int const items = static_cast<int>(std::min(n - begin, kMostAtOnce));
    bytes = 0;
    CheckCuda(cub::DeviceScan::InclusiveSum(nullptr, bytes, part, part, items, stream), kWhat);
    CheckCuda(cub::DeviceScan::InclusiveSum(Scratch(bytes), bytes, part, part, items, stream), kWhat);
  }
  return {keys.Current(), sums_.data()};
}

SortedColumns PairSorter::Run(std::uint64_t n, FeatureIndex columns, double scale, CutRule const& rule,
                              cudaStream_t stream) {
  if (n == 0) return {std::vector<ColumnSummary>(columns), std::vector<std::uint64_t>(columns + std::size_t{1}), {}};
  sorted_ = Sort(n, columns, scale, stream);
  return Summarise(SortedPairs{sorted_.keys, n, sorted_.sums}, columns, rule, arena_, stream);
}

void PairSorter::WeightsUpTo(Span<KeyInColumn const> keys, Span<std::int64_t> weights, cudaStream_t stream) const {
  FindWeights(SortedPairs{sorted_.keys, 0, sorted_.sums}, keys, weights, arena_, stream);
}

KeySorter::KeySorter(DeviceArena* arena, std::uint64_t rows, FeatureIndex at_once)
    : arena_{arena}, rows_{rows}, sorted_{arena, "keys to sort", rows * at_once} {
  std::uint32_t const* const any = nullptr;
  CheckCuda(cub::DeviceRadixSort::SortKeys(nullptr, scratch_bytes_, any, sorted_.data(), rows), "sorting values");
  constexpr std::size_t kAlignment = 256;
  scratch_bytes_ = (scratch_bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  auto const streams =
      std::clamp<std::uint64_t>(QuantilePolicy{}.keys_that_fill / rows, 1, std::min(kStreams, at_once));
  scratch_ = {arena, "scratch of sorting", scratch_bytes_ * streams};
  streams_ = std::vector<Stream>(streams);
}

SortedColumns KeySorter::Run(std::uint32_t const* keys, FeatureIndex columns, CutRule const& rule) {
  constexpr char const* kWhat = "sorting values";
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t const s = c % streams_.size();
    std::size_t bytes = scratch_bytes_;
    CheckCuda(cub::DeviceRadixSort::SortKeys(scratch_.data() + s * scratch_bytes_, bytes, keys + c * rows_,
                                             sorted_.data() + c * rows_, rows_, 0, 32, streams_[s]),
              kWhat);
  }
  for (Stream const& stream : streams_) stream.Wait(kWhat);
  return Summarise(SortedKeys{sorted_.data(), columns * rows_, rows_}, columns, rule, arena_, streams_[0]);
}

void KeySorter::WeightsUpTo(Span<KeyInColumn const> keys, Span<std::int64_t> weights) const {
  FindWeights(SortedKeys{sorted_.data(), 0, rows_}, keys, weights, arena_, streams_[0]);
}

}  // namespace xgbgpu::cuda
