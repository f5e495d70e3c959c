#include "exact/tiles.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kDivideResident = 4;  // blocks on a multiprocessor: ranks are far away, and many must be asked for

__device__ RowWord WordOf(RowWord const* words, RowIndex row) {
  uint2 const word = __ldg(reinterpret_cast<uint2 const*>(words) + row / 32);
  return {word.x, word.y};
}

/// Bit 31: whether a row goes left; the rest: how many rows do before it.
__device__ std::uint32_t RankOf(RowWord const* words, RowIndex row) {
  RowWord const word = WordOf(words, row);
  std::uint32_t const bit = row % 32;
  return (word.before + static_cast<std::uint32_t>(__popc(word.left & ((1U << bit) - 1U)))) |
         (((word.left >> bit) & 1U) << 31);
}
constexpr std::uint32_t kGoesLeft = 0x80000000U;

__device__ bool GoesLeft(RowWord const* words, RowIndex row) { return (WordOf(words, row).left >> (row % 32)) & 1U; }

__global__ void __launch_bounds__(kExactThreads) CountLeftKernel(ExactColumns columns, ExactPartition partition) {
  __shared__ TileLoader<kExactThreads>::Storage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  TileSpan const span = LoadSpan(partition.from, blockIdx.x);
  if (span.count == 0 || columns.is_dense[tile.feature]) return;
  std::uint32_t* const counts = partition.left_entries + std::size_t{tile.feature} * partition.from.nodes;
  std::uint32_t left = 0;
  if (span.is_one_node) {
    if (partition.split_of[span.node] < 0) return;
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
    std::uint32_t low = 0, high = lists.nodes;  // begin[low] <= first < begin[high]
    while (high - low > 1) {
      std::uint32_t const middle = low + (high - low) / 2;
      (begin[middle] <= first ? low : high) = middle;
    }
    span.node = static_cast<std::int32_t>(low);
    span.count = static_cast<std::int16_t>(end - first < kTileEntries ? end - first : kTileEntries);
    span.begins_node = begin[low] == first;
    span.is_one_node = begin[low + 1] >= first + static_cast<std::uint64_t>(span.count);
  }
  spans[t] = span;
}

