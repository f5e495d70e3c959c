#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "core/random.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // one Philox block serves four rows
constexpr int kBlockRows = kThreads * kLaneRows;
constexpr int kRounds = 4;  // of so many rows, which take one place in the sample together
constexpr int kDrawnRows = kRounds * kBlockRows;

constexpr int kCountThreads = 512;
constexpr int kCountResident = 2;  // every block hands on its counts: few blocks
constexpr std::uint32_t kNoKey = kKeyBins;

/// Gradients of rows first … first + 3; zero beyond the last row.
__device__ void LoadFour(GradientPair const* gradients, std::uint64_t first, std::uint64_t rows,
                         GradientPair (&v)[kLaneRows]) {
  if (first + kLaneRows <= rows) {
    auto const* const from = reinterpret_cast<float4 const*>(gradients + first);
    float4 const a = from[0], b = from[1];
    v[0] = {a.x, a.y};
    v[1] = {a.z, a.w};
    v[2] = {b.x, b.y};
    v[3] = {b.z, b.w};
  } else {
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      v[i] = first + i < rows ? gradients[first + i] : GradientPair{0.0f, 0.0f};
    }
  }
}

__device__ KeyScale ScaleOf(SampleDraw const& draw, SampleState const& state) {
  return MakeKeyScale(draw.target.method, state.grad_max, state.hess_max);
}

/// Adds one row to the count of its bin in shared memory. Where all rows of the warp have one key, as in the first
/// tree, they do not queue up.
__device__ void CountKey(std::uint32_t* counts, std::uint32_t bin) {
  int alike = 0;
  __match_all_sync(kAllLanes, bin, &alike);
  if (alike == 0) {
    if (bin != kNoKey) atomicAdd(counts + bin, 1U);
  } else if (threadIdx.x % 32 == 0 && bin != kNoKey) {
    atomicAdd(counts + bin, 32U);
  }
}

/// The last block's part: where the threshold lies. Counts and values are integers, so the sums need no order.
__device__ void FindRule(SampleTarget const& target, SampleView const& sample) {
  using Scan = cub::BlockScan<unsigned long long, kCountThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t threshold_bin;
  constexpr std::uint32_t kOwnBins = (kKeyBins + kCountThreads - 1) / kCountThreads;
  std::uint32_t const first = threadIdx.x * kOwnBins, end = min(first + kOwnBins, kKeyBins);
  unsigned long long count = 0, sum = 0;
  for (std::uint32_t b = first; b < end; ++b) {
    std::uint32_t const n = __ldcg(sample.key_counts + b);
    count += n;
    sum += n * KeyValue(b);
  }
  unsigned long long before_count, before_sum, all;
  Scan(storage).ExclusiveSum(count, before_count, all);
  __syncthreads();  // the storage is used again
  Scan(storage).ExclusiveSum(sum, before_sum);
  if (threadIdx.x == 0) threshold_bin = 0;
  __syncthreads();
  auto const for_own_bins = [&](auto&& f) {
    unsigned long long up_to = before_count, up_to_sum = before_sum;
    for (std::uint32_t b = first; b < end; ++b) {
      std::uint32_t const n = __ldcg(sample.key_counts + b);
      up_to += n;
      up_to_sum += n * KeyValue(b);
      f(b, KeyTotals{all - up_to, n, up_to_sum});
    }
  };
  for_own_bins([&](std::uint32_t b, KeyTotals const& totals) {
    if (IsBelowThreshold(target, b, totals)) atomicMax(&threshold_bin, b);
  });
  __syncthreads();
  std::uint32_t const bin = threshold_bin;
  for_own_bins([&](std::uint32_t b, KeyTotals const& totals) {
    if (b == bin) sample.state->rule = MakeSampleRule(target, bin, totals);
  });
}

__global__ void __launch_bounds__(kCountThreads)
    CountKeysKernel(GradientPair const* gradients, std::uint64_t rows, SampleDraw const* draw, SampleView sample) {
  __shared__ std::uint32_t counts[kKeyBins];
  for (std::uint32_t b = threadIdx.x; b < kKeyBins; b += kCountThreads) counts[b] = 0;
  WaitForKernelBefore();
  __syncthreads();
  KeyScale const scale = ScaleOf(*draw, *sample.state);
  std::uint64_t const step = std::uint64_t{gridDim.x} * kCountThreads * kLaneRows;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kCountThreads * kLaneRows; base < rows; base += step) {
    std::uint64_t const row = base + threadIdx.x * kLaneRows;
    GradientPair v[kLaneRows];
    LoadFour(gradients, row, rows, v);
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) CountKey(counts, row + i < rows ? KeyBin(v[i], scale) : kNoKey);
  }
  __syncthreads();
  for (std::uint32_t b = threadIdx.x; b < kKeyBins; b += kCountThreads) {
    if (counts[b] != 0) atomicAdd(sample.key_counts + b, counts[b]);
  }
  if (IsLastBlock(&sample.state->finished_blocks, gridDim.x)) FindRule(draw->target, sample);
}

/// Place for `count` rows of this thread, after those of all threads before it: one atomic per block.
__device__ std::uint32_t Reserve(std::uint32_t count, std::uint32_t* rows) {
  __shared__ std::uint32_t warp_counts[kThreads / 32], block_place;
  std::uint32_t const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t up_to = count;
  for (int d = 1; d < 32; d *= 2) {
    std::uint32_t const other = __shfl_up_sync(kAllLanes, up_to, d);
    if (lane >= static_cast<std::uint32_t>(d)) up_to += other;
  }
  if (lane == 31) warp_counts[warp] = up_to;
  __syncthreads();
  std::uint32_t before = 0, all = 0;
  for (std::uint32_t w = 0; w < kThreads / 32; ++w) {
    if (w < warp) before += warp_counts[w];
    all += warp_counts[w];
  }
  if (threadIdx.x == 0) block_place = atomicAdd(rows, all);
  __syncthreads();
  std::uint32_t const place = block_place + before + up_to - count;
  __syncthreads();  // the shared words are used again
  return place;
}

