#include "exact/tiles.cuh"

namespace xgbgpu::cuda {

namespace {

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

__global__ void __launch_bounds__(kExactThreads) CountLeftKernel(ExactColumns columns, ExactPartition partition) {
  __shared__ TileLoader::Storage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  if (columns.is_dense[tile.feature] || !columns.used[tile.feature]) return;
  TileEntries t;
  bool begins_node;
  if (!TileLoader::Run(partition.from, columns.column_ptr[tile.feature], tile, &storage, &t, &begins_node)) return;
  std::uint32_t* const counts = partition.left_entries + std::size_t{tile.feature} * partition.from.nodes;
  bool const one_node = IsWarpInOneNode(t);
  int node = t.first_node;
  std::uint32_t left = 0;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i >= t.count) continue;
    if (i > 0 && t.IsHead(i)) {
      if (left != 0) atomicAdd(counts + node, left);
      left = 0;
      node = t.NodeOfHead(i);
    }
    RowIndex const row = RowOf(t.entry[i]);
    left += (WordOf(partition.words, row).left >> (row % 32)) & 1U;
  }
  if (one_node) {
    left = WarpSum(left);
    if (threadIdx.x % 32 != 0) return;
  }
  if (left != 0) atomicAdd(counts + node, left);
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

/// Entries of one node, from its first on or from another on: how many go left, and for each side whether a new value
/// came after the last entry of that side.
struct Passed {
  std::uint32_t left;
  std::uint32_t bits;

  static constexpr std::uint32_t kHead = 1, kHasLeft = 4, kNewLeft = 8, kHasRight = 16, kNewRight = 32;

  __device__ static Passed Entry(bool head, std::uint32_t entry, std::uint32_t rank) {
    bool const is_new = (entry & kNewValue) != 0;
    std::uint32_t bits = head ? kHead : 0U;
    if ((rank & kGoesLeft) != 0) {
      bits |= kHasLeft | (is_new ? kNewRight : 0U);
      return {1, bits};
    }
    bits |= kHasRight | (is_new ? kNewLeft : 0U);
    return {0, bits};
  }
  __device__ static Passed From(std::int64_t left, std::int64_t bits) {
    return {static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(bits)};
  }
  __device__ Passed FromLane(int lane) const {
    return {__shfl_sync(kAllLanes, left, lane), __shfl_sync(kAllLanes, bits, lane)};
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

/// The children's lists of one feature.
struct Children {
  std::uint64_t const* from;  ///< [nodes + 1]
  std::uint64_t const* to;    ///< [children + 1]

  __device__ Children(ExactPartition const& partition, FeatureIndex feature)
      : from{partition.from.begin + std::size_t{feature} * (partition.from.nodes + 1)},
        to{partition.begin + std::size_t{feature} * (partition.children + 1)} {}
};

/// The entry as it is in the child's list.
__device__ std::uint32_t InChild(std::uint32_t entry, std::uint32_t rank, ChildRows const& child,
                                 Passed const& passed) {
  bool const left = (rank & kGoesLeft) != 0;
  std::uint32_t const before = rank & ~kGoesLeft;
  bool const is_new = (entry & kNewValue) != 0 || (passed.bits & (left ? Passed::kNewLeft : Passed::kNewRight)) != 0;
  return (left ? child.left + before : child.right + (RowOf(entry) - before)) | (is_new ? kNewValue : 0U);
}

/// Writes a tile whose entries are of several nodes. `passed`: before the thread's first entry.
__device__ void WriteDirectly(ExactPartition const& partition, ExactTile tile, TileEntries const& t,
                              std::uint32_t const* ranks, Passed passed) {
  Children const lists{partition, tile.feature};
  int node = t.first_node;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i >= t.count) continue;
    if (t.IsHead(i)) {
      passed = {0, 0};
      node = t.NodeOfHead(i);
    }
    std::int32_t const s = partition.split_of[node];
    bool const left = (ranks[i] & kGoesLeft) != 0;
    if (s >= 0 && (left || !partition.left_only)) {
      std::uint64_t const index = t.place + static_cast<std::uint64_t>(i) - lists.from[node];
      std::uint32_t const child = static_cast<std::uint32_t>(s) * (partition.left_only ? 1U : 2U) + (left ? 0U : 1U);
      std::uint64_t const place = lists.to[child] + (left ? passed.left : index - passed.left);
      __stcs(partition.entries + place, InChild(t.entry[i], ranks[i], partition.child_rows[s], passed));
    }
    passed = JoinPassed{}(passed, Passed::Entry(false, t.entry[i], ranks[i]));
  }
}

/// Writes a tile whose entries are all of one node: by way of shared memory, so that neighbouring threads write
/// neighbouring words. `left`: entries of the tile that go left. All threads of the block call it.
__device__ void WriteStaged(std::uint64_t column_begin, ExactPartition const& partition, ExactTile tile,
                            TileEntries const& t, std::uint32_t const* ranks, Passed passed, Passed const& carried,
                            std::uint32_t left, std::uint32_t* staged) {
  std::int32_t const s = partition.split_of[t.first_node];
  if (s < 0) return;
  Children const lists{partition, tile.feature};
  ChildRows const child_rows = partition.child_rows[s];
  std::uint64_t const first = column_begin + std::uint64_t{tile.index} * kTileEntries;
  std::uint32_t place = passed.left - carried.left;  // of the next entry that goes left
  std::uint32_t other = left + static_cast<std::uint32_t>(t.place - first) - place;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i >= t.count) continue;
    bool const goes_left = (ranks[i] & kGoesLeft) != 0;
    staged[goes_left ? place++ : other++] = InChild(t.entry[i], ranks[i], child_rows, passed);
    passed = JoinPassed{}(passed, Passed::Entry(false, t.entry[i], ranks[i]));
  }
  __syncthreads();
  std::uint64_t const end = lists.from[partition.from.nodes];
  std::uint32_t const count = static_cast<std::uint32_t>(end - first < kTileEntries ? end - first : kTileEntries);
  std::uint32_t const child = static_cast<std::uint32_t>(s) * (partition.left_only ? 1U : 2U);
  std::uint64_t const to_left = lists.to[child] + carried.left;
  for (std::uint32_t i = threadIdx.x; i < left; i += kExactThreads) {
    __stcs(partition.entries + to_left + i, staged[i]);
  }
  if (partition.left_only) return;
  std::uint64_t const to_right = lists.to[child + 1] + (first - lists.from[t.first_node] - carried.left);
  for (std::uint32_t i = threadIdx.x; i < count - left; i += kExactThreads) {
    __stcs(partition.entries + to_right + i, staged[left + i]);
  }
}

