// Divides the lists of a level among the children on a device.
#include "core/search.h"
#include "exact/new_values_ops.h"
#include "exact/tiles.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kDivideResident = 4;  // blocks on a multiprocessor: many loads of ranks must be in flight

__device__ RowWord WordOf(RowWord const* words, RowIndex row) {
  uint2 const word = __ldg(reinterpret_cast<uint2 const*>(words) + row / 32);
  return {word.x, word.y};
}

/// Returns the number of earlier rows that go left, with kGoesLeft if the row itself goes left.
__device__ std::uint32_t RankOf(RowWord const* words, RowIndex row) {
  RowWord const word = WordOf(words, row);
  std::uint32_t const bit = row % 32;
  return (word.before + static_cast<std::uint32_t>(__popc(word.left & ((1U << bit) - 1U)))) |
         (((word.left >> bit) & 1U) << 31);
}
constexpr std::uint32_t kGoesLeft = 0x80000000U;

__device__ bool GoesLeft(RowWord const* words, RowIndex row) { return (WordOf(words, row).left >> (row % 32)) & 1U; }

/// Counts the entries of every node and feature that go left, for columns that are not dense. A block takes a tile.
__global__ void __launch_bounds__(kExactThreads) CountLeftKernel(ExactColumns columns, ExactPartition partition) {
  __shared__ TileLoader<kExactThreads>::Storage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  TileSpan const span = LoadSpan(partition.from, blockIdx.x);
  if (span.count == 0 || columns.is_dense[tile.feature]) return;
  std::uint32_t* const counts = partition.left_entries + std::size_t{tile.feature} * partition.from.nodes;
  std::uint32_t left = 0;
  if (span.is_one_node) {
    if (partition.splits.split_of[span.node] < 0) return;
#pragma unroll
    for (int i = 0; i < kExactItems; ++i) {
      int const at = static_cast<int>(threadIdx.x) + i * kExactThreads;
      if (at >= span.count) continue;
      left += GoesLeft(partition.words, RowOf(__ldcs(partition.from.entries + span.first + at))) ? 1U : 0U;
    }
    left = WarpSum(left);
    if (threadIdx.x % 32 == 0 && left != 0) atomicAdd(counts + span.node, left);
    return;
  }
  TileEntries<kExactThreads> t;
  TileLoader<kExactThreads>::Run(partition.from, tile.feature, span, &storage, &t);
  int node = t.first_node;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i >= t.count) continue;
    if (i > 0 && t.IsHead(i)) {
      if (left != 0) atomicAdd(counts + node, left);
      left = 0;
      node = t.NodeOfHead(i);
    }
    left += GoesLeft(partition.words, RowOf(t.entry[i])) ? 1U : 0U;
  }
  if (left != 0) atomicAdd(counts + node, left);
}

/// Writes the spans of tiles. A thread takes a tile.
__global__ void __launch_bounds__(kExactThreads)
    SpanTilesKernel(ExactColumns columns, ExactLists lists, TileSpan* spans) {
  std::uint32_t const t = blockIdx.x * kExactThreads + threadIdx.x;
  if (t >= columns.tile_count) return;
  ExactTile const tile = columns.tiles[t];
  std::uint64_t const* const begin = BeginsOf(lists, tile.feature);
  std::uint64_t const first = columns.column_ptr[tile.feature] + std::uint64_t{tile.index} * kTileEntries;
  std::uint64_t const end = begin[lists.nodes];
  TileSpan span{first, 0, 0, false, false};
  if (first < end && columns.used[tile.feature]) {
    auto const node = RangeOf(lists.nodes, first, [&](auto n) { return begin[n]; });
    span.node = static_cast<std::int32_t>(node);
    span.count = static_cast<std::int16_t>(end - first < kTileEntries ? end - first : kTileEntries);
    span.begins_node = begin[node] == first;
    span.is_one_node = begin[node + 1] >= first + static_cast<std::uint64_t>(span.count);
  }
  spans[t] = span;
}

