#include "core/block_totals.cuh"
#include "core/grid.h"
#include "core/launch.h"
#include "level/clear_slots.cuh"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;
constexpr int kItemSteps = kPathItemRows / kThreads;
constexpr int kMostPaths = 128;  // of one group at one level

/// A path's rule with the address of the symbol that it looks at.
struct Rule {
  std::uint64_t offset;  ///< of row 0's symbol in the records
  std::uint32_t family;
  std::uint16_t bin;
  std::uint16_t missing_left;
  bool splits;
  bool by_categories;
};

/// What one block does at a time: the rows of a piece of a group, and the rules of the group's paths.
struct Item {
  RowGroup group;
  std::uint32_t number;      ///< of the group
  std::uint32_t first, end;  ///< rows of the store
};

__device__ Item LoadItem(DeviceTree const& tree, std::uint32_t groups, std::uint32_t item) {
  RowPaths const& paths = tree.paths;
  Item it;
  it.number = FindJobByWarp(groups, item, [&](std::uint32_t g) { return paths.groups[g].first_item; });
  it.group = paths.groups[it.number];
  it.first = it.group.first_row + (item - it.group.first_item) * kPathItemRows;
  it.end = min(it.first + kPathItemRows, it.group.first_row + it.group.rows);
  return it;
}

/// The rules of the item's paths, to shared memory; what was read of them before needs a __syncthreads.
__device__ void LoadRules(DeviceTree const& tree, Item const& it, Rule* rules) {
  RowPaths const& paths = tree.paths;
  DeviceMatrixView const& m = tree.matrix;
  if (threadIdx.x < (1U << paths.depth)) {
    PathSplit const s = paths.splits[(it.number << paths.depth) + threadIdx.x];
    Rule& rule = rules[threadIdx.x];
    rule.splits = s.feature != kNoFeature;
    rule.family = s.family & ~kByCategories;
    rule.by_categories = (s.family & kByCategories) != 0;
    rule.bin = s.bin;
    rule.missing_left = s.missing_left;
    FeatureIndex const feature = rule.splits ? s.feature : 0;
    rule.offset =
        std::uint64_t{feature / m.tile_columns} * m.rows * m.record_bytes() + feature % m.tile_columns * m.symbol_bytes;
  }
  __syncthreads();
}

__device__ std::uint32_t LoadSymbol(DeviceTree const& tree, std::uint64_t offset, std::uint32_t row) {
  std::uint8_t const* const at = tree.paths.store.records + offset + std::uint64_t{row} * tree.matrix.record_bytes();
  return tree.matrix.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
}

/// Paths of the children that this thread's rows go to: row first + k · kThreads + thread, kDeadPath if none. Rules are
/// loaded meanwhile.
template <bool kCategories>
__device__ void NextPaths(DeviceTree const& tree, Item const& it, Rule* rules, std::uint32_t* next) {
  RowPaths const& paths = tree.paths;
  std::uint32_t path[kItemSteps], symbol[kItemSteps];
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
    path[k] = row < it.end ? (paths.path == nullptr ? 0 : paths.path[row] - paths.first) : kDeadPath;
  }
  LoadRules(tree, it, rules);
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
    bool const live = path[k] < (1U << paths.depth) && rules[path[k]].splits;
    symbol[k] = live ? LoadSymbol(tree, rules[path[k]].offset, row) : 0;
    if (!live) path[k] = kDeadPath;
  }
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    if (path[k] == kDeadPath) {
      next[k] = kDeadPath;
      continue;
    }
    Rule const& rule = rules[path[k]];
    bool const left = GoesLeft(symbol[k], rule, kCategories && rule.by_categories, tree.categories);
    next[k] = 2 * path[k] + (left ? 0 : 1);
  }
}

/// Counts this thread's row; returns its place among the rows of its key in the block. kDeadPath is not counted.
__device__ std::uint32_t CountRow(std::uint32_t* counters, std::uint32_t key) {
  return key == kDeadPath ? 0 : atomicAdd(counters + key, 1U);
}

template <bool kCount, bool kCategories>
__global__ void __launch_bounds__(kThreads) AdvancePathsKernel(DeviceTree tree) {
  __shared__ Rule rules[kMostPaths];
  __shared__ std::uint32_t counters[2 * kMostPaths];
  WaitForKernelBefore();
  RowPaths const& paths = tree.paths;
  std::uint32_t const items = tree.state->path_items, groups = tree.state->groups, children = 2U << paths.depth;
  if (!paths.cleared) ClearSlots(tree);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    if (kCount && threadIdx.x < children) counters[threadIdx.x] = 0;
    Item const it = LoadItem(tree, groups, item);
    std::uint32_t next[kItemSteps];
    NextPaths<kCategories>(tree, it, rules, next);
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) {
      std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
      std::uint32_t const number = next[k] == kDeadPath ? kDeadPath : paths.next_first + next[k];
      if (row < it.end) paths.next_path[row] = static_cast<std::uint8_t>(number);
      if (kCount) CountRow(counters, next[k]);
    }
    __syncthreads();  // before the rules are written again
    if (kCount && threadIdx.x < children && counters[threadIdx.x] != 0) {
      atomicAdd(paths.counts + it.number * children + threadIdx.x, counters[threadIdx.x]);
    }
    if (kCount) __syncthreads();  // before the counters are cleared
  }
}

