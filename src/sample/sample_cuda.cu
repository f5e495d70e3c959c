#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "core/random.h"
#include "gradient/load_gradients.cuh"
#include "objective/objective_ops.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 4;                      // what registers allow
constexpr int kWordRows = 4;                      // one Philox block serves four rows
constexpr int kLaneRows = 16;                     // that a thread draws
constexpr int kDrawnRows = kThreads * kLaneRows;  // that take one place in the sample together

constexpr int kCountThreads = 1024;
constexpr int kCountResident = 2;  // every block hands on its counts: few blocks
constexpr std::uint32_t kNoKey = kKeyBins;

/// Adds one row to the count of its bin in shared memory. Where all rows of the warp have one key, as in the first
/// tree, they do not queue up.
__device__ void CountKey(std::uint32_t* counts, std::uint32_t bin) {
  bool const alike = __all_sync(kAllLanes, bin == __shfl_sync(kAllLanes, bin, 0)) != 0;
  if (!alike) {
    if (bin != kNoKey) atomicAdd(counts + bin, 1U);
  } else if (threadIdx.x % 32 == 0 && bin != kNoKey) {
    atomicAdd(counts + bin, 32U);
  }
}

/// The last block's part: where the threshold lies. Counts and values are integers, so the sums need no order. Counts
/// are 0 again afterwards.
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
  for (std::uint32_t b = first; b < end; ++b) sample.key_counts[b] = 0;
}

/// Every row's key, and how many there are of each.
__global__ void __launch_bounds__(kCountThreads, kProcessorThreads / kCountThreads)
    CountKeysKernel(GradientPair const* gradients, GradientMaxima const* maxima, std::uint64_t rows,
                    SampleDraw const* draw, SampleView sample) {
  __shared__ std::uint32_t counts[kKeyBins];
  for (std::uint32_t b = threadIdx.x; b < kKeyBins; b += kCountThreads) counts[b] = 0;
  WaitForKernelBefore();
  __syncthreads();
  KeyScale const scale = MakeKeyScale(draw->target.method, maxima->grad, maxima->hess);
  std::uint64_t const step = std::uint64_t{gridDim.x} * kCountThreads * kWordRows;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kCountThreads * kWordRows; base < rows; base += step) {
    std::uint64_t const row = base + threadIdx.x * kWordRows;
    GradientPair v[kWordRows];
    LoadFour(gradients, row, rows, v);
    std::uint32_t key[kWordRows];
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) {
      key[i] = row + i < rows ? KeyBin(v[i], scale) : kNoKey;
      CountKey(counts, key[i]);
    }
    // There is room for whole fours.
    if (row < rows) *reinterpret_cast<uint2*>(sample.keys + row) = {key[0] | key[1] << 16, key[2] | key[3] << 16};
  }
  __syncthreads();
  for (std::uint32_t b = threadIdx.x; b < kKeyBins; b += kCountThreads) {
    if (counts[b] != 0) atomicAdd(sample.key_counts + b, counts[b]);
  }
  if (IsLastBlock(&sample.state->finished_blocks, gridDim.x)) FindRule(draw->target, sample);
}

/// The chances of rows, by their keys: what takes a division or a double is in a table in shared memory.
class KeyChances {
 public:
  static constexpr std::uint32_t kTable = 1U << kKeyBits;

  /// Called by the whole block.
  __device__ KeyChances(SampleDraw const&, SampleView const& sample, std::uint64_t* table)
      : rule_{sample.state->rule}, keys_{sample.keys}, in_top_octave_{table} {
    static_assert(kTable == kThreads);
    bool const looked_up = rule_.method == SamplingMethod::kGradientBased && rule_.bin != 0;
    if (looked_up) table[threadIdx.x] = ChanceInTopOctave(rule_, threadIdx.x);
    __syncthreads();
  }
  /// Bit i: row first + i is in the sample, for the four rows that share these draws. There are keys of whole fours.
  __device__ std::uint32_t Draw(std::uint64_t first, RandomBlock const& draws) const {
    auto const two = *reinterpret_cast<uint2 const*>(keys_ + first);
    std::uint32_t const key[kWordRows]{two.x & 0xFFFFU, two.x >> 16, two.y & 0xFFFFU, two.y >> 16};
    std::uint32_t drawn = 0;
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) {
      if (IsSampled(draws.word[i], OfKey(key[i]))) drawn |= 1U << i;
    }
    return drawn;
  }
  /// What a sampled row's gradient, which is finite, counts in the tree.
  __device__ GradientPair Weigh(std::uint64_t row, GradientPair v) const {
    return DivideByChance(v, OfKey(keys_[row]));
  }

 private:
  __device__ std::uint64_t OfKey(std::uint32_t key) const {
    return ChanceOf(rule_, key, [&](std::uint32_t i) { return in_top_octave_[i]; });
  }

  SampleRule rule_;
  std::uint16_t const* keys_;
  std::uint64_t const* in_top_octave_;
};

