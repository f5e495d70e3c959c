// Draws the sampled rows of a tree on a device, with their gradients and bins.
#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "core/random.h"
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/choose_format.cuh"
#include "gradient/early_narrow.cuh"
#include "gradient/four_gradients.cuh"
#include "matrix/record_pieces.cuh"
#include "objective/row_gradients.cuh"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 4;                      // limited by registers
constexpr int kWordRows = 4;                      // one Philox block serves four rows
constexpr int kLaneRows = 16;                     // rows that a thread draws
constexpr int kDrawnRows = kThreads * kLaneRows;  // rows with one common place in the sample

constexpr int kCountThreads = 1024;
constexpr int kCountResident = 2;            // every block publishes its counts: few blocks
constexpr std::uint32_t kNoKey = 2 * kKeys;  // no key; its low 16 bits are 0

/// Gradients in memory.
struct GivenGradients {
  GradientPair const* pairs;
  GradientMaxima const* maxima;

  __device__ GradientPair Of(std::uint64_t row, float const*) const { return pairs[row]; }
  /// Returns the keys of rows first … first + 3, with kNoKey beyond the last of `rows`. `first` is a multiple of four.
  template <SamplingMethod kMethod>
  __device__ void Keys(std::uint64_t first, std::uint64_t rows, float const*, std::uint32_t (&key)[kWordRows]) const {
    GradientPair v[kWordRows];
    LoadFour(pairs, first, rows, v);
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) key[i] = first + i < rows ? KeyOf(v[i], kMethod) : kNoKey;
  }
  /// Raises the maxima. Gradients that are not finite count in and outside the sample.
  __device__ void Raise(std::uint32_t* grad_max, std::uint32_t* hess_max) const {
    if (maxima->grad >= kNotFiniteBits) *grad_max = maxima->grad;
    if (maxima->hess >= kNotFiniteBits) *hess_max = maxima->hess;
  }
};

/// Gradients that are computed from margins when needed.
template <typename Loss>
struct ComputedGradients {
  RowGradients<Loss> losses;

  __device__ GradientPair Of(std::uint64_t row, float const* margins) const { return losses.Of(row, margins); }

  template <SamplingMethod kMethod>
  __device__ void Keys(std::uint64_t first, std::uint64_t rows, float const* margins,
                       std::uint32_t (&key)[kWordRows]) const {
    GradientPair v[kWordRows];
    if (first + kWordRows <= rows) {
      losses.Four(first, margins, v);
    } else {
#pragma unroll
      for (int i = 0; i < kWordRows; ++i) v[i] = first + i < rows ? Of(first + i, margins) : GradientPair{};
    }
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) key[i] = first + i < rows ? KeyOf(v[i], kMethod) : kNoKey;
  }
  __device__ void Raise(std::uint32_t*, std::uint32_t*) const {}
};

/// Keys that a block counts in shared memory: the keys of the octaves around the last tree's largest key, and 0. All
/// other keys, which are few, are counted in device memory.
struct NearKeys {
  static constexpr std::uint32_t kOctaves = 32, kHigher = 2, kNearKeys = kOctaves << kKeyBits;
  static constexpr std::uint32_t kFar = kNearKeys, kZero = kNearKeys + 1;
  std::uint32_t
      counts[kNearKeys + 2];  ///< followed by rows that do not count here, and rows of key 0, if it is not near