/// Rows of one item in the order of their children.
struct ItemOrder {
  std::uint32_t row[kPathItemRows];         ///< sorted: row of the item
  std::uint32_t first[2 * kMostPaths + 1];  ///< place of each child's first row in that order
  std::uint32_t shift[2 * kMostPaths];      ///< from that order to the next store
  std::uint8_t child[kPathItemRows];        ///< sorted
};

/// Places of the children of an item's paths, in the item and in the next store: a part of each parent's range is taken
/// by one atomic. Left children fill it from the front, right ones from its end: no order is kept inside a node, and no
/// sum depends on it.
__device__ void PlaceChildren(DeviceTree const& tree, Rule const* rules, std::uint32_t const* counters,
                              ItemOrder* order) {
  std::uint32_t const parents = 1U << tree.paths.depth;
  if (threadIdx.x < 32) {  // prefix sums by one warp
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < 2 * parents; base += 32) {
      std::uint32_t const c = base + threadIdx.x, count = c < 2 * parents ? counters[c] : 0;
      std::uint32_t up_to = count;
      for (int d = 1; d < 32; d *= 2) {
        std::uint32_t const other = __shfl_up_sync(kAllLanes, up_to, d);
        if (threadIdx.x >= static_cast<std::uint32_t>(d)) up_to += other;
      }
      if (c < 2 * parents) order->first[c] = before + up_to - count;
      before += __shfl_sync(kAllLanes, up_to, 31);
    }
    if (threadIdx.x == 0) order->first[2 * parents] = before;
  }
  __syncthreads();
  if (threadIdx.x < parents && rules[threadIdx.x].splits) {
    std::uint32_t const left = counters[2 * threadIdx.x], right = counters[2 * threadIdx.x + 1];
    if (left + right != 0) {
      Family& family = tree.families[rules[threadIdx.x].family];
      Node const& parent = tree.nodes[family.parent];
      unsigned long long const before = atomicAdd(&family.moved, Both(right, left));
      order->shift[2 * threadIdx.x] = parent.first_row + Low(before) - order->first[2 * threadIdx.x];
      order->shift[2 * threadIdx.x + 1] =
          parent.first_row + parent.rows - High(before) - right - order->first[2 * threadIdx.x + 1];
    }
  }
  __syncthreads();
}

/// store(place, load(row)) for every piece of the item's sorted rows, each in 1 << shift pieces: loads of several
/// pieces are on their way before the first is stored.
template <typename Load, typename Store>
__device__ void CopyInOrder(ItemOrder const& order, std::uint32_t pieces, std::uint32_t shift, Load&& load,
                            Store&& store) {
  constexpr int kInFlight = 8;
  for (std::uint32_t base = threadIdx.x; base < pieces; base += kInFlight * kThreads) {
    decltype(load(0U)) v[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      std::uint32_t const c = base + i * kThreads;
      if (c < pieces) v[i] = load((order.row[c >> shift] << shift) + (c & shift));
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      std::uint32_t const c = base + i * kThreads, sorted = c >> shift;
      if (c < pieces) store((std::uint64_t{sorted + order.shift[order.child[sorted]]} << shift) + (c & shift), v[i]);
    }
  }
}

/// Copies the item's live rows, tile by tile: reads lie close together, writes are runs.
template <typename Piece>
__device__ void CopyRecords(DeviceTree const& tree, Item const& it, ItemOrder const& order, std::uint32_t live) {
  RowPaths const& paths = tree.paths;
  DeviceMatrixView const& m = tree.matrix;
  std::uint32_t const shift = m.record_bytes() == sizeof(Piece) ? 0 : 1;  // a record is one piece or two
  for (std::uint64_t tile = 0; tile < m.tiles; ++tile) {
    auto const* const from =
        reinterpret_cast<Piece const*>(paths.store.records) + ((tile * m.rows + it.first) << shift);
    auto* const to = reinterpret_cast<Piece*>(paths.next_records) + (tile * m.rows << shift);
    CopyInOrder(
        order, live << shift, shift, [&](std::uint32_t row) { return from[row]; },
        [&](std::uint64_t place, Piece const& v) { to[place] = v; });
  }
}

