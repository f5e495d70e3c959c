#include "exact/tiles.cuh"

namespace xgbgpu::cuda {

namespace {

__global__ void __launch_bounds__(kExactThreads) CountLeftKernel(ExactColumns columns, ExactPartition partition) {
  __shared__ TileLoader::Storage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  if (columns.counts_as[tile.feature] != tile.feature) return;
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
    left += partition.sides[RowOf(t.entry[i])] == Side::kLeft ? 1U : 0U;
  }
  if (one_node) {
    left = WarpSum(left);
    if (threadIdx.x % 32 != 0) return;
  }
  if (left != 0) atomicAdd(counts + node, left);
}

/// Where the children's entries begin: a block a feature.
__global__ void __launch_bounds__(kExactThreads) PlaceChildrenKernel(ExactColumns columns, ExactPartition partition) {
  using Scan = cub::BlockScan<unsigned long long, kExactThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::size_t const nodes = partition.from.nodes;
  std::uint32_t const children = partition.children;
  for (FeatureIndex f = blockIdx.x; f < columns.features; f += gridDim.x) {
    std::uint64_t const* const from = partition.from.begin + f * (nodes + 1);
    std::uint32_t const* const left_entries = partition.left_entries + std::size_t{columns.counts_as[f]} * nodes;
    std::uint64_t* const to = partition.begin + std::size_t{f} * (children + 1);
    unsigned long long base = columns.column_ptr[f];
    for (std::uint32_t first = 0; first < partition.splits; first += kExactThreads) {
      std::uint32_t const s = first + threadIdx.x;
      unsigned long long left = 0, right = 0;
      if (s < partition.splits) {
        std::uint32_t const n = partition.split_nodes[s];
        left = left_entries[n];
        right = partition.left_only ? 0 : from[n + 1] - from[n] - left;
      }
      unsigned long long before, all;
      Scan{storage}.ExclusiveSum(left + right, before, all);
      if (s < partition.splits && partition.left_only) to[s] = base + before;
      if (s < partition.splits && !partition.left_only) {
        to[2 * s] = base + before;
        to[2 * s + 1] = base + before + left;
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

  __device__ static Passed Entry(bool head, bool is_new, Side side) {
    std::uint32_t bits = head ? kHead : 0U;
    if (side == Side::kLeft) bits |= kHasLeft | (is_new ? kNewRight : 0U);
    if (side == Side::kRight) bits |= kHasRight | (is_new ? kNewLeft : 0U);
    if (side == Side::kNone && is_new) bits |= kNewLeft | kNewRight;
    return {side == Side::kLeft ? 1U : 0U, bits};
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
  TileEntries t;
  bool begins_node;
  if (!TileLoader::Run(partition.from, columns.column_ptr[tile.feature], tile, &storage, &t, &begins_node)) return;

  Side sides[kExactItems];
  Passed mine{0, 0};
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    sides[i] = i < t.count ? partition.sides[RowOf(t.entry[i])] : Side::kNone;
    if (i < t.count) mine = JoinPassed{}(mine, Passed::Entry(t.IsHead(i), (t.entry[i] & kNewValue) != 0, sides[i]));
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

  std::size_t const nodes = partition.from.nodes;
  std::uint64_t const* const from = partition.from.begin + std::size_t{tile.feature} * (nodes + 1);
  std::uint64_t const* const to = partition.begin + std::size_t{tile.feature} * (partition.children + 1);
  Passed passed = JoinPassed{}(carried, before);
  int node = t.first_node;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i >= t.count) continue;
    bool const is_new = (t.entry[i] & kNewValue) != 0;
    bool const head = t.IsHead(i);
    if (head) passed = {0, 0};
    if (head) node = t.NodeOfHead(i);
    std::int32_t const s = partition.split_of[node];
    bool const left = sides[i] == Side::kLeft;
    bool const goes = s >= 0 && sides[i] != Side::kNone && (left || !partition.left_only);
    if (goes) {
      std::uint64_t const index = t.place + static_cast<std::uint64_t>(i) - from[node];
      std::uint32_t const child = static_cast<std::uint32_t>(s) * (partition.left_only ? 1U : 2U) + (left ? 0U : 1U);
      std::uint64_t const place = to[child] + (left ? passed.left : index - passed.left);
      bool const changed = is_new || (passed.bits & (left ? Passed::kNewLeft : Passed::kNewRight)) != 0;
      __stcs(partition.entries + place, RowOf(t.entry[i]) | (changed ? kNewValue : 0U));
    }
    passed = JoinPassed{}(passed, Passed::Entry(false, is_new, sides[i]));
  }
}

}  // namespace

void PartitionLists(ExactColumns const& columns, ExactPartition const& partition, TileStates const& states,
                    cudaStream_t stream) {
  bool const any = columns.tile_count > 0;
  if (any) CountLeftKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, partition);
  CheckLaunch("counting entries that go left");
  unsigned const blocks = columns.features < 65535U ? columns.features : 65535U;
  PlaceChildrenKernel<<<blocks, kExactThreads, 0, stream>>>(columns, partition);
  CheckLaunch("placing the lists of children");
  if (any) DivideKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, partition, states);
  CheckLaunch("dividing lists");
}

}  // namespace xgbgpu::cuda
