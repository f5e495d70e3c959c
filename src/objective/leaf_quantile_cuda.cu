// Computes quantiles of leaves on a device by a radix sort of residuals.
#include <cub/device/device_radix_sort.cuh>

#include "base/float_bits.h"
#include "core/search.h"
#include "cuda/grid.h"
#include "objective/leaf_quantile_cuda.h"
#include "objective/leaf_quantile_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kWarp = 32;
constexpr int kVector = 4;                                // floats in one load
constexpr int kLaneWeights = 8;                           // weights that a lane loads for each step of the sum
constexpr int kStep = kWarp * kLaneWeights;               // weights of a step
constexpr int kDigitBits = 4, kDigits = 1 << kDigitBits;  // of a key, which several devices search digit by digit
constexpr char const* kWhat = "setting leaves to quantiles";

__device__ std::uint64_t FirstIndex() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ std::uint64_t IndexStep() { return std::uint64_t{gridDim.x} * kThreads; }

__global__ void __launch_bounds__(kThreads)
    ResidualsKernel(float const* labels, float const* margins, std::uint64_t rows, float* residuals) {
  for (std::uint64_t row = FirstIndex(); row < rows; row += IndexStep()) residuals[row] = labels[row] - margins[row];
}

/// Writes keys: the upper half is the leaf, or `nodes` for rows that do not count, and the lower half the residual.
template <bool kWeighted>
__global__ void __launch_bounds__(kThreads)
    KeysKernel(NodeIndex const* positions, float const* residuals, float const* weights, std::uint64_t rows,
               std::uint32_t nodes, std::uint64_t* keys, std::uint32_t* row_of) {
  for (std::uint64_t row = FirstIndex(); row < rows; row += IndexStep()) {
    NodeIndex const position = positions[row];
    std::uint64_t const leaf = CountsInLeaf(position, weights, row) ? static_cast<std::uint32_t>(position) : nodes;
    keys[row] = leaf << 32 | (kWeighted ? ResidualKey(residuals[row]) : InvertibleKey(residuals[row]));
    if (kWeighted) row_of[row] = static_cast<std::uint32_t>(row);
  }
}

__global__ void __launch_bounds__(kThreads)
    SortedWeightsKernel(float const* weights, std::uint32_t const* row_of, std::uint64_t rows, float* sorted) {
  for (std::uint64_t i = FirstIndex(); i < rows; i += IndexStep()) sorted[i] = weights[row_of[i]];
}

/// The keys of rows, sorted by leaf, then by residual.
struct SortedKeys {
  std::uint64_t const* keys;  ///< [rows]
  std::uint64_t rows;

  /// Returns the index of the first row of `leaf` or of a later leaf.
  __device__ std::uint64_t Begin(std::uint64_t leaf) const { return FirstFrom(leaf << 32); }
  /// Returns the index of the first row with this key or a larger one.
  __device__ std::uint64_t FirstFrom(std::uint64_t key) const {
    return FirstWhere(std::uint64_t{0}, rows, [&](std::uint64_t i) { return keys[i] >= key; });
  }
  __device__ float Residual(std::uint64_t i) const { return ValueOfKey(static_cast<std::uint32_t>(keys[i])); }
};

/// Replaces weights[begin … end - 1] by their inclusive prefix sums. Lane 0 makes one addition after another, and all
/// lanes load and store. The whole warp calls it, and sees the sums afterwards.
__device__ void SumInOrder(float* weights, std::uint64_t begin, std::uint64_t end) {
  __shared__ float4 step[kStep / kVector];
  auto* const shared = reinterpret_cast<float*>(step);
  unsigned const lane = threadIdx.x;
  float mine[kLaneWeights];
  auto const fetch = [&](std::uint64_t base) {
    for (int k = 0; k < kLaneWeights; ++k) {
      std::uint64_t const i = base + k * kWarp + lane;
      mine[k] = i < end ? weights[i] : 0.0f;
    }
  };
  float sum = 0.0f;
  fetch(begin);
  for (std::uint64_t base = begin; base < end; base += kStep) {
    for (int k = 0; k < kLaneWeights; ++k) shared[k * kWarp + lane] = mine[k];
    __syncwarp();
    fetch(base + kStep);  // in flight while lane 0 adds
    if (lane == 0) {
      for (float4& v : step) {
        float4 sums = v;
        sum = sums.x = sum + sums.x;
        sum = sums.y = sum + sums.y;
        sum = sums.z = sum + sums.z;
        sum = sums.w = sum + sums.w;
        v = sums;
      }
    }
    __syncwarp();
    for (int k = 0; k < kLaneWeights; ++k) {
      std::uint64_t const i = base + k * kWarp + lane;
      if (i < end) weights[i] = shared[k * kWarp + lane];
    }
    __syncwarp();
  }
}