  __device__ static std::uint32_t First(SampleView const& sample) {
    constexpr std::uint32_t kOfOne = 127;  // in the first tree: assumes keys of about 1
    std::uint32_t const largest = sample.key_counts->largest_before;
    std::uint32_t const top = min((largest == 0 ? kOfOne : largest >> kKeyBits) + kHigher, 255U);
    return max(top, kOctaves - 1) - (kOctaves - 1) << kKeyBits;
  }
  /// Counts some rows of every lane; kNoKey is none. Equal keys in many rows, as in the first tree, do not serialise:
  /// shared memory combines additions of 1 to one address.
  __device__ void Add(std::uint32_t const (&key)[kWordRows], std::uint32_t first, SampleView const& sample) {
    bool far = false;
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) {
      std::uint32_t const place = min(key[i] - first, kFar);
      atomicAdd(counts + place, 1U);
      far = far || place >= kNearKeys;
    }
    if (!far) return;
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) AddFar(key[i], first, sample);
  }

 private:
  __device__ void AddFar(std::uint32_t key, std::uint32_t first, SampleView const& sample) {
    if (key - first < kNearKeys || key == kNoKey) return;
    if (key == 0) {
      atomicAdd(counts + kZero, 1U);
      return;
    }
    std::uint32_t const alike = __match_any_sync(__activemask(), key);  // device memory does not combine additions
    if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(alike)) - 1) {
      atomicAdd(sample.key_counts->of + key, static_cast<std::uint32_t>(__popc(alike)));
    }
  }
};

/// Finds the threshold. One block, which needs more registers than counting blocks have. Counts and values are
/// integers, so sums need no order.
__global__ void __launch_bounds__(kCountThreads, 1)
    FindRuleKernel(std::uint64_t rows, SampleDraw const* draw, SampleView sample) {
  using Scan = cub::BlockScan<unsigned long long, kCountThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t threshold_bin;
  __shared__ KeyTotals threshold;
  WaitForKernelBefore();
  SampleTarget const target = draw->target;
  constexpr std::uint32_t kOwnBins = (kKeyBins + kCountThreads - 1) / kCountThreads;
  std::uint32_t const first_bin = threadIdx.x * kOwnBins;
  std::uint32_t const largest = sample.state->largest_key, first = FirstToldApart(largest);
  auto const rows_of = [&](std::uint32_t b) -> std::uint32_t {
    if (b == 0) return sample.key_counts->of[0];
    std::uint32_t const key = first + b - 1;
    return b < kKeyBins && key != 0 ? sample.key_counts->of[key] : 0;
  };
  std::uint32_t own[kOwnBins];
  unsigned long long count = 0, sum = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kOwnBins; ++i) {
    own[i] = rows_of(first_bin + i);
    count += own[i];
  }
  unsigned long long before_count, before_sum = 0, all;
  Scan(storage).ExclusiveSum(count, before_count, all);
  __syncthreads();                              // the next turn reuses the storage, and counts have been read
  unsigned long long const below = rows - all;  // rows with keys below the distinguished ones
  if (threadIdx.x == 0) {
    own[1] += static_cast<std::uint32_t>(below);
    threshold_bin = 0;
    sample.key_counts->largest_before = largest;
  } else {
    before_count += below;
  }
  if (target.method == SamplingMethod::kGradientBased) {  // otherwise values do not count
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnBins; ++i) sum += own[i] * KeyValue(first_bin + i);
    Scan(storage).ExclusiveSum(sum, before_sum);
  }
  __syncthreads();
  auto const for_own_bins = [&](auto&& f) {
    unsigned long long up_to = before_count, up_to_sum = before_sum;
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnBins; ++i) {
      std::uint32_t const b = first_bin + i;
      up_to += own[i];
      up_to_sum += own[i] * KeyValue(b);
      if (b < kKeyBins) f(b, KeyTotals{rows - up_to, own[i], up_to_sum});
    }
  };
  for_own_bins([&](std::uint32_t b, KeyTotals const& totals) {
    if (IsBelowThreshold(target, b, totals)) atomicMax(&threshold_bin, b);
  });
  __syncthreads();
  std::uint32_t const bin = threshold_bin;
  for_own_bins([&](std::uint32_t b, KeyTotals const& totals) {
    if (b == bin) threshold = totals;
  });
  __syncthreads();
  if (threadIdx.x == 0) sample.state->rule = MakeSampleRule(target, first, bin, threshold);
}

