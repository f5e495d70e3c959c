/// Shared parts of the kernels over lists: the entries of a tile with their nodes, and the scan over tiles.
#ifndef XGBGPU_EXACT_TILES_CUH_
#define XGBGPU_EXACT_TILES_CUH_

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cuda/atomic>

#include "cuda/grid.h"
#include "cuda/warp_search.cuh"
#include "exact/exact_cuda.h"

namespace xgbgpu::cuda {

struct Max {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__device__ inline TileSpan LoadSpan(ExactLists const& lists, std::uint32_t tile) {
  uint4 const words = __ldg(reinterpret_cast<uint4 const*>(lists.spans + tile));
  TileSpan span;
  memcpy(&span, &words, sizeof(span));
  return span;
}

/// Returns the offsets of the nodes' entries [nodes + 1].
__device__ inline std::uint64_t const* BeginsOf(ExactLists const& lists, FeatureIndex feature) {
  return lists.begin + std::size_t{feature} * (lists.nodes + 1);
}

/// Writes begins [kTileEntries], in shared memory: 1 + the node that begins at an entry, or 0. All kThreads of the
/// block call it.
template <int kThreads>
__device__ void MarkHeads(ExactLists const& lists, FeatureIndex feature, TileSpan const& span, int* begins) {
  std::uint64_t const* const begin = BeginsOf(lists, feature);
  for (int i = static_cast<int>(threadIdx.x); i < kTileEntries; i += kThreads) begins[i] = 0;
  __syncthreads();
  for (std::uint32_t n = static_cast<std::uint32_t>(span.node) + threadIdx.x; n < lists.nodes; n += kThreads) {
    std::uint64_t const at = begin[n];
    if (at >= span.first + static_cast<std::uint64_t>(span.count)) break;
    if (at >= span.first)
      atomicMax(&begins[at - span.first], static_cast<int>(n) + 1);  // empty nodes begin at the same entry
  }
  __syncthreads();
}

/// Consecutive entries of a tile that one of kThreads threads takes.
template <int kThreads>
struct TileEntries {
  static constexpr int kItems = kTileEntries / kThreads;

  std::uint32_t entry[kItems];
  std::uint32_t heads;      ///< bit i: entry i is the first of its node
  int count;                ///< number of entries before the end of the list
  std::uint64_t place;      ///< place of entry 0 in the list
  int first_node;           ///< node of entry 0
  int const* begins_after;  ///< [kItems] of the thread's entries; see MarkHeads

  __device__ bool IsHead(int i) const { return (heads >> i) & 1U; }
  /// Returns the node of entry i, which must be a head.
  __device__ int NodeOfHead(int i) const { return begins_after[i] - 1; }
};

/// Loads a tile in blocked order. All kThreads of the block call its functions.
template <int kThreads>
class TileLoader {
  static constexpr int kItems = TileEntries<kThreads>::kItems;
  // A list is read once. Streamed loads leave the cache to gradients and ranks, which are read in random order.
  using Streamed = cub::CacheModifiedInputIterator<cub::LOAD_CS, std::uint32_t>;
  using Load = cub::BlockLoad<std::uint32_t, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads>;

 public:
  struct Storage {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    int begins[kTileEntries];
  };

  /// Loads the entries of a full tile.
  __device__ static void Full(ExactLists const& lists, TileSpan const& span, Storage* s, std::uint32_t* entries) {
    Load{s->load}.Load(Streamed{lists.entries + span.first}, *reinterpret_cast<std::uint32_t(*)[kItems]>(entries));
  }