/// Finds quantiles without weights. A thread takes a node.
__global__ void __launch_bounds__(kThreads)
    QuantilesKernel(SortedKeys sorted, double alpha, std::uint32_t nodes, float* node_values) {
  for (std::uint64_t leaf = FirstIndex(); leaf < nodes; leaf += IndexStep()) {
    std::uint64_t const begin = sorted.Begin(leaf), n = sorted.Begin(leaf + 1) - begin;
    if (n == 0) continue;
    QuantilePlace const place = PlaceOfQuantile(n, alpha);
    std::uint64_t const low = begin + place.low;
    node_values[leaf] = QuantileOf(place, sorted.Residual(low), sorted.Residual(place.is_end ? low : low + 1));
  }
}

/// Finds quantiles with weights. A warp takes a node. `row_of` and `weights` belong to sorted rows; the weights are
/// overwritten.
__global__ void __launch_bounds__(kWarp)
    WeightedQuantilesKernel(SortedKeys sorted, std::uint32_t const* row_of, float const* residuals, float* weights,
                            double alpha, float* node_values) {
  std::uint64_t const leaf = blockIdx.x;
  std::uint64_t const begin = sorted.Begin(leaf), end = sorted.Begin(leaf + 1);
  if (begin == end) return;
  SumInOrder(weights, begin, end);
  if (threadIdx.x == 0)
    node_values[leaf] = residuals[row_of[begin + ShareOfWeight(weights + begin, end - begin, alpha)]];
}

// Without weights, of the rows of several devices: the keys of two residuals of each leaf are found from their highest
// digit on. For each digit every device counts its rows with the digits known so far and each next digit.

/// Counts this device's rows of each leaf.
__global__ void __launch_bounds__(kThreads)
    LeafRowsKernel(SortedKeys sorted, std::uint32_t nodes, std::int64_t* counts) {
  for (std::uint64_t leaf = FirstIndex(); leaf < nodes; leaf += IndexStep())
    counts[leaf] = static_cast<std::int64_t>(sorted.Begin(leaf + 1) - sorted.Begin(leaf));
}

/// `counts`: the rows of each leaf on all devices.
__global__ void __launch_bounds__(kThreads)
    BeginSearchKernel(std::int64_t const* counts, double alpha, std::uint32_t nodes, LeafSearch* searches) {
  for (std::uint64_t leaf = FirstIndex(); leaf < nodes; leaf += IndexStep()) {
    auto const n = static_cast<std::uint64_t>(counts[leaf]);
    LeafSearch search{{}, {0, 0}, {0, 0}, n != 0};
    if (n != 0) search.place = PlaceOfQuantile(n, alpha);
    search.rank[0] = search.place.low;
    search.rank[1] = search.place.low + (search.place.is_end ? 0 : 1);
    searches[leaf] = search;
  }
}

/// Counts this device's rows: counts[leaf][key of the search][digit]. A thread takes a count.
__global__ void __launch_bounds__(kThreads) CountDigitsKernel(SortedKeys sorted, LeafSearch const* searches,
                                                              std::uint32_t nodes, int shift, std::int64_t* counts) {
  std::uint64_t const n = std::uint64_t{nodes} * 2 * kDigits;
  for (std::uint64_t i = FirstIndex(); i < n; i += IndexStep()) {
    std::uint64_t const digit = i % kDigits, which = i / kDigits % 2, leaf = i / kDigits / 2;
    LeafSearch const& search = searches[leaf];
    if (!search.has_rows) {
      counts[i] = 0;
      continue;
    }
    std::uint64_t const first = leaf << 32 | search.key[which] | digit << shift;
    std::uint64_t const next = first + (std::uint64_t{1} << shift);
    counts[i] = static_cast<std::int64_t>(sorted.FirstFrom(next) - sorted.FirstFrom(first));
  }
}

/// Appends a digit to each key of the searches. `counts`: of CountDigitsKernel, added up over all devices.
__global__ void __launch_bounds__(kThreads)
    AppendDigitsKernel(std::int64_t const* counts, std::uint32_t nodes, int shift, LeafSearch* searches) {
  for (std::uint64_t i = FirstIndex(); i < std::uint64_t{nodes} * 2; i += IndexStep()) {
    LeafSearch& search = searches[i / 2];
    std::uint64_t rank = search.rank[i % 2];
    std::uint32_t digit = 0;
    for (; digit + 1 < kDigits; ++digit) {
      auto const count = static_cast<std::uint64_t>(counts[i * kDigits + digit]);
      if (rank < count) break;
      rank -= count;
    }
    search.rank[i % 2] = rank;
    search.key[i % 2] |= digit << shift;
  }
}

__global__ void __launch_bounds__(kThreads)
    EndSearchKernel(LeafSearch const* searches, std::uint32_t nodes, float* node_values) {
  for (std::uint64_t leaf = FirstIndex(); leaf < nodes; leaf += IndexStep()) {
    LeafSearch const& search = searches[leaf];
    if (!search.has_rows) continue;
    node_values[leaf] = QuantileOf(search.place, ValueOfKey(search.key[0]), ValueOfKey(search.key[1]));
  }
}