/// The same for every row.
class OneChance {
 public:
  static constexpr std::uint32_t kTable = 1;

  __device__ OneChance(SampleDraw const& draw, SampleView const&, std::uint64_t*) : chance_{draw.threshold} {}
  __device__ std::uint32_t Draw(std::uint64_t, RandomBlock const& draws) const {
    std::uint32_t drawn = 0;
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) {
      if (IsSampled(draws.word[i], chance_)) drawn |= 1U << i;
    }
    return drawn;
  }
  __device__ GradientPair Weigh(std::uint64_t, GradientPair v) const { return v; }

 private:
  std::uint64_t chance_;
};

/// Rows that a block has drawn, ascending, and their place in the sample.
struct DrawnRows {
  std::uint64_t base;
  std::uint16_t const* offset;  ///< [n] from `base`
  std::uint32_t n, place;
};

/// Copies their records, of every tile. Neighbouring threads copy the pieces of a record; several are on their way at a
/// time.
template <typename Piece>
__device__ void CopyRecords(DeviceMatrixView const& m, DrawnRows const& drawn, SampleView const& sample) {
  constexpr int kInFlight = 4;
  std::uint32_t const shift = m.record_bytes() == sizeof(Piece) ? 0 : 1;  // a record is one piece or two
  std::uint32_t const pieces = drawn.n << shift;
  for (std::uint64_t tile = 0; tile < m.tiles; ++tile) {
    auto const* const from = reinterpret_cast<Piece const*>(m.records) + ((tile * m.rows + drawn.base) << shift);
    auto* const to = reinterpret_cast<Piece*>(sample.records) + ((tile * sample.capacity + drawn.place) << shift);
    for (std::uint32_t first = threadIdx.x; first < pieces; first += kInFlight * kThreads) {
      Piece v[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        std::uint32_t const p = first + i * kThreads;
        if (p < pieces) v[i] = from[(std::uint32_t{drawn.offset[p >> shift]} << shift) + (p & shift)];
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        std::uint32_t const p = first + i * kThreads;
        if (p < pieces) to[p] = v[i];
      }
    }
  }
}

/// Gradients of rows that are there.
struct GivenGradients {
  GradientPair const* pairs;
  GradientMaxima const* maxima;

  __device__ GradientPair Of(std::uint64_t row, float const*) const { return pairs[row]; }
  /// Those that are not finite count wherever they are.
  __device__ void Raise(std::uint32_t* grad_max, std::uint32_t* hess_max) const {
    if (maxima->grad >= kNotFiniteBits) *grad_max = maxima->grad;
    if (maxima->hess >= kNotFiniteBits) *hess_max = maxima->hess;
  }
};

/// The same, computed from margins on the way.
template <typename Loss>
struct ComputedGradients {
  Loss loss;
  float const* labels;
  float const* weights;

  __device__ GradientPair Of(std::uint64_t row, float const* margins) const {
    return loss(margins[row], labels[row], weights == nullptr ? 1.0f : weights[row]);
  }
  __device__ void Raise(std::uint32_t*, std::uint32_t*) const {}
};