/// Counts the keys of a block's rows. Returns the largest key of this thread.
template <SamplingMethod kMethod, typename Gradients>
__device__ std::uint32_t CountRows(Gradients const& gradients, std::uint64_t rows, float const* margins,
                                   SampleView const& sample, NearKeys* near) {
  std::uint32_t const first = NearKeys::First(sample);
  std::uint32_t largest = 0;  // of two keys, in halves
  std::uint64_t const step = std::uint64_t{gridDim.x} * kCountThreads * kWordRows;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kCountThreads * kWordRows; base < rows; base += step) {
    std::uint64_t const row = base + threadIdx.x * kWordRows;
    std::uint32_t key[kWordRows];
    gradients.template Keys<kMethod>(row, rows, margins, key);
    std::uint32_t const low = __byte_perm(key[0], key[1], 0x5410), high = __byte_perm(key[2], key[3], 0x5410);
    largest = __vmaxu2(largest, __vmaxu2(low, high));
    // Rows are padded to multiples of four.
    if (row < rows) *reinterpret_cast<uint2*>(sample.keys + row) = {low, high};
    near->Add(key, first, sample);
  }
  return max(largest & 0xFFFFU, largest >> 16);
}

/// Writes every row's key, and counts rows by key.
template <typename Gradients>
__global__ void __launch_bounds__(kCountThreads, kProcessorThreads / kCountThreads)
    CountKeysKernel(Gradients gradients, std::uint64_t rows, SampleDraw const* draw, SampleView sample) {
  __shared__ NearKeys near;
  __shared__ std::uint32_t largest_of_block;
  for (std::uint32_t i = threadIdx.x; i <= NearKeys::kZero; i += kCountThreads) near.counts[i] = 0;
  if (threadIdx.x == 0) largest_of_block = 0;
  WaitForKernelBefore();
  __syncthreads();
  std::uint32_t const first = NearKeys::First(sample);
  float const* const margins = draw->margins;
  std::uint32_t largest = draw->target.method == SamplingMethod::kGoss
                              ? CountRows<SamplingMethod::kGoss>(gradients, rows, margins, sample, &near)
                              : CountRows<SamplingMethod::kGradientBased>(gradients, rows, margins, sample, &near);
  largest = WarpMax(largest);
  if (threadIdx.x % 32 == 0) atomicMax(&largest_of_block, largest);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < NearKeys::kNearKeys; i += kCountThreads) {
    if (near.counts[i] != 0) atomicAdd(sample.key_counts->of + first + i, near.counts[i]);
  }
  if (threadIdx.x == 0) {
    if (near.counts[NearKeys::kZero] != 0) atomicAdd(sample.key_counts->of, near.counts[NearKeys::kZero]);
    atomicMax(&sample.state->largest_key, largest_of_block);
  }
}

/// The chances of rows by their keys. A table in shared memory has the results of divisions and double operations.
class KeyChances {
 public:
  static constexpr std::uint32_t kTable = 1U << kKeyBits;

  /// All threads of all blocks call it: it resets the counts of keys to 0.
  __device__ KeyChances(SampleDraw const&, SampleView const& sample, std::uint64_t* table)
      : rule_{sample.state->rule}, keys_{sample.keys}, in_top_octave_{table} {
    static_assert(kTable == kThreads);
    bool const looked_up = rule_.method == SamplingMethod::kGradientBased && rule_.bin != 0;
    if (looked_up) table[threadIdx.x] = ChanceInTopOctave(rule_, threadIdx.x);
    auto* const counts = reinterpret_cast<uint4*>(sample.key_counts->of);
    for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < kKeys / 4; i += gridDim.x * kThreads) {
      counts[i] = uint4{0, 0, 0, 0};
    }
    __syncthreads();
  }
  /// Returns a mask of rows first … first + 3 in the sample, which share the draws. Keys are padded to multiples of
  /// four.
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
  /// Returns the weighted gradient of a sampled row, which is finite.
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

/// Equal chances for all rows.
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