/// The chances of rows, by their gradients: what takes a division or a double is in a table in shared memory.
class Chances {
 public:
  static constexpr std::uint32_t kTable = 1U << kKeyBits;

  /// Called by the whole block.
  __device__ Chances(SampleDraw const& draw, SampleState const& state, std::uint64_t* table)
      : scale_{ScaleOf(draw, state)}, rule_{state.rule}, in_top_octave_{table} {
    static_assert(kTable == kThreads);
    bool const looked_up = rule_.method == SamplingMethod::kGradientBased && rule_.bin != 0;
    if (looked_up) table[threadIdx.x] = ChanceInTopOctave(rule_, threadIdx.x);
    __syncthreads();
  }
  __device__ std::uint64_t Of(GradientPair v) const {
    return ChanceOf(rule_, KeyBin(v, scale_), [&](std::uint32_t i) { return in_top_octave_[i]; });
  }

 private:
  KeyScale scale_;
  SampleRule rule_;
  std::uint64_t const* in_top_octave_;
};

/// The same for every row.
struct OneChance {
  static constexpr std::uint32_t kTable = 1;
  std::uint64_t chance;
  __device__ OneChance(SampleDraw const& draw, SampleState const&, std::uint64_t*) : chance{draw.threshold} {}
  __device__ std::uint64_t Of(GradientPair) const { return chance; }
};

/// kKeys: the chance depends on the gradient, which is divided by it.
template <bool kKeys>
__global__ void __launch_bounds__(kThreads)
    DrawRowsKernel(GradientPair const* gradients, std::uint64_t rows, SampleDraw const* draw, SampleView sample,
                   GradientState* gradient) {
  using RowChances = std::conditional_t<kKeys, Chances, OneChance>;
  __shared__ std::uint64_t table[RowChances::kTable];
  WaitForKernelBefore();
  RandomStream const stream{draw->seed, RandomPurpose::kRowSample, draw->tree, 0};
  RowChances const chances{*draw, *sample.state, table};
  std::uint32_t grad_max = 0, hess_max = 0;
  auto const raise_maxima = [&](GradientPair v) {
    grad_max = max(grad_max, MagnitudeBits(v.grad));
    hess_max = max(hess_max, MagnitudeBits(v.hess));
  };
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kDrawnRows; base < rows;
       base += std::uint64_t{gridDim.x} * kDrawnRows) {
    std::uint32_t sampled = 0;  // bit kLaneRows · round + i
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t const first = base + round * kBlockRows + threadIdx.x * kLaneRows;
      GradientPair v[kLaneRows];
      LoadFour(gradients, first, rows, v);
      RandomBlock const draws = stream.Block(static_cast<std::uint32_t>(first / 4));
#pragma unroll
      for (int i = 0; i < kLaneRows; ++i) {
        bool const in = first + i < rows && IsSampled(draws.word[i], chances.Of(v[i]));
        if (in) sampled |= 1U << (kLaneRows * round + i);
        if (max(MagnitudeBits(v[i].grad), MagnitudeBits(v[i].hess)) >= kNotFiniteBits) raise_maxima(v[i]);
      }
    }
    std::uint32_t place = Reserve(__popc(sampled), &sample.state->rows);
    for (; sampled != 0; sampled &= sampled - 1, ++place) {
      if (place >= sample.capacity) break;
      std::uint32_t const bit = __ffs(static_cast<int>(sampled)) - 1;
      std::uint64_t const row = base + bit / kLaneRows * kBlockRows + threadIdx.x * kLaneRows + bit % kLaneRows;
      GradientPair v = gradients[row];  // not far away: few rows are in most samples
      if (kKeys && max(MagnitudeBits(v.grad), MagnitudeBits(v.hess)) < kNotFiniteBits) {
        v = DivideByChance(v, chances.Of(v));
      }
      raise_maxima(v);
      sample.rows[place] = {static_cast<RowIndex>(row), {0, 0}};
      if (sample.gradients != nullptr) sample.gradients[place] = v;
      if (sample.by_row != nullptr) sample.by_row[row] = v;
    }
  }
  RaiseToBlockMax<kThreads>(grad_max, hess_max, &gradient->grad_max, &gradient->hess_max);
}

}  // namespace

void SampleRows(GradientPair const* gradients, std::uint64_t rows, SampleDraw const* draw, SampleView const& sample,
                GradientState* gradient, DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(rows, kDrawnRows, limits, kResident);
  if (sample.key_counts != nullptr) {
    FindLargestGradients(gradients, rows, &sample.state->grad_max, &sample.state->hess_max, limits, stream);
    LaunchNext("looking for the threshold of a sample", CountKeysKernel,
               Blocks(rows, kCountThreads * kLaneRows, limits, kCountResident), kCountThreads, 0, limits, stream,
               gradients, rows, draw, sample);
  }
  auto* const kernel = sample.key_counts != nullptr ? DrawRowsKernel<true> : DrawRowsKernel<false>;
  LaunchNext("sampling rows", kernel, blocks, kThreads, 0, limits, stream, gradients, rows, draw, sample, gradient);
  SampledGradients const sampled{sample.rows, sample.gradients, sample.by_row != nullptr ? sample.by_row : gradients,
                                 &sample.state->rows};
  ChooseSampleFormat(sampled, sample.capacity, gradient, limits, stream);
}

}  // namespace xgbgpu::cuda