/// No row is told another node to walk from.
__device__ void WalkFromRoot(DeviceTree const& tree) {
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < tree.matrix.rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    tree.paths.start[row] = static_cast<std::uint8_t>(kDeadPath);
  }
}

template <bool kCategories>
__global__ void __launch_bounds__(kThreads) MovePathsKernel(DeviceTree tree) {
  __shared__ Rule rules[kMostPaths];
  __shared__ std::uint32_t counters[2 * kMostPaths];  // rows of each child
  __shared__ ItemOrder order;
  WaitForKernelBefore();
  RowPaths const& paths = tree.paths;
  bool const narrow = tree.gradient->format.narrow;
  std::uint32_t const items = tree.state->path_items, groups = tree.state->groups, children = 2U << paths.depth;
  if (items == 0 && paths.start != nullptr) WalkFromRoot(tree);
  if (items != 0 && !narrow && paths.next_wide == nullptr && blockIdx.x == 0 && threadIdx.x == 0) {
    tree.state->no_room = 1;
  }
  if (!paths.cleared) ClearSlots(tree);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    if (threadIdx.x < children) counters[threadIdx.x] = 0;
    Item const it = LoadItem(tree, groups, item);
    std::uint32_t next[kItemSteps], place[kItemSteps];
    NextPaths<kCategories>(tree, it, rules, next);
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) place[k] = CountRow(counters, next[k]);
    __syncthreads();
    PlaceChildren(tree, rules, counters, &order);
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) {
      std::uint32_t const row = k * kThreads + threadIdx.x;
      bool const live = next[k] != kDeadPath;
      if (live) {
        std::uint32_t const sorted = order.first[next[k]] + place[k];
        order.row[sorted] = row;
        order.child[sorted] = static_cast<std::uint8_t>(next[k]);
      }
      if (paths.start != nullptr && it.first + row < it.end) {
        std::uint32_t const group = live ? 2 * rules[next[k] / 2].family + next[k] % 2 : kDeadPath;
        paths.start[it.first + row] = static_cast<std::uint8_t>(group);
      }
    }
    __syncthreads();
    std::uint32_t const live = order.first[children];
    switch (tree.matrix.record_bytes()) {
      case 4:
        CopyRecords<std::uint32_t>(tree, it, order, live);
        break;
      case 8:
        CopyRecords<uint2>(tree, it, order, live);
        break;
      default:
        CopyRecords<uint4>(tree, it, order, live);
    }
    if (narrow) {
      CopyInOrder(
          order, live, 0, [&](std::uint32_t row) { return paths.store.narrow[it.first + row]; },
          [&](std::uint64_t place, NarrowGradient v) { paths.next_narrow[place] = v; });
    } else if (paths.next_wide != nullptr) {
      CopyInOrder(
          order, live, 0, [&](std::uint32_t row) { return paths.store.wide[it.first + row]; },
          [&](std::uint64_t place, GradientPair v) { paths.next_wide[place] = v; });
    }
    __syncthreads();  // before the rules and counters are written again
  }
  if (IsLastBlock(&tree.state->finished_blocks, gridDim.x)) PlanGroups(tree);
}

__global__ void __launch_bounds__(kThreads) ClearSumsKernel(DeviceTree tree) {
  WaitForKernelBefore();
  ClearSlots(tree);
}

/// Blocks for all rows, and for the slots that are cleared.
unsigned PathBlocks(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits) {
  std::uint64_t const items = tree.matrix.rows / kPathItemRows + bounds.families;
  return Blocks(std::max(items, ClearPieces(tree, bounds.families)), 1, limits, kResident);
}

}  // namespace

void AdvancePaths(DeviceTree const& tree, LevelBounds const& bounds, PathStep step, DeviceLimits const& limits,
                  cudaStream_t stream) {
  unsigned const blocks = PathBlocks(tree, bounds, limits);
  bool const categories = tree.categories.sets != nullptr;
  auto* const kernel = step.move ? (categories ? AdvancePathsKernel<true, true> : AdvancePathsKernel<true, false>)
                                 : (categories ? AdvancePathsKernel<false, true> : AdvancePathsKernel<false, false>);
  LaunchNext("dividing rows", kernel, blocks, kThreads, 0, limits, stream, tree);
}

void ClearSums(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("clearing sums", ClearSumsKernel, Blocks(ClearPieces(tree, bounds.families), 1, limits, kResident),
             kThreads, 0, limits, stream, tree);
}

void MovePaths(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = tree.categories.sets != nullptr ? MovePathsKernel<true> : MovePathsKernel<false>;
  LaunchNext("moving rows", kernel, PathBlocks(tree, bounds, limits), kThreads, 0, limits, stream, tree);
}

}  // namespace xgbgpu::cuda