/// Copies the rows' records of every tile. Neighbouring threads copy the pieces of a record, with several pieces in
/// flight.
template <typename Piece>
__device__ void CopyRecords(DeviceMatrixView const& m, DrawnRows const& drawn, SampleView const& sample) {
  constexpr int kInFlight = 4;
  std::uint32_t const shift = PieceShift<Piece>(m);
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

template <typename Chances, typename Gradients>
__global__ void __launch_bounds__(kThreads, kResident)
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
  RandomStream const rounding{draw->seed, RandomPurpose::kRounding, draw->tree, 0};
  EarlyNarrow narrow{sample.early};
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kDrawnRows; base < matrix.rows;
       base += std::uint64_t{gridDim.x} * kDrawnRows) {
    std::uint64_t const first = base + threadIdx.x * kLaneRows;
    std::uint32_t drawn = 0;  // bit i: row first + i
#pragma unroll
    for (int i = 0; i < kLaneRows; i += kWordRows) {
      if (first + i >= matrix.rows) break;
      drawn |= chances.Draw(first + i, stream.Four(draw->first_row + static_cast<std::uint32_t>(first + i))) << i;
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
      if (sample.paths != nullptr) sample.paths[place + i] = 0;
      if (!narrow.on()) continue;
      NarrowGradient q[1];
      narrow.Add<1>({v}, {rounding.Word(draw->first_row + static_cast<RowIndex>(row))}, q);
      sample.early.narrow[place + i] = q[0];
    }
    if (sample.records != nullptr) {
      WithPiece(matrix.record_bytes(), [&](auto piece) { CopyRecords<decltype(piece)>(matrix, rows, sample); });
    }
    __syncthreads();  // the next turn reuses the shared words
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) gradients.Raise(&grad_max, &hess_max);
  RaiseToBlockMax<kThreads>(grad_max, hess_max, &gradient->maxima.grad, &gradient->maxima.hess);
  narrow.HandOn<kThreads>(&gradient->early);
}

template <typename Chances>
__global__ void __launch_bounds__(kThreads, kResident)
    MarkRowsKernel(GivenGradients gradients, std::uint64_t rows, SampleDraw const* draw, SampleView sample,
                   NodeIndex* nodes, GradientState* gradient) {
  __shared__ std::uint64_t table[Chances::kTable];
  __shared__ std::uint32_t drawn_of_block;
  WaitForKernelBefore();
  if (threadIdx.x == 0) drawn_of_block = 0;
  RandomStream const stream{draw->seed, RandomPurpose::kRowSample, draw->tree, 0};
  Chances const chances{*draw, sample, table};
  __syncthreads();
  std::uint32_t grad_max = 0, hess_max = 0, count = 0;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) * kWordRows; first < rows;
       first += std::uint64_t{gridDim.x} * kThreads * kWordRows) {
    std::uint32_t const drawn = chances.Draw(first, stream.Four(draw->first_row + static_cast<std::uint32_t>(first)));
#pragma unroll
    for (int i = 0; i < kWordRows; ++i) {
      std::uint64_t const row = first + static_cast<std::uint64_t>(i);
      if (row >= rows) break;
      bool const in = ((drawn >> i) & 1U) != 0;
      nodes[row] = in ? 0 : ~0;
      if (!in) continue;
      ++count;
      GradientPair v = gradients.Of(row, nullptr);
      if (max(MagnitudeBits(v.grad), MagnitudeBits(v.hess)) < kNotFiniteBits) v = chances.Weigh(row, v);
      grad_max = max(grad_max, MagnitudeBits(v.grad));
      hess_max = max(hess_max, MagnitudeBits(v.hess));
    }
  }
  if (count != 0) atomicAdd(&drawn_of_block, count);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&sample.state->rows, drawn_of_block);
  if (blockIdx.x == 0 && threadIdx.x == 0) gradients.Raise(&grad_max, &hess_max);
  RaiseToBlockMax<kThreads>(grad_max, hess_max, &gradient->maxima.grad, &gradient->maxima.hess);
}