template <typename Chances, typename Gradients>
__global__ void __launch_bounds__(kThreads)
    DrawRowsKernel(Gradients gradients, DeviceMatrixView matrix, SampleDraw const* draw, SampleView sample,
                   GradientState* gradient) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint64_t table[Chances::kTable];
  __shared__ std::uint16_t offset[kDrawnRows];
  __shared__ std::uint32_t place;
  WaitForKernelBefore();
  RandomStream const stream{draw->seed, RandomPurpose::kRowSample, draw->tree, 0};
  Chances const chances{*draw, sample, table};
  float const* const margins = draw->margins;
  std::uint32_t grad_max = 0, hess_max = 0;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kDrawnRows; base < matrix.rows;
       base += std::uint64_t{gridDim.x} * kDrawnRows) {
    std::uint64_t const first = base + threadIdx.x * kLaneRows;
    std::uint32_t drawn = 0;  // bit i: row first + i
#pragma unroll
    for (int i = 0; i < kLaneRows; i += kWordRows) {
      if (first + i >= matrix.rows) break;
      drawn |= chances.Draw(first + i, stream.Block(static_cast<std::uint32_t>((first + i) / kWordRows))) << i;
    }
    if (first + kLaneRows > matrix.rows) drawn &= first < matrix.rows ? (1U << (matrix.rows - first)) - 1 : 0;
    std::uint32_t at, all;
    Scan(storage).ExclusiveSum(static_cast<std::uint32_t>(__popc(drawn)), at, all);
    if (threadIdx.x == 0) place = atomicAdd(&sample.state->rows, all);
    for (; drawn != 0; drawn &= drawn - 1) {
      offset[at++] = static_cast<std::uint16_t>(threadIdx.x * kLaneRows + __ffs(static_cast<int>(drawn)) - 1);
    }
    __syncthreads();
    std::uint32_t const room = sample.capacity - min(sample.capacity, place);
    DrawnRows const rows{base, offset, min(all, room), place};
    for (std::uint32_t i = threadIdx.x; i < rows.n; i += kThreads) {
      std::uint64_t const row = base + offset[i];
      GradientPair v = gradients.Of(row, margins);
      if (max(MagnitudeBits(v.grad), MagnitudeBits(v.hess)) < kNotFiniteBits) v = chances.Weigh(row, v);
      grad_max = max(grad_max, MagnitudeBits(v.grad));
      hess_max = max(hess_max, MagnitudeBits(v.hess));
      sample.rows[place + i] = {static_cast<RowIndex>(row), {0, 0}};
      if (sample.gradients != nullptr) sample.gradients[place + i] = v;
      if (sample.by_row != nullptr) sample.by_row[row] = v;
    }
    if (sample.records != nullptr) {
      switch (matrix.record_bytes()) {
        case 4:
          CopyRecords<std::uint32_t>(matrix, rows, sample);
          break;
        case 8:
          CopyRecords<uint2>(matrix, rows, sample);
          break;
        default:
          CopyRecords<uint4>(matrix, rows, sample);
      }
    }
    __syncthreads();  // before the shared words are used again
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) gradients.Raise(&grad_max, &hess_max);
  RaiseToBlockMax<kThreads>(grad_max, hess_max, &gradient->maxima.grad, &gradient->maxima.hess);
}

template <typename Chances, typename Gradients>
void DrawRows(Gradients const& gradients, DeviceMatrixView const& matrix, SampleDraw const* draw,
              SampleView const& sample, GradientState* gradient, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("sampling rows", DrawRowsKernel<Chances, Gradients>, Blocks(matrix.rows, kDrawnRows, limits, kResident),
             kThreads, 0, limits, stream, gradients, matrix, draw, sample, gradient);
}

void DrawAndCompute(RowLosses const& losses, DeviceMatrixView const& matrix, SampleDraw const* draw,
                    SampleView const& sample, GradientState* gradient, DeviceLimits const& limits,
                    cudaStream_t stream) {
  VisitLoss(losses.objective, [&](auto loss) {
    using Loss = decltype(loss);
    if constexpr (std::is_same_v<Loss, SquaredErrorLoss> || std::is_same_v<Loss, LogisticLoss>) {
      DrawRows<OneChance>(ComputedGradients<Loss>{loss, losses.labels, losses.weights}, matrix, draw, sample, gradient,
                          limits, stream);
    }
  });
}

}  // namespace

void SampleRows(DeviceGradients const& gradients, RowLosses const* losses, DeviceMatrixView const& matrix,
                SampleDraw const* draw, SampleView const& sample, GradientState* gradient, DeviceLimits const& limits,
                cudaStream_t stream) {
  SampledGradients const sampled{sample.rows, sample.gradients,
                                 sample.by_row != nullptr ? sample.by_row : gradients.pairs, &sample.state->rows};
  if (losses != nullptr) {
    DrawAndCompute(*losses, matrix, draw, sample, gradient, limits, stream);
    ChooseSampleFormat(sampled, sample.capacity, gradient, limits, stream);
    return;
  }
  GradientMaxima const* maxima = gradients.maxima;
  if (maxima == nullptr) {
    FindLargestGradients(gradients.pairs, matrix.rows, &sample.state->maxima, limits, stream);
    maxima = &sample.state->maxima;
  }
  GivenGradients const given{gradients.pairs, maxima};
  if (sample.key_counts != nullptr) {
    LaunchNext("looking for the threshold of a sample", CountKeysKernel,
               Blocks(matrix.rows, kCountThreads * kWordRows, limits, kCountResident), kCountThreads, 0, limits, stream,
               gradients.pairs, maxima, matrix.rows, draw, sample);
    DrawRows<KeyChances>(given, matrix, draw, sample, gradient, limits, stream);
  } else {
    DrawRows<OneChance>(given, matrix, draw, sample, gradient, limits, stream);
  }
  ChooseSampleFormat(sampled, sample.capacity, gradient, limits, stream);
}

}  // namespace xgbgpu::cuda
