// Counts sort keys of rows and pairs in device memory.
#include "cuda/grid.h"
#include "quantile/key_counts_cuda.h"
#include "quantile/key_tiles.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kWhat = "counting values";

/// Adds `amount` to sums[i] unless i is kNoCounter. All lanes of a warp call it. Lanes with the first lane's sum are
/// added together, and then lanes with the sum of the first remaining lane.
template <typename Sum>
__device__ void AddOfWarp(Sum* sums, std::uint64_t i, Sum amount) {
  for (int turn = 0; turn < 2; ++turn) {
    unsigned const left = __ballot_sync(kAllLanes, i != kNoCounter);
    if (left == 0) return;
    int const leader = __ffs(static_cast<int>(left)) - 1;
    std::uint64_t const of_leader = __shfl_sync(kAllLanes, i, leader);  // called by every lane
    bool const same = i == of_leader;
    unsigned const peers = __ballot_sync(kAllLanes, same);
    Sum const sum = __popc(peers) == 1 ? amount : WarpSum(same ? amount : Sum{0});
    if (static_cast<int>(threadIdx.x % 32) == leader) atomicAdd(sums + i, sum);
    if (same) i = kNoCounter;
  }
  if (i != kNoCounter) atomicAdd(sums + i, amount);
}

// Kernels call the functions below with a value in every lane, or without one where `present` is false. A value that
// does not count has weight 0.

template <typename Weight>
struct AddToCounters {
  PrefixView view;
  Weight* counters;

  __device__ void operator()(bool present, std::uint32_t column, std::uint32_t key, std::int64_t weight) const {
    AddOfWarp(counters, present && weight != 0 ? view.CounterOf(column, key) : kNoCounter, static_cast<Weight>(weight));
  }
};

struct FindEnds {
  EndsView ends;

  __device__ void operator()(bool present, std::uint32_t column, std::uint32_t key, std::int64_t weight) const {
    AddOfWarp(ends.values, present ? column : kNoCounter, 1ULL);
    if (!present || weight == 0) return;
    // Most keys do not change the ends.
    if (key < __ldcg(ends.first + column)) atomicMin(ends.first + column, key);
    if (key > __ldcg(ends.last + column)) atomicMax(ends.last + column, key);
  }
};

/// Resets the weights of ends that other keys have replaced.
__global__ void ForgetWeightsKernel(EndsView ends, std::uint32_t columns) {
  for (std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x; c < columns; c += gridDim.x * blockDim.x) {
    if (ends.weighed_first[c] != ends.first[c]) ends.first_weight[c] = 0;
    if (ends.weighed_last[c] != ends.last[c]) ends.last_weight[c] = 0;
    ends.weighed_first[c] = ends.first[c];
    ends.weighed_last[c] = ends.last[c];
  }
}

struct WeighEnds {
  EndsView ends;

  __device__ void operator()(bool present, std::uint32_t column, std::uint32_t key, std::int64_t weight) const {
    bool const counts = present && weight != 0;
    auto const amount = static_cast<unsigned long long>(weight);
    AddOfWarp(ends.first_weight, counts && key == ends.first[column] ? column : kNoCounter, amount);
    AddOfWarp(ends.last_weight, counts && key == ends.last[column] ? column : kNoCounter, amount);
  }
};

template <typename T, typename Visit>
__global__ void VisitRowsKernel(ValueRows<T> rows, WeightsView weights, Visit visit) {
  ForEachKey(rows, [&](bool inside, std::uint64_t column, std::uint64_t row, std::uint32_t key) {
    bool const present = inside && key != kNoKey;
    visit(present, static_cast<std::uint32_t>(column), key, present ? weights.Of(row) : 0);
  });
}

/// Visits pairs of PackPairs.
template <typename Visit>
__global__ void VisitPairsKernel(std::uint64_t const* pairs, WeightsView weights, std::uint64_t n, Visit visit) {
  for (std::uint64_t base = blockIdx.x * std::uint64_t{kThreads}; base < n;
       base += gridDim.x * std::uint64_t{kThreads}) {
    std::uint64_t const i = base + threadIdx.x;
    std::uint64_t const pair = i < n ? pairs[i] : kNoKey;
    auto const key = static_cast<std::uint32_t>(pair);
    visit(i < n, static_cast<std::uint32_t>(pair >> 32), key, key != kNoKey ? weights.Of(i) : 0);
  }
}

/// visit_all(visit) enqueues a kernel that visits all values of a piece.
template <typename Weight, typename VisitAll>
void CountKeys(KeyCountsView<Weight> const& counts, cudaStream_t stream, VisitAll const& visit_all) {
  visit_all(AddToCounters<Weight>{counts.prefixes, counts.counters});
  if (!counts.prefixes.digit.IsFirst()) return;
  visit_all(FindEnds{counts.ends});
  unsigned const blocks = Blocks(counts.columns, kThreads, CurrentDeviceLimits(), kResident);
  ForgetWeightsKernel<<<blocks, kThreads, 0, stream>>>(counts.ends, counts.columns);
  CheckLaunch(kWhat);
  visit_all(WeighEnds{counts.ends});
}

}  // namespace

template <typename Weight>
void CountRows(ArrayPiece const& piece, WeightsView const& weights, KeyCountsView<Weight> const& counts,
               cudaStream_t stream) {
  CountKeys(counts, stream, [&](auto const& visit) {
    VisitValues(piece.values, [&](auto const* values) {
      VisitRowsKernel<<<KeyTileBlocks(piece.n, counts.columns), KeyTileThreads(), 0, stream>>>(
          RowsOfPiece(values, piece, counts.columns), weights, visit);
    });
    CheckLaunch(kWhat);
  });
}

template <typename Weight>
void CountPairs(std::uint64_t const* pairs, std::uint64_t n, WeightsView const& weights,
                KeyCountsView<Weight> const& counts, cudaStream_t stream) {
  unsigned const blocks = Blocks(n, kThreads, CurrentDeviceLimits(), kResident);
  CountKeys(counts, stream, [&](auto const& visit) {
    VisitPairsKernel<<<blocks, kThreads, 0, stream>>>(pairs, weights, n, visit);
    CheckLaunch(kWhat);
  });
}

template void CountRows(ArrayPiece const&, WeightsView const&, KeyCountsView<std::uint32_t> const&, cudaStream_t);
template void CountRows(ArrayPiece const&, WeightsView const&, KeyCountsView<unsigned long long> const&, cudaStream_t);
template void CountPairs(std::uint64_t const*, std::uint64_t, WeightsView const&, KeyCountsView<std::uint32_t> const&,
                         cudaStream_t);
template void CountPairs(std::uint64_t const*, std::uint64_t, WeightsView const&,
                         KeyCountsView<unsigned long long> const&, cudaStream_t);

}  // namespace xgbgpu::cuda