/// Where the children's entries begin, and their rows: a block a list.
__global__ void __launch_bounds__(kExactThreads) PlaceChildrenKernel(ExactColumns columns, ExactPartition partition) {
  using Scan = cub::BlockScan<unsigned long long, kExactThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::size_t const nodes = partition.from.nodes;
  std::uint32_t const children = partition.children;
  std::uint64_t const* const rows = partition.rows.begin;
  auto const left_rows = [&](std::uint64_t row) {  // before it
    return RankOf(partition.words, static_cast<RowIndex>(row)) & ~kGoesLeft;
  };
  for (FeatureIndex f = blockIdx.x; f <= columns.features; f += gridDim.x) {
    bool const of_rows = f == columns.features;
    bool const has_all = of_rows || columns.is_dense[f] != 0;
    std::uint64_t const* const from = partition.from.begin + f * (nodes + 1);
    std::uint64_t* const to = partition.begin + std::size_t{f} * (children + 1);
    unsigned long long base = of_rows ? 0 : columns.column_ptr[f];
    for (std::uint32_t first = 0; first < partition.splits; first += kExactThreads) {
      std::uint32_t const s = first + threadIdx.x;
      unsigned long long left = 0, right = 0;
      std::uint32_t earlier = 0, n = 0;
      if (s < partition.splits) {
        n = partition.split_nodes[s];
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
      if (s < partition.splits) {
        std::uint32_t const child = partition.left_only ? s : 2 * s;
        to[child] = before;
        if (!partition.left_only) to[child + 1] = before + left;
        if (of_rows) {
          auto const own = static_cast<std::uint32_t>(before);  // a difference modulo 2^32 is enough
          partition.child_rows[s] = {
              own - earlier, own + static_cast<std::uint32_t>(left) - (static_cast<std::uint32_t>(rows[n]) - earlier)};
        }
      }
      base += all;
      __syncthreads();  // the storage is used again
    }
    if (threadIdx.x == 0) to[children] = base;
  }
}

/// Did a new value come after the last entry of one side? `side`, `fresh`: bits of entries in their order, of that side
/// and with a new value. `before`: it did among the entries before them.
__device__ bool IsNewSince(std::uint32_t side, std::uint32_t fresh, bool before) {
  if (side == 0) return before || fresh != 0;
  return ((fresh >> (31 - __clz(static_cast<int>(side)))) >> 1) != 0;
}

/// 32 entries that follow each other: one bit each.
struct EntryBits {
  std::uint32_t left, right;
  std::uint32_t fresh;  ///< a new value
  std::uint32_t heads;  ///< the first of its node

  __device__ EntryBits Among(std::uint32_t mask) const { return {left & mask, right & mask, fresh & mask, heads}; }
};

/// Entries of one node, from its first on or from another on: how many go left, and for each side whether a new value
/// came after the last entry of that side.
struct Passed {
  std::uint32_t left;
  std::uint32_t bits;

  static constexpr std::uint32_t kHead = 1, kHasLeft = 4, kNewLeft = 8, kHasRight = 16, kNewRight = 32;

  __device__ bool Has(std::uint32_t bit) const { return (bits & bit) != 0; }
  /// And then these.
  __device__ Passed With(EntryBits e) const {
    Passed before = *this;
    if (e.heads != 0) {
      before = {0, kHead};
      e = e.Among(~0U << (31 - __clz(static_cast<int>(e.heads))));
    }
    return {before.left + static_cast<std::uint32_t>(__popc(e.left)),
            (before.bits & (kHead | kHasLeft | kHasRight)) | (e.left != 0 ? kHasLeft : 0U) |
                (e.right != 0 ? kHasRight : 0U) | (IsNewSince(e.left, e.fresh, before.Has(kNewLeft)) ? kNewLeft : 0U) |
                (IsNewSince(e.right, e.fresh, before.Has(kNewRight)) ? kNewRight : 0U)};
  }
  __device__ Passed FromLane(int lane) const {
    return {__shfl_sync(kAllLanes, left, lane), __shfl_sync(kAllLanes, bits, lane)};
  }
  __device__ void Tell(TileStates const& states, std::uint32_t place, bool is_whole) const {
    std::uint32_t const words[2] = {left, bits};
    TellWords(states, place, is_whole, words);
  }
  __device__ static Passed Hear(TileStates const& states, std::uint32_t place, bool* is_whole) {
    std::uint32_t words[2];
    HearWords(states, place, is_whole, words);
    return {words[0], words[1]};
  }
};

struct JoinPassed {
  __device__ Passed operator()(Passed const& a, Passed const& b) const {
    if ((b.bits & Passed::kHead) != 0) return b;
    std::uint32_t bits = a.bits | b.bits;
    if ((b.bits & Passed::kHasLeft) != 0) bits = (bits & ~Passed::kNewLeft) | (b.bits & Passed::kNewLeft);
    if ((b.bits & Passed::kHasRight) != 0) bits = (bits & ~Passed::kNewRight) | (b.bits & Passed::kNewRight);
    return {a.left + b.left, bits};
  }
};

/// Where the entries of one node go.
struct NodeTarget {
  bool is_split;
  std::uint64_t begin;        ///< of its list
  std::uint64_t left, right;  ///< of the children's lists
  ChildRows rows;

  NodeTarget() = default;
  __device__ NodeTarget(ExactPartition const& partition, FeatureIndex feature, int node) {
    std::int32_t const s = partition.split_of[node];
    is_split = s >= 0;
    if (!is_split) return;
    std::uint64_t const* const to = partition.begin + std::size_t{feature} * (partition.children + 1);
    std::uint32_t const child = static_cast<std::uint32_t>(s) * (partition.left_only ? 1U : 2U);
    begin = partition.from.begin[std::size_t{feature} * (partition.from.nodes + 1) + static_cast<std::size_t>(node)];
    left = to[child];
    right = to[child + 1];
    rows = partition.child_rows[s];
  }
};

struct DivideStorage {
  int begins[kTileEntries];
  Passed warps[kExactThreads / 32];
  int last_begins[kExactThreads / 32];  ///< 1 + the node that begins last among the warp's entries, or 0
  Passed carried;
  NodeTarget target;  ///< of a tile in one node: filled by one thread while others wait for ranks
};

/// The first warp: what the tiles before have passed.
__device__ void CarryPassed(ExactTile tile, TileSpan const& span, TileStates const& states, DivideStorage* storage) {
  Passed all{0, 0};
  for (Passed const& of_warp : storage->warps) all = JoinPassed{}(all, of_warp);
  Passed const carried =
      HandOn(states, tile, span.begins_node, all.Has(Passed::kHead), all, Passed{0, 0}, JoinPassed{});
  if (threadIdx.x == 0) storage->carried = carried;
}

/// Which of 32 entries in their order have another value than the entry before them on the same side. `side`, `fresh`:
/// bits of entries on that side, and of those that begin a new value. `pending`: a new value came after the side's last
/// entry; before, and then after these.
///
/// An addition carries a bit through the ones that stand between two entries of the side.
__device__ std::uint32_t NewOnSide(std::uint32_t side, std::uint32_t fresh, std::uint32_t* pending) {
  unsigned long long const sum = static_cast<unsigned long long>(~side) + (fresh & ~side) + *pending;
  *pending = static_cast<std::uint32_t>(sum >> 32);
  return (static_cast<std::uint32_t>(sum) | fresh) & side;
}

/// A tile whose entries are all of one node. A warp takes 256 that follow each other, 32 at a time: what a thread has
/// to know of those before its own are bits of one word.
__device__ void DivideNode(ExactPartition const& partition, ExactTile tile, TileSpan const& span,
                           TileStates const& states, DivideStorage* storage) {
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int const first = warp * 32 * kExactItems;  // of the warp
  std::uint32_t entry[kExactItems], rank[kExactItems];
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    int const at = first + 32 * i + lane;
    entry[i] = at < span.count ? __ldcs(partition.from.entries + span.first + at) : 0U;
  }
  if (threadIdx.x == kExactThreads - 1) storage->target = NodeTarget{partition, tile.feature, span.node};
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    rank[i] = RankOf(partition.words, RowOf(entry[i]));
    if (first + 32 * i + lane >= span.count) rank[i] = 0;
  }
  auto const right_of = [&](int i, std::uint32_t left) {
    int const here = span.count - first - 32 * i;
    return ~left & (here >= 32 ? ~0U : (here <= 0 ? 0U : (1U << here) - 1U));
  };
  std::uint32_t lefts = 0, any_left = 0, any_right = 0, new_left = 0, new_right = 0;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    std::uint32_t const left = __ballot_sync(kAllLanes, (rank[i] & kGoesLeft) != 0), right = right_of(i, left);
    std::uint32_t const fresh = __ballot_sync(kAllLanes, (entry[i] & kNewValue) != 0);
    NewOnSide(left, fresh, &new_left);
    NewOnSide(right, fresh, &new_right);
    lefts += static_cast<std::uint32_t>(__popc(left));
    any_left |= left;
    any_right |= right;
  }
  if (lane == 0) {
    storage->warps[warp] = {lefts, (any_left != 0 ? Passed::kHasLeft : 0U) | (any_right != 0 ? Passed::kHasRight : 0U) |
                                       (new_left != 0 ? Passed::kNewLeft : 0U) |
                                       (new_right != 0 ? Passed::kNewRight : 0U)};
  }
  __syncthreads();
  if (warp == 0) CarryPassed(tile, span, states, storage);
  __syncthreads();
  NodeTarget const target = storage->target;
  if (!target.is_split) return;
  Passed passed = storage->carried;
  for (int w = 0; w < warp; ++w) passed = JoinPassed{}(passed, storage->warps[w]);
  lefts = passed.left;
  new_left = passed.Has(Passed::kNewLeft) ? 1 : 0;
  new_right = passed.Has(Passed::kNewRight) ? 1 : 0;
  std::uint32_t const earlier = (1U << lane) - 1U;
  std::uint32_t const index = static_cast<std::uint32_t>(span.first - target.begin) + static_cast<std::uint32_t>(first);
  std::uint32_t* const to_left = partition.entries + target.left;
  std::uint32_t* const to_right = partition.entries + target.right;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    std::uint32_t const left = __ballot_sync(kAllLanes, (rank[i] & kGoesLeft) != 0), right = right_of(i, left);
    std::uint32_t const fresh = __ballot_sync(kAllLanes, (entry[i] & kNewValue) != 0);
    std::uint32_t const changed = NewOnSide(left, fresh, &new_left) | NewOnSide(right, fresh, &new_right);
    std::uint32_t const before = lefts + static_cast<std::uint32_t>(__popc(left & earlier));
    std::uint32_t const rows_before = rank[i] & ~kGoesLeft, row = RowOf(entry[i]);
    std::uint32_t const is_new = (changed >> lane) << 31;
    if ((rank[i] & kGoesLeft) != 0) {
      __stcs(to_left + before, (target.rows.left + rows_before) | is_new);
    } else if (((right >> lane) & 1U) != 0 && !partition.left_only) {
      std::uint32_t const after = index + static_cast<std::uint32_t>(32 * i + lane) - before;
      __stcs(to_right + after, (target.rows.right + (row - rows_before)) | is_new);
    }
    lefts += static_cast<std::uint32_t>(__popc(left));
  }
}

