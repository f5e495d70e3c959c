// Advances and moves rows by paths on a device.
#include <cuda_pipeline.h>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "cuda/warp_search.cuh"
#include "matrix/device_matrix_policy.h"
#include "matrix/record_pieces.cuh"
#include "partition/partition_cuda.h"
#include "partition/path_jobs.cuh"
#include "tree/clear_slots.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;
constexpr int kItemSteps = kPathItemRows / kThreads;
constexpr int kMostPaths = 128;  // paths of one group at one level

/// The split of a path with the address of its symbols.
struct Rule {
  std::uint64_t offset;  ///< of row 0's symbol in the records
  std::uint32_t family;
  std::uint16_t bin;
  std::uint16_t missing_left;
  bool splits;
  bool by_categories;
};

/// The work of a block at a time: a piece of a group's rows, and the rules of the group's paths.
struct Item {
  RowGroup group;
  std::uint32_t number;      ///< of the group
  std::uint32_t first, end;  ///< rows of the store
};

__device__ Item LoadItem(RowPaths const& paths, std::uint32_t groups, std::uint32_t item) {
  Item it;
  it.number = FindJobByWarp(groups, item, [&](std::uint32_t g) { return paths.groups[g].first_item; });
  it.group = paths.groups[it.number];
  it.first = it.group.first_row + (item - it.group.first_item) * kPathItemRows;
  it.end = min(it.first + kPathItemRows, it.group.first_row + it.group.rows);
  return it;
}

/// Loads the rules of the item's paths into shared memory. A __syncthreads must separate it from earlier reads.
__device__ void LoadRules(DeviceMatrixView const& m, RowPaths const& paths, Item const& it, Rule* rules) {
  if (threadIdx.x < (1U << paths.depth)) {
    PathSplit const s = paths.splits[(it.number << paths.depth) + threadIdx.x];
    Rule& rule = rules[threadIdx.x];
    rule.splits = s.column != kNoColumn;
    rule.family = s.family & ~kByCategories;
    rule.by_categories = (s.family & kByCategories) != 0;
    rule.bin = s.bin;
    rule.missing_left = s.missing_left;
    rule.offset = m.symbol_offset(rule.splits ? s.column : 0);
  }
  __syncthreads();
}

__device__ std::uint32_t SymbolAt(DeviceMatrixView const& m, std::uint8_t const* records, std::uint64_t offset,
                                  std::uint32_t row) {
  std::uint8_t const* const at = records + offset + std::uint64_t{row} * m.record_bytes();
  return m.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
}

/// Returns the children's paths of this thread's rows first + k · kThreads + thread, with kDeadPath for none. Rules are
/// loaded meanwhile.
template <bool kCategories>
__device__ void NextPaths(PartitionView const& view, RowPaths const& paths, Item const& it, Rule* rules,
                          std::uint32_t* next) {
  std::uint32_t path[kItemSteps], symbol[kItemSteps];
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
    path[k] = row < it.end ? (paths.path == nullptr ? 0 : paths.path[row] - paths.first) : kDeadPath;
  }
  LoadRules(view.matrix, paths, it, rules);
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
    bool const live = path[k] < (1U << paths.depth) && rules[path[k]].splits;
    symbol[k] = live ? SymbolAt(view.matrix, paths.store.records, rules[path[k]].offset, row) : 0;
    if (!live) path[k] = kDeadPath;
  }
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    if (path[k] == kDeadPath) {
      next[k] = kDeadPath;
      continue;
    }
    Rule const& rule = rules[path[k]];
    bool const left = GoesLeft(symbol[k], rule, kCategories && rule.by_categories, view.categories);
    next[k] = 2 * path[k] + (left ? 0 : 1);
  }
}

/// Counts this thread's row, and returns its place among the block's rows with this key. Does not count kDeadPath.
__device__ std::uint32_t CountRow(std::uint32_t* counters, std::uint32_t key) {
  return key == kDeadPath ? 0 : atomicAdd(counters + key, 1U);
}