/// Writes the offsets of the children's entries and rows. A block takes a list.
__global__ void __launch_bounds__(kExactThreads) PlaceChildrenKernel(ExactColumns columns, ExactPartition partition) {
  using Scan = cub::BlockScan<unsigned long long, kExactThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::size_t const nodes = partition.from.nodes;
  std::uint32_t const children = partition.to.nodes;
  std::uint64_t const* const rows = partition.rows.begin;
  auto const left_rows = [&](std::uint64_t row) {  // number of rows before `row` that go left
    return RankOf(partition.words, static_cast<RowIndex>(row)) & ~kGoesLeft;
  };
  for (FeatureIndex f = blockIdx.x; f <= columns.features; f += gridDim.x) {
    bool const of_rows = f == columns.features;
    bool const has_all = of_rows || columns.is_dense[f] != 0;
    std::uint64_t const* const from = partition.from.begin + f * (nodes + 1);
    std::uint64_t* const to = partition.to.begin + std::size_t{f} * (children + 1);
    unsigned long long base = of_rows ? 0 : columns.column_ptr[f];
    for (std::uint32_t first = 0; first < partition.splits.count; first += kExactThreads) {
      std::uint32_t const s = first + threadIdx.x;
      unsigned long long left = 0, right = 0;
      std::uint32_t earlier = 0, n = 0;
      if (s < partition.splits.count) {
        n = partition.splits.splits[s].node;
        if (has_all) {
          earlier = left_rows(rows[n]);
          left = left_rows(rows[n + 1]) - earlier;
        } else {
          left = partition.left_entries[f * nodes + n];
        }
        right = partition.left_only ? 0 : from[n + 1] - from[n] - left;
      }
      unsigned long long before, all;
      Scan{storage}.ExclusiveSum(left + right, before, all);
      before += base;
      if (s < partition.splits.count) {
        std::uint32_t const child = partition.left_only ? s : 2 * s;
        to[child] = before;
        if (!partition.left_only) to[child + 1] = before + left;
        if (of_rows) {
          auto const own = static_cast<std::uint32_t>(before);  // modulo 2^32: see ChildRows
          partition.to.rows[s] = {
              own - earlier, own + static_cast<std::uint32_t>(left) - (static_cast<std::uint32_t>(rows[n]) - earlier)};
        }
      }
      base += all;
      __syncthreads();  // the next turn uses the storage again
    }
    if (threadIdx.x == 0) to[children] = base;
  }
}

/// The value of LookBack for the division of lists. It describes consecutive entries from their last head on.
struct Passed {
  std::uint32_t left;  ///< number of entries that go left
  std::uint32_t bits;

  /// kHead: an entry begins a node. kHasLeft: an entry goes left. kNewLeft: a new value has begun since the last entry
  /// that goes left. kHasRight, kNewRight: the same of the right side.
  static constexpr std::uint32_t kHead = 1, kHasLeft = 4, kNewLeft = 8, kHasRight = 16, kNewRight = 32;

  __device__ bool Has(std::uint32_t bit) const { return (bits & bit) != 0; }
  __device__ Passed FromLane(int lane) const {
    return {__shfl_sync(kAllLanes, left, lane), __shfl_sync(kAllLanes, bits, lane)};
  }
  __device__ void Store(TileStates const& states, std::uint32_t place, bool is_whole) const {
    std::uint32_t const words[2] = {left, bits};
    StoreState(states, place, is_whole, words);
  }
  __device__ static Passed Load(TileStates const& states, std::uint32_t place, bool* is_whole) {
    std::uint32_t words[2];
    LoadState(states, place, is_whole, words);
    return {words[0], words[1]};
  }
  __device__ static Passed Join(Passed const& a, Passed const& b) {
    if ((b.bits & kHead) != 0) return b;
    std::uint32_t bits = a.bits | b.bits;
    if ((b.bits & kHasLeft) != 0) bits = (bits & ~kNewLeft) | (b.bits & kNewLeft);
    if ((b.bits & kHasRight) != 0) bits = (bits & ~kNewRight) | (b.bits & kNewRight);
    return {a.left + b.left, bits};
  }
};