/// Any tile.
__device__ void DivideNodes(ExactPartition const& partition, ExactTile tile, TileSpan const& span,
                            TileStates const& states, DivideStorage* storage) {
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int const first = warp * 32 * kExactItems;  // of the warp
  MarkHeads<kExactThreads>(partition.from, tile.feature, span, storage->begins);
  std::uint32_t entry[kExactItems], rank[kExactItems];
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    int const at = first + 32 * i + lane;
    entry[i] = at < span.count ? __ldcs(partition.from.entries + span.first + at) : 0U;
  }
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) rank[i] = RankOf(partition.words, RowOf(entry[i]));
  auto const bits = [&](int i) {
    int const at = first + 32 * i + lane;
    bool const here = at < span.count, left = (rank[i] & kGoesLeft) != 0;
    return EntryBits{__ballot_sync(kAllLanes, here && left), __ballot_sync(kAllLanes, here && !left),
                     __ballot_sync(kAllLanes, here && (entry[i] & kNewValue) != 0),
                     __ballot_sync(kAllLanes, storage->begins[at] != 0)};
  };
  auto const last_begin = [&](int i, std::uint32_t heads) {
    return storage->begins[first + 32 * i + 31 - __clz(static_cast<int>(heads))];
  };
  Passed mine{0, 0};
  int begun = 0;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    EntryBits const e = bits(i);
    mine = mine.With(e);
    if (e.heads != 0) begun = last_begin(i, e.heads);
  }
  if (lane == 0) {
    storage->warps[warp] = mine;
    storage->last_begins[warp] = begun;
  }
  __syncthreads();
  if (warp == 0) CarryPassed(tile, span, states, storage);
  __syncthreads();
  Passed passed = storage->carried;
  int node = span.node;
  for (int w = 0; w < warp; ++w) {
    passed = JoinPassed{}(passed, storage->warps[w]);
    if (storage->last_begins[w] != 0) node = storage->last_begins[w] - 1;
  }

  NodeTarget target{partition, tile.feature, node};
  std::uint32_t const earlier = (1U << lane) - 1U;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    EntryBits const e = bits(i);
    std::uint32_t const heads = e.heads & (earlier | 1U << lane);
    EntryBits before = e.Among(earlier);
    Passed since = passed;
    if (heads != 0) {
      int const head = 31 - __clz(static_cast<int>(heads));
      before = before.Among(~0U << head);
      since = {0, 0};
      target = NodeTarget{partition, tile.feature, storage->begins[first + 32 * i + head] - 1};
    }
    int const at = first + 32 * i + lane;
    bool const left = (rank[i] & kGoesLeft) != 0;
    if (at < span.count && target.is_split && (left || !partition.left_only)) {
      std::uint32_t const left_before = since.left + static_cast<std::uint32_t>(__popc(before.left));
      std::uint32_t const rows_before = rank[i] & ~kGoesLeft, row = RowOf(entry[i]);
      bool const is_new = left ? IsNewSince(before.left, before.fresh, since.Has(Passed::kNewLeft))
                               : IsNewSince(before.right, before.fresh, since.Has(Passed::kNewRight));
      std::uint64_t const index = span.first + static_cast<std::uint64_t>(at) - target.begin;
      std::uint64_t const place = left ? target.left + left_before : target.right + (index - left_before);
      std::uint32_t const to = left ? target.rows.left + rows_before : target.rows.right + (row - rows_before);
      __stcs(partition.entries + place, to | (entry[i] & kNewValue) | (is_new ? kNewValue : 0U));
    }
    passed = passed.With(e);
    if (e.heads != 0) target = NodeTarget{partition, tile.feature, last_begin(i, e.heads) - 1};
  }
}

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
  if (any) CountLeftKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, partition);
  CheckLaunch("counting entries that go left");
  unsigned const blocks = columns.features < 65535U ? columns.features + 1 : 65535U;
  PlaceChildrenKernel<<<blocks, kExactThreads, 0, stream>>>(columns, partition);
  CheckLaunch("placing the lists of children");
  if (any) DivideKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, partition, states);
  CheckLaunch("dividing lists");
}

}  // namespace xgbgpu::cuda