template <bool kCount, bool kCategories>
__global__ void __launch_bounds__(kThreads) AdvancePathsKernel(PartitionView view, RowPaths paths) {
  __shared__ Rule rules[kMostPaths];
  __shared__ std::uint32_t counters[2 * kMostPaths];
  WaitForKernelBefore();
  GrowingTree const& tree = view.tree;
  std::uint32_t const items = tree.state->path_items, groups = tree.state->groups, children = 2U << paths.depth;
  if (!paths.cleared) ClearSlots(view.tree, view.histograms);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    if (kCount && threadIdx.x < children) counters[threadIdx.x] = 0;
    Item const it = LoadItem(paths, groups, item);
    std::uint32_t next[kItemSteps];
    NextPaths<kCategories>(view, paths, it, rules, next);
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) {
      std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
      std::uint32_t const number = next[k] == kDeadPath ? kDeadPath : paths.next_first + next[k];
      if (row < it.end) paths.next_path[row] = static_cast<std::uint8_t>(number);
      if (kCount) CountRow(counters, next[k]);
    }
    __syncthreads();  // the rules are written again next
    if (kCount && threadIdx.x < children && counters[threadIdx.x] != 0) {
      atomicAdd(paths.counts + it.number * children + threadIdx.x, counters[threadIdx.x]);
    }
    if (kCount) __syncthreads();  // the counters are cleared next
  }
}

/// Rows that a block moves at a time. All their data are in flight to shared memory while their paths are computed.
constexpr std::uint32_t kMovedRows = 1024;
constexpr int kMoveSteps = kMovedRows / kThreads, kMoveResident = 4;
static_assert(kPathItemRows % kMovedRows == 0);
/// Most paths of one group that is moved: fewer than without a move, so that small multiprocessors hold two blocks.
constexpr int kMovedPaths = 64;
static_assert(1 << (PartitionPolicy{}.move_small_every - 1) <= kMovedPaths &&
              PartitionPolicy{}.move_every <= PartitionPolicy{}.move_small_every);

/// The rows of an item's piece in the order of their children.
struct MovedOrder {
  std::uint16_t row[kMovedRows];             ///< sorted: row of the piece
  std::uint8_t child[kMovedRows];            ///< sorted
  std::uint32_t first[2 * kMovedPaths + 1];  ///< place of each child's first row in the order
  std::uint32_t shift[2 * kMovedPaths];      ///< from the order to the next store
};

/// Finds the places of a piece's children, in the piece and in the next store. One atomic takes a part of each parent's
/// range. Left children fill it from the front, right children from its end: rows of a node have no order, and no sum
/// depends on one.
__device__ void PlaceChildren(GrowingTree const& tree, RowPaths const& paths, Rule const* rules,
                              std::uint32_t const* counters, MovedOrder* order) {
  std::uint32_t const parents = 1U << paths.depth;
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

/// Starts the copy of `n` neighbouring pieces of `from`. They arrive with __pipeline_wait_prior(0) and a barrier.
template <typename Piece>
__device__ void Stage(Piece const* from, std::uint32_t n, void* to) {
  for (std::uint32_t i = threadIdx.x; i < n; i += kThreads) {
    __pipeline_memcpy_async(static_cast<Piece*>(to) + i, from + i, sizeof(Piece));
  }
}

/// Copies the staged pieces of live rows, 1 << shift of each row, to their places. Writes are runs.
template <typename Piece>
__device__ void CopyInOrder(MovedOrder const& order, std::uint32_t live, std::uint32_t shift, void const* staged,
                            Piece* to) {
#pragma unroll 4
  for (std::uint32_t c = threadIdx.x; c < live << shift; c += kThreads) {
    std::uint32_t const sorted = c >> shift, place = sorted + order.shift[order.child[sorted]];
    to[(std::uint64_t{place} << shift) + (c & shift)] =
        static_cast<Piece const*>(staged)[(order.row[sorted] << shift) + (c & shift)];
  }
}

/// The move of a piece's records, a tile at a time.
template <typename Piece>
struct MovedTile {
  Piece const* from;
  Piece* to;
  std::uint32_t shift;

  __device__ MovedTile(DeviceMatrixView const& m, RowPaths const& paths, Item const& it, std::uint64_t tile) {
    shift = PieceShift<Piece>(m);
    from = reinterpret_cast<Piece const*>(paths.store.records) + ((tile * m.rows + it.first) << shift);
    to = reinterpret_cast<Piece*>(paths.next_records) + (tile * m.rows << shift);
  }
};

/// Makes all rows start the last walk at the root.
__device__ void WalkFromRoot(std::uint64_t rows, std::uint8_t* start) {
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    start[row] = static_cast<std::uint8_t>(kDeadPath);
  }
}