  /// Loads the entries of any tile, and marks the heads.
  __device__ static void Run(ExactLists const& lists, FeatureIndex feature, TileSpan const& span, Storage* s,
                             TileEntries<kThreads>* out) {
    Load{s->load}.Load(Streamed{lists.entries + span.first}, out->entry, span.count, 0U);
    MarkHeads<kThreads>(lists, feature, span, s->begins);
    int const mine = static_cast<int>(threadIdx.x) * kItems, left = span.count - mine;
    out->place = span.first + static_cast<std::uint64_t>(mine);
    out->count = left < 0 ? 0 : (left < kItems ? left : kItems);
    out->begins_after = s->begins + mine;
    out->heads = 0;
    int last = 0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      int const here = out->begins_after[i];
      if (here != 0) out->heads |= 1U << i;
      last = here > last ? here : last;
    }
    int before;
    Scan{s->scan}.ExclusiveScan(last, before, span.node + 1, Max{});
    int const own = out->begins_after[0];
    out->first_node = (own != 0 ? own : before) - 1;
  }
};

using StateWord = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;

/// Returns the sum over the tiles before `tile` in its column, from the last tile with a head on. All threads of a warp
/// call it. Value::Join(earlier, later) must be associative, with Value{} as its identity.
///
/// From  Merrill & Garland, "Single-pass parallel prefix scan with decoupled look-back", NVR-2016-002
template <typename Value>
__device__ Value LookBack(TileStates const& states, ExactTile tile) {
  int const lane = static_cast<int>(threadIdx.x) % 32;
  std::int64_t last = static_cast<std::int64_t>(tile.place) - 1;  // the nearest tile that `sum` does not include
  std::int64_t const first = static_cast<std::int64_t>(tile.place) - tile.index;
  Value sum{};
  for (;;) {
    std::int64_t const place = last - lane;
    bool whole = true;
    Value value{};
    if (place >= first) value = Value::Load(states, static_cast<std::uint32_t>(place), &whole);
    unsigned const wholes = __ballot_sync(kAllLanes, whole);
    int const nearest = wholes == 0 ? 31 : __ffs(static_cast<int>(wholes)) - 1;
    for (int d = 1; d < 32; d *= 2) {  // higher lanes have earlier tiles
      Value const earlier = value.FromLane(lane + d);
      if (lane + d <= nearest) value = Value::Join(earlier, value);
    }
    sum = Value::Join(value.FromLane(0), sum);
    if (wholes != 0) return sum;
    last -= 32;
  }
}

/// Publishes a tile's aggregate or, if `is_whole`, its inclusive prefix. One thread calls it. The tag of every word has
/// the kind of the sum and the kernel's epoch, so that words may be stored and loaded in any order.
template <int kWords>
__device__ void StoreState(TileStates const& states, std::uint32_t place, bool is_whole,
                           std::uint32_t const (&values)[kWords]) {
  static_assert(kWords <= kStateWords);
  std::uint32_t const tag = states.epoch << 1 | (is_whole ? 1U : 0U);
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    StateWord word{states.words[kStateWords * std::size_t{place} + static_cast<std::size_t>(w)]};
    word.store(static_cast<unsigned long long>(tag) << 32 | values[w], ::cuda::memory_order_relaxed);
  }
}
/// Waits for the sum of the tile at `place`.
template <int kWords>
__device__ void LoadState(TileStates const& states, std::uint32_t place, bool* is_whole,
                          std::uint32_t (&values)[kWords]) {
  for (;;) {
    std::uint32_t tags[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      StateWord word{states.words[kStateWords * std::size_t{place} + static_cast<std::size_t>(w)]};
      unsigned long long const found = word.load(::cuda::memory_order_relaxed);
      tags[w] = static_cast<std::uint32_t>(found >> 32);
      values[w] = static_cast<std::uint32_t>(found);
    }
    bool agree = tags[0] >> 1 == states.epoch;
#pragma unroll
    for (int w = 1; w < kWords; ++w) agree = agree && tags[w] == tags[0];
    *is_whole = (tags[0] & 1U) != 0;
    if (agree) return;
  }
}

/// The value of LookBack for sums of gradients.
struct CarriedSum {
  GradientSum sum;

  __device__ void Store(TileStates const& states, std::uint32_t place, bool is_whole) const {
    std::uint32_t const words[4] = {
        static_cast<std::uint32_t>(sum.grad), static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum.grad) >> 32),
        static_cast<std::uint32_t>(sum.hess), static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum.hess) >> 32)};
    StoreState(states, place, is_whole, words);
  }
  __device__ static CarriedSum Load(TileStates const& states, std::uint32_t place, bool* is_whole) {
    std::uint32_t words[4];
    LoadState(states, place, is_whole, words);
    return {{static_cast<std::int64_t>(std::uint64_t{words[1]} << 32 | words[0]),
             static_cast<std::int64_t>(std::uint64_t{words[3]} << 32 | words[2])}};
  }
  __device__ CarriedSum FromLane(int lane) const {
    return {{static_cast<std::int64_t>(__shfl_sync(kAllLanes, static_cast<long long>(sum.grad), lane)),
             static_cast<std::int64_t>(__shfl_sync(kAllLanes, static_cast<long long>(sum.hess), lane))}};
  }
  __device__ static CarriedSum Join(CarriedSum const& a, CarriedSum const& b) { return {a.sum + b.sum}; }
};

/// Publishes the sum over a tile, from its last head on if it has one, and returns the exclusive prefix of the tile.
/// The first warp calls it.
template <typename Value>
__device__ Value ExclusivePrefix(TileStates const& states, ExactTile tile, bool begins_node, bool has_head, Value all) {
  bool const whole = has_head || begins_node || tile.index == 0;
  if (threadIdx.x == 0) all.Store(states, tile.place, whole);
  if (begins_node) return Value{};
  Value const sum = LookBack<Value>(states, tile);
  if (threadIdx.x == 0 && !whole) Value::Join(sum, all).Store(states, tile.place, true);
  return sum;
}

__device__ inline RowIndex RowOf(std::uint32_t entry) { return entry & ~kNewValue; }

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_TILES_CUH_