/// ChooseSampleFormat for marked rows.
__global__ void __launch_bounds__(kThreads)
    MarkedFormatKernel(GradientPair const* gradients, std::uint64_t rows, RowChances chances, NodeIndex const* nodes,
                       SampleState const* sample, bool alone, SampleDraw const* draw, GradientState* state) {
  WaitForKernelBefore();
  std::uint64_t const all = alone ? sample->rows : static_cast<std::uint64_t>(sample->rows_of_all);
  ChooseBySums<kThreads>(all, state->maxima, alone, draw->min_child_weight, state, [&](auto&& f) {
    std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) {
      if (nodes[row] >= 0) f(chances.Weigh(row, gradients[row]));
    }
  });
}

/// Copies records. A thread has a piece of a row of the sample.
template <typename Piece>
__global__ void __launch_bounds__(kThreads)
    CopyRecordsKernel(DeviceMatrixView page, std::uint64_t first_row, SampleView sample) {
  WaitForKernelBefore();
  std::uint32_t const shift = PieceShift<Piece>(page);
  std::uint64_t const pieces = std::uint64_t{sample.size()} << shift;
  for (std::uint64_t p = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; p < pieces;
       p += std::uint64_t{gridDim.x} * kThreads) {
    std::uint64_t const i = p >> shift, row = std::uint64_t{sample.rows[i].row} - first_row;
    if (row >= page.rows) continue;
    std::uint64_t const piece = p - (i << shift);
    for (std::uint64_t tile = 0; tile < page.tiles; ++tile) {
      auto const* const from = reinterpret_cast<Piece const*>(page.records) + ((tile * page.rows + row) << shift);
      auto* const to = reinterpret_cast<Piece*>(sample.records) + ((tile * sample.capacity + i) << shift);
      to[piece] = from[piece];
    }
  }
}

template <typename Chances, typename Gradients>
void DrawRows(Gradients const& gradients, DeviceMatrixView const& matrix, SampleDraw const* draw,
              SampleView const& sample, GradientState* gradient, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("sampling rows", DrawRowsKernel<Chances, Gradients>, Blocks(matrix.rows, kDrawnRows, limits, kResident),
             kThreads, 0, limits, stream, gradients, matrix, draw, sample, gradient);
}

/// Sums the counts of keys over all devices, and takes the largest key.
void ShareKeys(SampleView const& sample, DeviceShard const& shard, cudaStream_t stream) {
  if (shard.alone()) return;
  // Two counts share one integer. Neither overflows its half: it counts rows, of which there are fewer than 2^32.
  static_assert(sizeof(sample.key_counts->of) == kKeys / 2 * sizeof(std::int64_t));
  shard.devices->Sum(reinterpret_cast<std::int64_t*>(sample.key_counts->of), kKeys / 2, stream);
  DeviceNumbers numbers;
  numbers.largest = numbers.largest_of_all = &sample.state->largest_key;
  numbers.largest_count = 1;
  shard.devices->Combine(numbers, nullptr, stream);
}

/// Combines maxima, early sums and the number of rows over all devices.
void ShareSample(SampleView const& sample, GradientState* gradient, DeviceShard const& shard, cudaStream_t stream) {
  ShareMaxima(shard, &gradient->maxima, gradient, stream, &sample.state->rows, &sample.state->rows_of_all);
}

/// Finds the chances of rows, if they depend on gradients.
template <typename Gradients>
void FindChances(Gradients const& gradients, std::uint64_t rows, SampleDraw const* draw, SampleView const& sample,
                 DeviceShard const& shard, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("looking for the threshold of a sample", CountKeysKernel<Gradients>,
             Blocks(rows, kCountThreads * kWordRows, limits, kCountResident), kCountThreads, 0, limits, stream,
             gradients, rows, draw, sample);
  ShareKeys(sample, shard, stream);
  LaunchNext("looking for the threshold of a sample", FindRuleKernel, 1, kCountThreads, 0, limits, stream,
             shard.all_rows(), draw, sample);
}

template <typename Gradients>
void Sample(Gradients const& gradients, DeviceMatrixView const& matrix, SampleDraw const* draw,
            SampleView const& sample, GradientState* gradient, DeviceShard const& shard, DeviceLimits const& limits,
            cudaStream_t stream) {
  if (sample.key_counts == nullptr) {
    DrawRows<OneChance>(gradients, matrix, draw, sample, gradient, limits, stream);
    return;
  }
  FindChances(gradients, matrix.rows, draw, sample, shard, limits, stream);
  DrawRows<KeyChances>(gradients, matrix, draw, sample, gradient, limits, stream);
}

}  // namespace