__global__ void __launch_bounds__(kExactThreads)
    DivideKernel(ExactColumns columns, ExactPartition partition, TileStates states) {
  using Scan = cub::BlockScan<Passed, kExactThreads>;
  __shared__ TileLoader::Storage storage;
  __shared__ typename Scan::TempStorage scan_storage;
  __shared__ std::uint32_t ticket;
  __shared__ Passed carried;
  if (threadIdx.x == 0) ticket = atomicAdd(states.ticket, 1U);
  __syncthreads();
  ExactTile const tile = columns.tiles[ticket];
  if (!columns.used[tile.feature]) return;
  TileEntries t;
  bool begins_node;
  if (!TileLoader::Run(partition.from, columns.column_ptr[tile.feature], tile, &storage, &t, &begins_node)) return;

  std::uint32_t ranks[kExactItems];
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) ranks[i] = i < t.count ? RankOf(partition.words, RowOf(t.entry[i])) : 0U;
  Passed mine{0, 0};
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i < t.count) mine = JoinPassed{}(mine, Passed::Entry(t.IsHead(i), t.entry[i], ranks[i]));
  }
  Passed before, all;
  Scan{scan_storage}.ExclusiveScan(mine, before, Passed{0, 0}, JoinPassed{}, all);
  if (threadIdx.x < 32) {
    bool const whole = (all.bits & Passed::kHead) != 0 || tile.index == 0;
    if (threadIdx.x == 0) Publish(states, tile.place, whole, all.left, all.bits);
    Passed sum{0, 0};
    if (!begins_node) {
      sum = LookBack(states, tile, Passed{0, 0}, JoinPassed{});
      Passed const joined = JoinPassed{}(sum, all);
      if (threadIdx.x == 0 && !whole) Publish(states, tile.place, true, joined.left, joined.bits);
    }
    if (threadIdx.x == 0) carried = sum;
  }
  __syncthreads();

  Passed const passed = JoinPassed{}(carried, before);
  if (t.is_one_node) {
    WriteStaged(columns.column_ptr[tile.feature], partition, tile, t, ranks, passed, carried, all.left, storage.staged);
  } else {
    WriteDirectly(partition, tile, t, ranks, passed);
  }
}

}  // namespace

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