/// The destination of one node's entries.
struct NodeTarget {
  bool is_split;
  std::uint64_t begin;        ///< offset of the node's list
  std::uint64_t left, right;  ///< offsets of the children's lists
  ChildRows rows;

  NodeTarget() = default;
  __device__ NodeTarget(ExactPartition const& partition, FeatureIndex feature, int node) {
    std::int32_t const s = partition.splits.split_of[node];
    is_split = s >= 0;
    if (!is_split) return;
    std::uint64_t const* const to = partition.to.begin + std::size_t{feature} * (partition.to.nodes + 1);
    std::uint32_t const child = static_cast<std::uint32_t>(s) * (partition.left_only ? 1U : 2U);
    begin = partition.from.begin[std::size_t{feature} * (partition.from.nodes + 1) + static_cast<std::size_t>(node)];
    left = to[child];
    right = to[child + 1];
    rows = partition.to.rows[s];
  }
};

struct DivideStorage {
  int begins[kTileEntries];
  Passed warps[kExactThreads / 32];
  int last_begins[kExactThreads / 32];  ///< 1 + the node that begins last among the warp's entries, or 0
  Passed carried;
  NodeTarget target;  ///< one thread of DivideNode fills it while all others wait for ranks
};

/// Writes storage->carried: the exclusive prefix of the tile. The first warp calls it.
__device__ void CarryPassed(ExactTile tile, TileSpan const& span, TileStates const& states, DivideStorage* storage) {
  Passed all{0, 0};
  for (Passed const& warp : storage->warps) all = Passed::Join(all, warp);
  Passed const carried = ExclusivePrefix(states, tile, span.begins_node, all.Has(Passed::kHead), all);
  if (threadIdx.x == 0) storage->carried = carried;
}

/// Masks over 32 consecutive entries.
struct EntryBits {
  std::uint32_t left, right;  ///< the entry goes left, or right
  std::uint32_t fresh;        ///< the entry begins a new value
};

/// A warp's entries of a tile: 256 consecutive entries, 32 at a time. A thread reads the sides of its predecessors from
/// the bits of one word.
struct WarpEntries {
  int first;  ///< place of the warp's first entry in the tile
  int lane;
  int count;  ///< number of the tile's entries
  std::uint32_t entry[kExactItems];
  std::uint32_t rank[kExactItems];

  __device__ WarpEntries(ExactPartition const& partition, TileSpan const& span)
      : first{static_cast<int>(threadIdx.x) / 32 * 32 * kExactItems},
        lane{static_cast<int>(threadIdx.x) % 32},
        count{span.count} {
#pragma unroll
    for (int i = 0; i < kExactItems; ++i) {
      entry[i] = IsHere(i) ? __ldcs(partition.from.entries + span.first + At(i)) : 0U;
    }
  }
  __device__ void LoadRanks(RowWord const* words) {
#pragma unroll
    for (int i = 0; i < kExactItems; ++i) {
      rank[i] = RankOf(words, RowOf(entry[i]));
      if (!IsHere(i)) rank[i] = 0;
    }
  }
  /// Returns the place of this thread's i-th entry in the tile.
  __device__ int At(int i) const { return first + 32 * i + lane; }
  __device__ bool IsHere(int i) const { return At(i) < count; }
  __device__ EntryBits Bits(int i) const {
    int const here = count - first - 32 * i;
    std::uint32_t const left = __ballot_sync(kAllLanes, (rank[i] & kGoesLeft) != 0);
    return {left, ~left & (here >= 32 ? ~0U : (here <= 0 ? 0U : (1U << here) - 1U)),
            __ballot_sync(kAllLanes, (entry[i] & kNewValue) != 0)};
  }
  /// Writes entry i to the list of its child. `index` is the number of the node's earlier entries, and `left_before`
  /// the number of earlier entries that go left. Bit `lane` of `changed`: the lane's entry begins a new value on its
  /// side.
  __device__ void Write(ExactPartition const& partition, NodeTarget const& target, int i, std::uint32_t index,
                        std::uint32_t left_before, std::uint32_t changed) const {
    std::uint32_t const rows_before = rank[i] & ~kGoesLeft, is_new = (changed >> lane) << 31;
    if ((rank[i] & kGoesLeft) != 0) {
      __stcs(partition.to.entries + target.left + left_before, (target.rows.left + rows_before) | is_new);
    } else if (IsHere(i) && !partition.left_only) {
      std::uint32_t const row = target.rows.right + (RowOf(entry[i]) - rows_before);
      __stcs(partition.to.entries + target.right + (index - left_before), row | is_new);
    }
  }
};