void SampleRows(DeviceGradients const& gradients, RowLosses const* losses, DeviceMatrixView const& matrix,
                SampleDraw const* draw, SampleView const& sample, GradientState* gradient, DeviceShard const& shard,
                DeviceLimits const& limits, cudaStream_t stream) {
  if (losses != nullptr) {
    VisitLoss(losses->objective, [&](auto loss) {
      using Loss = decltype(loss);
      if constexpr (std::is_same_v<Loss, SquaredErrorLoss> || std::is_same_v<Loss, LogisticLoss>) {
        Sample(ComputedGradients<Loss>{{loss, losses->labels, losses->weights}}, matrix, draw, sample, gradient, shard,
               limits, stream);
      }
    });
  } else {
    GradientMaxima const* maxima = gradients.maxima;
    if (maxima == nullptr) {
      FindLargestGradients(gradients.pairs, matrix.rows, &sample.state->maxima, limits, stream);
      maxima = &sample.state->maxima;
    }
    Sample(GivenGradients{gradients.pairs, maxima}, matrix, draw, sample, gradient, shard, limits, stream);
  }
  ShareSample(sample, gradient, shard, stream);
  SampledGradients const sampled{sample.rows,
                                 sample.gradients,
                                 sample.by_row != nullptr ? sample.by_row : gradients.pairs,
                                 &sample.state->rows,
                                 shard.alone() ? nullptr : &sample.state->rows_of_all,
                                 sample.early};
  ChooseSampleFormat(sampled, sample.capacity, shard, draw, gradient, limits, stream);
}

void MarkRows(DeviceGradients const& gradients, std::uint64_t rows, SampleDraw const* draw, SampleView const& sample,
              NodeIndex* nodes, GradientState* gradient, DeviceShard const& shard, DeviceLimits const& limits,
              cudaStream_t stream) {
  GradientMaxima const* maxima = gradients.maxima;
  if (maxima == nullptr) {
    FindLargestGradients(gradients.pairs, rows, &sample.state->maxima, limits, stream);
    maxima = &sample.state->maxima;
  }
  GivenGradients const given{gradients.pairs, maxima};
  bool const weighted = sample.key_counts != nullptr;
  if (weighted) FindChances(given, rows, draw, sample, shard, limits, stream);
  LaunchNext("sampling rows", weighted ? MarkRowsKernel<KeyChances> : MarkRowsKernel<OneChance>,
             Blocks(rows, kThreads * kWordRows, limits, kResident), kThreads, 0, limits, stream, given, rows, draw,
             sample, nodes, gradient);
  ShareSample(sample, gradient, shard, stream);
  RowChances const chances = weighted ? RowChances{sample.keys, &sample.state->rule} : RowChances{};
  LaunchNext("choosing the format of the gradients", MarkedFormatKernel, Blocks(rows, kThreads * 4, limits, kResident),
             kThreads, 0, limits, stream, gradients.pairs, rows, chances, nodes, sample.state, shard.alone(), draw,
             gradient);
  FinishFormat(shard, shard.alone() ? nullptr : &sample.state->rows_of_all, draw, gradient, limits, stream);
}

void CopySampledRecords(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const& sample,
                        DeviceLimits const& limits, cudaStream_t stream) {
  std::uint32_t const bytes = page.record_bytes();
  auto* const kernel = bytes == 4 ? CopyRecordsKernel<std::uint32_t>
                                  : (bytes == 8 ? CopyRecordsKernel<uint2> : CopyRecordsKernel<uint4>);
  LaunchNext("copying sampled rows", kernel, Blocks(sample.capacity, kThreads, limits, 2 * kResident), kThreads, 0,
             limits, stream, page, first_row, sample);
}

}  // namespace xgbgpu::cuda