/// Finds quantiles without weights, of the rows of all devices.
void SearchQuantiles(SortedKeys const& sorted, double alpha, std::uint32_t nodes, float* node_values,
                     LeafQuantileScratch* scratch, DeviceLimits const& limits, cudaStream_t stream,
                     DeviceCollective* devices) {
  std::uint64_t const digits = std::uint64_t{nodes} * 2 * kDigits;
  Reserve(&scratch->searches, scratch->arena, "quantiles", nodes);
  Reserve(&scratch->counts, scratch->arena, "quantiles", digits);
  LeafSearch* const searches = scratch->searches.data();
  std::int64_t* const counts = scratch->counts.data();
  auto const blocks = [&](std::uint64_t n) { return Blocks(n, kThreads, limits, kResident); };
  FillBytes(counts, 0, nodes + 1, stream, kWhat);  // the collective sums pairs
  LeafRowsKernel<<<blocks(nodes), kThreads, 0, stream>>>(sorted, nodes, counts);
  CheckLaunch(kWhat);
  devices->Sum(counts, (nodes + 1) / 2 * 2, stream);
  BeginSearchKernel<<<blocks(nodes), kThreads, 0, stream>>>(counts, alpha, nodes, searches);
  for (int shift = 32 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    CountDigitsKernel<<<blocks(digits), kThreads, 0, stream>>>(sorted, searches, nodes, shift, counts);
    CheckLaunch(kWhat);
    devices->Sum(counts, digits, stream);
    AppendDigitsKernel<<<blocks(2 * std::uint64_t{nodes}), kThreads, 0, stream>>>(counts, nodes, shift, searches);
  }
  EndSearchKernel<<<blocks(nodes), kThreads, 0, stream>>>(searches, nodes, node_values);
  CheckLaunch(kWhat);
}

/// Returns the number of bits of a key: 32 of a residual, and the bits of leaves 0 … nodes.
int KeyBits(std::size_t nodes) {
  int bits = 32;
  for (; nodes != 0; nodes /= 2) ++bits;
  return bits;
}

}  // namespace

void ComputeResiduals(float const* labels, float const* margins, std::uint64_t rows, float* residuals,
                      DeviceLimits const& limits, cudaStream_t stream) {
  ResidualsKernel<<<Blocks(rows, kThreads, limits, kResident), kThreads, 0, stream>>>(labels, margins, rows, residuals);
  CheckLaunch("computing residuals");
}

void LeafQuantileScratch::ReserveFor(std::uint64_t row_count, bool weighted) {
  for (auto& buffer : keys) Reserve(&buffer, arena, "quantiles", row_count);
  if (weighted) {
    for (auto& buffer : rows) Reserve(&buffer, arena, "quantiles", row_count);
  }
}

void QuantileLeaves(NodeIndex const* positions, float const* residuals, float const* weights, double alpha,
                    std::uint64_t rows, float* node_values, std::size_t nodes, LeafQuantileScratch* scratch,
                    DeviceLimits const& limits, cudaStream_t stream, DeviceCollective* devices) {
  if (rows == 0) return;
  bool const weighted = weights != nullptr;
  scratch->ReserveFor(rows, weighted);
  cub::DoubleBuffer<std::uint64_t> keys{scratch->keys[0].data(), scratch->keys[1].data()};
  cub::DoubleBuffer<std::uint32_t> row_of{scratch->rows[0].data(), scratch->rows[1].data()};
  auto const node_count = static_cast<std::uint32_t>(nodes);
  unsigned const blocks = Blocks(rows, kThreads, limits, kResident);
  auto* const make_keys = weighted ? KeysKernel<true> : KeysKernel<false>;
  make_keys<<<blocks, kThreads, 0, stream>>>(positions, residuals, weights, rows, node_count, keys.Current(),
                                             row_of.Current());
  CheckLaunch(kWhat);
  int const bits = KeyBits(nodes);
  auto const sort = [&](void* storage, std::size_t* bytes) {
    CheckCuda(weighted ? cub::DeviceRadixSort::SortPairs(storage, *bytes, keys, row_of, rows, 0, bits, stream)
                       : cub::DeviceRadixSort::SortKeys(storage, *bytes, keys, rows, 0, bits, stream),
              kWhat);
  };
  std::size_t bytes = 0;
  sort(nullptr, &bytes);
  Reserve(&scratch->sort, scratch->arena, "scratch of sorting", bytes);
  bytes = scratch->sort.size();
  sort(scratch->sort.data(), &bytes);
  SortedKeys const sorted{keys.Current(), rows};
  if (weighted) {
    auto* const sorted_weights = reinterpret_cast<float*>(row_of.Alternate());  // the sort has ended
    SortedWeightsKernel<<<blocks, kThreads, 0, stream>>>(weights, row_of.Current(), rows, sorted_weights);
    CheckLaunch(kWhat);
    WeightedQuantilesKernel<<<node_count, kWarp, 0, stream>>>(sorted, row_of.Current(), residuals, sorted_weights,
                                                              alpha, node_values);
  } else if (!devices->alone()) {
    SearchQuantiles(sorted, alpha, node_count, node_values, scratch, limits, stream, devices);
  } else {
    QuantilesKernel<<<Blocks(nodes, kThreads, limits, kResident), kThreads, 0, stream>>>(sorted, alpha, node_count,
                                                                                         node_values);
  }
  CheckLaunch(kWhat);
}

}  // namespace xgbgpu::cuda