/// The running state of a warp over its entries, 32 at a time.
struct Passing {
  std::uint32_t left{0};  ///< number of the last node's entries that go left; the caller counts them
  std::uint32_t any_left{0}, any_right{0};
  std::uint32_t new_left{0}, new_right{0};  ///< 1: a new value has begun since the side's last entry

  Passing() = default;
  __device__ explicit Passing(Passed before)
      : left{before.left}, new_left{before.Has(Passed::kNewLeft)}, new_right{before.Has(Passed::kNewRight)} {}
  /// Takes the next 32 entries. Returns the mask of entries that begin a new value on their side.
  __device__ std::uint32_t Take(EntryBits const& e) {
    any_left |= e.left;
    any_right |= e.right;
    return NewOnSide(e.left, e.fresh, &new_left) | NewOnSide(e.right, e.fresh, &new_right);
  }
  __device__ Passed All(bool has_head) const {
    return {left, (has_head ? Passed::kHead : 0U) | (any_left != 0 ? Passed::kHasLeft : 0U) |
                      (any_right != 0 ? Passed::kHasRight : 0U) | (new_left != 0 ? Passed::kNewLeft : 0U) |
                      (new_right != 0 ? Passed::kNewRight : 0U)};
  }
};

/// Divides a tile whose entries all belong to one node.
__device__ void DivideNode(ExactPartition const& partition, ExactTile tile, TileSpan const& span,
                           TileStates const& states, DivideStorage* storage) {
  int const warp = static_cast<int>(threadIdx.x) / 32;
  WarpEntries w{partition, span};
  if (threadIdx.x == kExactThreads - 1) storage->target = NodeTarget{partition, tile.feature, span.node};
  w.LoadRanks(partition.words);
  Passing mine;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    EntryBits const e = w.Bits(i);
    mine.Take(e);
    mine.left += static_cast<std::uint32_t>(__popc(e.left));
  }
  if (w.lane == 0) storage->warps[warp] = mine.All(false);
  __syncthreads();
  if (warp == 0) CarryPassed(tile, span, states, storage);
  __syncthreads();
  NodeTarget const target = storage->target;
  if (!target.is_split) return;
  Passed before = storage->carried;
  for (int i = 0; i < warp; ++i) before = Passed::Join(before, storage->warps[i]);
  Passing passing{before};
  std::uint32_t const earlier = (1U << w.lane) - 1U;
  auto const index = static_cast<std::uint32_t>(span.first - target.begin);
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    EntryBits const e = w.Bits(i);
    std::uint32_t const changed = passing.Take(e);
    w.Write(partition, target, i, index + static_cast<std::uint32_t>(w.At(i)),
            passing.left + static_cast<std::uint32_t>(__popc(e.left & earlier)), changed);
    passing.left += static_cast<std::uint32_t>(__popc(e.left));
  }
}

/// Returns the number of the last head among 32 entries.
__device__ int LastHead(std::uint32_t heads) { return 31 - __clz(static_cast<int>(heads)); }

/// Returns the number of the last node's entries that go left. `entries` masks the entries that go left, `heads` the
/// heads, and `left` is the number before them.
__device__ std::uint32_t CountLeft(std::uint32_t left, std::uint32_t entries, std::uint32_t heads) {
  if (heads == 0) return left + static_cast<std::uint32_t>(__popc(entries));
  return static_cast<std::uint32_t>(__popc(entries & (~0U << LastHead(heads))));
}