/// Moves a piece. `staged`: room for the records of a tile, then for gradients.
template <bool kCategories>
__device__ void MovePiece(PartitionView const& view, RowPaths const& paths, Item const& it, Rule* rules,
                          std::uint32_t* counters, MovedOrder* order, std::uint8_t* staged) {
  DeviceMatrixView const& m = view.matrix;
  std::uint32_t const children = 2U << paths.depth, rows = it.end - it.first, record_bytes = m.record_bytes();
  std::uint8_t* const gradients = staged + kMovedRows * record_bytes;
  bool const narrow = view.gradient->format.narrow, wide = !narrow && paths.next_wide != nullptr;
  auto const stage_tile = [&](std::uint64_t tile) {
    WithPiece(record_bytes, [&](auto piece) {
      MovedTile<decltype(piece)> const t{m, paths, it, tile};
      Stage(t.from, rows << t.shift, staged);
    });
  };
  stage_tile(0);
  if (narrow) Stage(reinterpret_cast<std::uint32_t const*>(paths.store.narrow + it.first), rows, gradients);
  if (wide) Stage(reinterpret_cast<uint2 const*>(paths.store.wide + it.first), rows, gradients);
  if (threadIdx.x < children) counters[threadIdx.x] = 0;
  std::uint32_t path[kMoveSteps];
#pragma unroll
  for (int k = 0; k < kMoveSteps; ++k) {
    std::uint32_t const row = k * kThreads + threadIdx.x;
    path[k] = row < rows ? (paths.path == nullptr ? 0 : paths.path[it.first + row] - paths.first) : kDeadPath;
  }
  LoadRules(view.matrix, paths, it, rules);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  std::uint32_t next[kMoveSteps], place[kMoveSteps];
#pragma unroll
  for (int k = 0; k < kMoveSteps; ++k) {
    std::uint32_t const row = k * kThreads + threadIdx.x;
    bool const live = path[k] < (1U << paths.depth) && rules[path[k]].splits;
    next[k] = kDeadPath;
    if (live) {
      Rule const& rule = rules[path[k]];
      std::uint32_t const symbol = m.tiles == 1 ? SymbolAt(m, staged, rule.offset, row)
                                                : SymbolAt(m, paths.store.records, rule.offset, it.first + row);
      bool const left = GoesLeft(symbol, rule, kCategories && rule.by_categories, view.categories);
      next[k] = 2 * path[k] + (left ? 0 : 1);
    }
    place[k] = CountRow(counters, next[k]);
  }
  __syncthreads();
  PlaceChildren(view.tree, paths, rules, counters, order);
#pragma unroll
  for (int k = 0; k < kMoveSteps; ++k) {
    std::uint32_t const row = k * kThreads + threadIdx.x;
    bool const live = next[k] != kDeadPath;
    if (live) {
      std::uint32_t const sorted = order->first[next[k]] + place[k];
      order->row[sorted] = static_cast<std::uint16_t>(row);
      order->child[sorted] = static_cast<std::uint8_t>(next[k]);
    }
    if (paths.start != nullptr && row < rows) {
      std::uint32_t const group = live ? 2 * rules[next[k] / 2].family + next[k] % 2 : kDeadPath;
      paths.start[it.first + row] = static_cast<std::uint8_t>(group);
    }
  }
  __syncthreads();
  std::uint32_t const live = order->first[children];
  for (std::uint64_t tile = 0; tile < m.tiles; ++tile) {
    if (tile != 0) {
      __syncthreads();  // the last tile's records have been copied
      stage_tile(tile);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    WithPiece(record_bytes, [&](auto piece) {
      MovedTile<decltype(piece)> const t{m, paths, it, tile};
      CopyInOrder(*order, live, t.shift, staged, t.to);
    });
  }
  if (narrow) CopyInOrder(*order, live, 0, gradients, reinterpret_cast<std::uint32_t*>(paths.next_narrow));
  if (wide) CopyInOrder(*order, live, 0, gradients, reinterpret_cast<uint2*>(paths.next_wide));
  __syncthreads();  // the next piece reuses the shared memory
}

template <bool kCategories>
__global__ void __launch_bounds__(kThreads, kMoveResident) MovePathsKernel(PartitionView view, RowPaths paths) {
  extern __shared__ __align__(16) std::uint8_t staged[];
  __shared__ Rule rules[kMovedPaths];
  __shared__ std::uint32_t counters[2 * kMovedPaths];  // number of rows of each child
  __shared__ MovedOrder order;
  WaitForKernelBefore();
  GrowingTree const& tree = view.tree;
  std::uint32_t const items = tree.state->path_items, groups = tree.state->groups;
  if (items == 0 && paths.start != nullptr) WalkFromRoot(view.matrix.rows, paths.start);
  if (items != 0 && !view.gradient->format.narrow && paths.next_wide == nullptr && blockIdx.x == 0 &&
      threadIdx.x == 0) {
    tree.state->no_room = 1;
  }
  if (!paths.cleared) ClearSlots(view.tree, view.histograms);
  constexpr std::uint32_t kPieces = kPathItemRows / kMovedRows;
  for (std::uint32_t p = blockIdx.x; p < items * kPieces; p += gridDim.x) {
    Item it = LoadItem(paths, groups, p / kPieces);
    it.first += p % kPieces * kMovedRows;
    it.end = min(it.end, it.first + kMovedRows);
    if (it.first < it.end) MovePiece<kCategories>(view, paths, it, rules, counters, &order, staged);
  }
  if (IsLastBlock(&tree.state->finished_blocks, gridDim.x)) PlanGroups(tree, paths);
}

__global__ void __launch_bounds__(kThreads) ClearSumsKernel(PartitionView view) {
  WaitForKernelBefore();
  ClearSlots(view.tree, view.histograms);
}

/// Returns the blocks for all rows, and for the slots to clear.
unsigned PathBlocks(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits, int resident,
                    std::uint32_t rows_at_a_time) {
  std::uint64_t const items = view.matrix.rows / rows_at_a_time + bounds.families;
  return Blocks(std::max(items, ClearPieces(view.histograms, bounds.families)), 1, limits, resident);
}

}  // namespace

void AdvancePaths(PartitionView const& view, RowPaths const& paths, LevelBounds const& bounds, PathStep step,
                  DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = PathBlocks(view, bounds, limits, kResident, kPathItemRows);
  bool const categories = view.categories.sets != nullptr;
  auto* const kernel = step.move ? (categories ? AdvancePathsKernel<true, true> : AdvancePathsKernel<true, false>)
                                 : (categories ? AdvancePathsKernel<false, true> : AdvancePathsKernel<false, false>);
  LaunchNext("dividing rows", kernel, blocks, kThreads, 0, limits, stream, view, paths);
}

void ClearSums(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("clearing sums", ClearSumsKernel,
             Blocks(ClearPieces(view.histograms, bounds.families), 1, limits, kResident), kThreads, 0, limits, stream,
             view);
}

void MovePaths(PartitionView const& view, RowPaths const& paths, LevelBounds const& bounds, DeviceLimits const& limits,
               cudaStream_t stream) {
  auto* const kernel = view.categories.sets != nullptr ? MovePathsKernel<true> : MovePathsKernel<false>;
  std::size_t const staged = kMovedRows * (view.matrix.record_bytes() + sizeof(GradientPair));
  AllowShared(kernel, kMovedRows * (DeviceMatrixPolicy{}.record_bytes + sizeof(GradientPair)));
  LaunchNext("moving rows", kernel, PathBlocks(view, bounds, limits, kMoveResident, kMovedRows), kThreads, staged,
             limits, stream, view, paths);
}

}  // namespace xgbgpu::cuda