/// Divides any tile.
__device__ void DivideNodes(ExactPartition const& partition, ExactTile tile, TileSpan const& span,
                            TileStates const& states, DivideStorage* storage) {
  int const warp = static_cast<int>(threadIdx.x) / 32;
  MarkHeads<kExactThreads>(partition.from, tile.feature, span, storage->begins);
  WarpEntries w{partition, span};
  w.LoadRanks(partition.words);
  auto const heads_of = [&](int i) { return __ballot_sync(kAllLanes, storage->begins[w.At(i)] != 0); };
  auto const last_begin = [&](int i, std::uint32_t heads) {
    return storage->begins[w.first + 32 * i + LastHead(heads)];
  };
  Passing mine;
  int begun = 0;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    EntryBits const e = w.Bits(i);
    std::uint32_t const heads = heads_of(i);
    mine.Take(e);
    mine.left = CountLeft(mine.left, e.left, heads);
    if (heads != 0) begun = last_begin(i, heads);
  }
  if (w.lane == 0) {
    storage->warps[warp] = mine.All(begun != 0);
    storage->last_begins[warp] = begun;
  }
  __syncthreads();
  if (warp == 0) CarryPassed(tile, span, states, storage);
  __syncthreads();
  Passed before = storage->carried;
  int node = span.node;
  for (int i = 0; i < warp; ++i) {
    before = Passed::Join(before, storage->warps[i]);
    if (storage->last_begins[i] != 0) node = storage->last_begins[i] - 1;
  }
  Passing passing{before};
  NodeTarget target{partition, tile.feature, node};
  std::uint32_t const earlier = (1U << w.lane) - 1U;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    EntryBits const e = w.Bits(i);
    std::uint32_t const heads = heads_of(i), own_heads = heads & (earlier | 1U << w.lane);
    std::uint32_t const changed = passing.Take(e);
    if (own_heads != 0) target = NodeTarget{partition, tile.feature, last_begin(i, own_heads) - 1};
    if (target.is_split) {
      auto const index = static_cast<std::uint32_t>(span.first - target.begin) + static_cast<std::uint32_t>(w.At(i));
      w.Write(partition, target, i, index, CountLeft(passing.left, e.left & earlier, own_heads), changed);
    }
    passing.left = CountLeft(passing.left, e.left, heads);
    if (heads != 0) target = NodeTarget{partition, tile.feature, last_begin(i, heads) - 1};
  }
}

/// Divides lists. A block takes a tile.
__global__ void __launch_bounds__(kExactThreads, kDivideResident)
    DivideKernel(ExactColumns columns, ExactPartition partition, TileStates states) {
  __shared__ DivideStorage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  TileSpan const span = LoadSpan(partition.from, blockIdx.x);
  if (span.count == 0) return;
  if (span.is_one_node) {
    DivideNode(partition, tile, span, states, &storage);
  } else {
    DivideNodes(partition, tile, span, states, &storage);
  }
}

}  // namespace

void SpanTiles(ExactColumns const& columns, ExactLists const& lists, TileSpan* spans, cudaStream_t stream) {
  if (columns.tile_count == 0) return;
  unsigned const blocks = (columns.tile_count - 1) / kExactThreads + 1;
  SpanTilesKernel<<<blocks, kExactThreads, 0, stream>>>(columns, lists, spans);
  CheckLaunch("finding the nodes of tiles");
}

void PartitionLists(ExactColumns const& columns, ExactPartition const& partition, TileStates const& states,
                    cudaStream_t stream) {
  bool const any = columns.tile_count > 0;
  if (any && partition.left_entries != nullptr) {
    CountLeftKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, partition);
    CheckLaunch("counting entries that go left");
  }
  unsigned const blocks = columns.features < 65535U ? columns.features + 1 : 65535U;
  PlaceChildrenKernel<<<blocks, kExactThreads, 0, stream>>>(columns, partition);
  CheckLaunch("placing the lists of children");
  if (any) DivideKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, partition, states);
  CheckLaunch("dividing lists");
}

}  // namespace xgbgpu::cuda
