// Stages of exact trees over the rows of a level on a device: gradients, sides, moves, look-ups of entries.
#include "core/random.h"
#include "core/search.h"
#include "cuda/grid.h"
#include "cuda/warp_search.cuh"
#include "exact/exact_cuda.h"
#include "exact/tiles.cuh"
#include "gradient/gradient_ops.h"
#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // one Philox block serves four rows

/// Calls f(row) for all rows, divided among the threads of the grid.
template <typename F>
__device__ void ForEachRow(std::uint64_t rows, F&& f) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) f(row);
}

/// Quantises gradients. If kSampled, rows outside the sample get the position ~0, and `sum` leaves them out.
template <bool kSampled>
__global__ void __launch_bounds__(kThreads) QuantiseKernel(ExactRootView root) {
  GradientSum total;
  ForEachRow((root.rows + kLaneRows - 1) / kLaneRows, [&](std::uint64_t block) {
    RandomBlock draws{};
    if (kSampled) draws = root.draws.Block(static_cast<std::uint32_t>(block));
    for (int i = 0; i < kLaneRows; ++i) {
      std::uint64_t const row = block * kLaneRows + static_cast<std::uint64_t>(i);
      if (row >= root.rows) break;
      GradientSum const q = QuantiseWide(root.gradients[row], root.grad_scale, root.hess_scale);
      if (root.quantised.compact != nullptr) {
        root.quantised.compact[row] = {static_cast<int>(q.grad), static_cast<int>(q.hess)};
      } else {
        root.quantised.wide[row] = q;
      }
      bool const in = !kSampled || IsSampled(draws.word[i], root.threshold);
      root.positions[row] = in ? 0 : ~NodeIndex{0};
      if (kSampled) root.sides[row] = in ? 1 : 0;
      if (in) total += q;
    }
  });
  total = {WarpSum(total.grad), WarpSum(total.hess)};
  if (threadIdx.x % 32 == 0) {
    AtomicAdd(&root.sum->grad, total.grad);
    AtomicAdd(&root.sum->hess, total.hess);
  }
}

/// Returns the number of the split of the row's node, or -1. *node becomes the node. The level must have the row.
__device__ std::int32_t SplitOf(ExactRows const& rows, ExactSplits const& splits, std::uint64_t row,
                                std::uint32_t* node) {
  *node = RangeOf(rows.nodes, row, [&](std::uint32_t n) { return rows.begin[n]; });
  return splits.split_of[*node];
}

__device__ RowIndex OriginOf(ExactRows const& rows, std::uint64_t row) {
  return rows.origin == nullptr ? static_cast<RowIndex>(row) : rows.origin[row];
}

/// Sends every row to the default side of its node's split, and rows without a split to the right.
__global__ void __launch_bounds__(kThreads) DefaultSidesKernel(ExactSidesView view) {
  std::uint64_t const here = view.rows.begin[view.rows.nodes];
  ForEachRow(32 * RowWords(view.rows.most), [&](std::uint64_t row) {
    std::uint32_t node;
    std::int32_t const s = row < here ? SplitOf(view.rows, view.splits, row, &node) : -1;
    view.sides[row] = s >= 0 && view.splits.splits[s].default_left != 0 ? 1 : 0;
  });
}

__device__ GradientSum GradientOf(ExactGradients const& gradients, RowIndex row) {
  if (gradients.compact == nullptr) return gradients.wide[row];
  int2 const g = gradients.compact[row];
  return {g.x, g.y};
}

/// Marks rows that leave the default side, sums the gradients of entries that go left, and finds the two rows next to
/// the split. A warp takes a piece of a list.
__global__ void __launch_bounds__(kThreads) MarkSidesKernel(ExactSidesView view) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const warps = gridDim.x * (kThreads / 32);
  for (std::uint32_t piece = (blockIdx.x * kThreads + threadIdx.x) / 32; piece < view.splits.pieces; piece += warps) {
    std::uint32_t const s =
        RangeOf(view.splits.count, piece, [&](std::uint32_t i) { return view.splits.splits[i].first_piece; });
    ExactSplit const split = view.splits.splits[s];
    std::uint64_t const from = std::uint64_t{piece - split.first_piece} * kPieceEntries;
    std::uint64_t const to = from + kPieceEntries < split.entries ? from + kPieceEntries : split.entries;
    GradientSum below;
#pragma unroll 4
    for (std::uint64_t i = from + lane; i < to; i += 32) {
      RowIndex const row = RowOf(view.lists.entries[split.begin + i]);
      bool const left = i < split.index;
      if (left != (split.default_left != 0)) view.sides[row] = left ? 1 : 0;
      if (left) below += GradientOf(view.gradients, row);
      if (i + 1 == split.index) view.outcomes[s].lower = OriginOf(view.rows, row);
      if (i == split.index) view.outcomes[s].upper = OriginOf(view.rows, row);
    }
    below = {WarpSum(below.grad), WarpSum(below.hess)};
    if (lane == 0) {
      AtomicAdd(&view.outcomes[s].below.grad, below.grad);
      AtomicAdd(&view.outcomes[s].below.hess, below.hess);
    }
  }
}

/// Returns the lowest bits of four bytes.
__device__ std::uint32_t FourBits(std::uint32_t bytes) {
  return (bytes & 1U) | ((bytes >> 7) & 2U) | ((bytes >> 14) & 4U) | ((bytes >> 21) & 8U);
}

/// Packs sides. A thread takes a word. Earlier blocks' sums come by look-back.
__global__ void __launch_bounds__(kExactThreads)
    PackSidesKernel(std::uint8_t const* sides, std::uint64_t words, RowWord* packed, TileStates states) {
  using Scan = cub::BlockScan<std::uint32_t, kExactThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t carried;
  ExactTile const tile{0, blockIdx.x, blockIdx.x};
  std::uint64_t const i = std::uint64_t{blockIdx.x} * kExactThreads + threadIdx.x;
  std::uint32_t left = 0;
  if (i < words) {
    auto const* const bytes = reinterpret_cast<uint4 const*>(sides + 32 * i);
    uint4 const low = bytes[0], high = bytes[1];
    left = FourBits(low.x) | FourBits(low.y) << 4 | FourBits(low.z) << 8 | FourBits(low.w) << 12 |
           FourBits(high.x) << 16 | FourBits(high.y) << 20 | FourBits(high.z) << 24 | FourBits(high.w) << 28;
  }
  std::uint32_t before, all;
  Scan{storage}.ExclusiveSum(static_cast<std::uint32_t>(__popc(left)), before, all);
  if (threadIdx.x < 32) {
    CarriedSum const sum = ExclusivePrefix(states, tile, false, false, CarriedSum{{all, 0}});
    if (threadIdx.x == 0) carried = static_cast<std::uint32_t>(sum.sum.grad);
  }
  __syncthreads();
  if (i < words) packed[i] = {left, carried + before};
}

/// Moves rows to the children, or writes the positions of rows that have reached a leaf.
__global__ void __launch_bounds__(kThreads) MoveRowsKernel(ExactMove move) {
  ForEachRow(move.rows.begin[move.rows.nodes], [&](std::uint64_t row) {
    std::uint32_t node;
    std::int32_t const s = SplitOf(move.rows, move.splits, row, &node);
    RowIndex const origin = OriginOf(move.rows, row);
    if (s < 0) {
      move.positions[origin] = move.first + static_cast<NodeIndex>(node);
      return;
    }
    bool const left = move.sides[row] != 0;
    if (move.child_rows == nullptr) {
      move.positions[origin] = move.left_child + 2 * s + (left ? 0 : 1);
      return;
    }
    if (move.left_only && !left) return;
    RowWord const word = move.words[row / 32];
    std::uint32_t const before =
        word.before + static_cast<std::uint32_t>(__popc(word.left & ((1U << (row % 32)) - 1U)));
    ChildRows const child = move.child_rows[s];
    std::uint32_t const to = left ? child.left + before : child.right + (static_cast<std::uint32_t>(row) - before);
    move.origin[to] = origin;
    if (move.from.compact != nullptr) {
      move.to.compact[to] = move.from.compact[row];
    } else {
      move.to.wide[to] = move.from.wide[row];
    }
  });
}

/// Marks wanted rows.
__global__ void __launch_bounds__(kThreads) MarkRowsKernel(WantedRows wanted, std::uint8_t* marks) {
  ForEachRow(wanted.count, [&](std::uint64_t i) { marks[wanted.rows[i]] = 1; });
}

/// Calls f(place, row) for every entry of the block's tile.
template <typename F>
__device__ void ForEachEntry(ExactColumns const& columns, ExactTile tile, F&& f) {
  std::uint64_t const first = columns.column_ptr[tile.feature] + std::uint64_t{tile.index} * kTileEntries;
  std::uint64_t const end = columns.column_ptr[tile.feature + 1];
  std::uint32_t entry[kExactItems];
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {  // all loads are issued before the first use
    std::uint64_t const place = first + threadIdx.x + static_cast<unsigned>(i) * kThreads;
    entry[i] = place < end ? __ldcs(columns.entries + place) : 0U;
  }
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    std::uint64_t const place = first + threadIdx.x + static_cast<unsigned>(i) * kThreads;
    if (place < end) f(place, RowOf(entry[i]));
  }
}

constexpr std::uint32_t kFilterBits = 32 * kThreads;

/// Finds the entries of wanted rows. A block takes a tile. Nearly all entries are rejected by a test: with few wanted
/// rows in the column by a Bloom filter in shared memory, else by the row's mark in global memory.
__global__ void __launch_bounds__(kThreads)
    LocateKernel(ExactColumns columns, WantedRows wanted, std::uint8_t const* marks, std::uint64_t* places) {
  __shared__ std::uint32_t filter[kFilterBits / 32];
  ExactTile const tile = columns.tiles[blockIdx.x];
  std::uint32_t const first = wanted.row_ptr[tile.feature], last = wanted.row_ptr[tile.feature + 1];
  if (first == last) return;
  bool const few = last - first <= kThreads;
  if (few) {
    filter[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < last - first) {
      std::uint32_t const bit = wanted.rows[first + threadIdx.x] % kFilterBits;
      atomicOr(filter + bit / 32, 1U << (bit % 32));
    }
    __syncthreads();
  }
  ForEachEntry(columns, tile, [&](std::uint64_t place, RowIndex row) {
    bool const is_marked = few ? ((filter[row % kFilterBits / 32] >> (row % 32)) & 1U) != 0 : marks[row] != 0;
    if (!is_marked) return;
    auto const found = FirstWhere(first, last, [&](std::uint32_t i) { return wanted.rows[i] >= row; });
    if (found < last && wanted.rows[found] == row) places[found] = place;
  });
}

/// Moves rows outside the sample to the default child.
__global__ void __launch_bounds__(kThreads)
    StepByDefaultKernel(ExactStep const* nodes, int depth, NodeIndex* positions, std::uint64_t rows) {
  ForEachRow(rows, [&](std::uint64_t row) {
    NodeIndex const p = positions[row];
    if (p >= 0) return;
    ExactStep const& node = nodes[~p];
    if (node.left == kNoNode || node.depth != depth) return;
    positions[row] = ~(node.left + (node.default_left != 0 ? 0 : 1));
  });
}

/// Moves rows outside the sample that have a value from the default child to the value's child. A block takes a tile.
__global__ void __launch_bounds__(kThreads)
    StepByValueKernel(ExactColumns columns, ExactStep const* nodes, int depth, NodeIndex* positions) {
  ExactTile const tile = columns.tiles[blockIdx.x];
  if (columns.used[tile.feature] == 0) return;
  ForEachEntry(columns, tile, [&](std::uint64_t place, RowIndex row) {
    NodeIndex const p = positions[row];
    if (p >= 0) return;
    NodeIndex const parent = nodes[~p].parent;
    if (parent == kNoNode) return;
    ExactStep const& node = nodes[parent];
    if (node.depth != depth || node.feature != tile.feature) return;
    positions[row] = ~(node.left + (place < node.place ? 0 : 1));
  });
}

static_assert(kThreads == kExactThreads, "a block takes a tile");

}  // namespace

void QuantiseExact(ExactRootView const& root, DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(root.rows, kThreads * kLaneRows, limits, kResident);
  auto* const kernel = root.sampled ? QuantiseKernel<true> : QuantiseKernel<false>;
  kernel<<<blocks, kThreads, 0, stream>>>(root);
  CheckLaunch("quantising gradients");
}

void MarkSides(ExactSidesView const& view, DeviceLimits const& limits, cudaStream_t stream) {
  DefaultSidesKernel<<<Blocks(view.rows.most, kThreads, limits, kResident), kThreads, 0, stream>>>(view);
  CheckLaunch("sending rows to their default side");
  MarkSidesKernel<<<Blocks(view.splits.pieces, kThreads / 32, limits, kResident), kThreads, 0, stream>>>(view);
  CheckLaunch("sending rows to their side");
}

void PackSides(std::uint8_t const* sides, std::uint64_t rows, RowWord* words, TileStates const& states,
               cudaStream_t stream) {
  auto const blocks = static_cast<unsigned>((RowWords(rows) + kExactThreads - 1) / kExactThreads);
  PackSidesKernel<<<blocks, kExactThreads, 0, stream>>>(sides, RowWords(rows), words, states);
  CheckLaunch("packing sides");
}

void MoveExactRows(ExactMove const& move, DeviceLimits const& limits, cudaStream_t stream) {
  MoveRowsKernel<<<Blocks(move.rows.most, kThreads, limits, kResident), kThreads, 0, stream>>>(move);
  CheckLaunch("moving rows to children");
}

void LocateRows(ExactColumns const& columns, WantedRows const& wanted, std::uint8_t* marks, std::uint64_t* places,
                DeviceLimits const& limits, cudaStream_t stream) {
  FillBytes(marks, 0, columns.rows, stream, "looking for values");
  MarkRowsKernel<<<Blocks(wanted.count, kThreads, limits, kResident), kThreads, 0, stream>>>(wanted, marks);
  CheckLaunch("marking rows");
  LocateKernel<<<columns.tile_count, kThreads, 0, stream>>>(columns, wanted, marks, places);
  CheckLaunch("looking for values");
}

void StepUnsampled(ExactColumns const& columns, ExactStep const* nodes, int depth, NodeIndex* positions,
                   DeviceLimits const& limits, cudaStream_t stream) {
  StepByDefaultKernel<<<Blocks(columns.rows, kThreads, limits, kResident), kThreads, 0, stream>>>(
      nodes, depth, positions, columns.rows);
  CheckLaunch("leading rows outside the sample");
  if (columns.tile_count == 0) return;
  StepByValueKernel<<<columns.tile_count, kThreads, 0, stream>>>(columns, nodes, depth, positions);
  CheckLaunch("leading rows outside the sample by their values");
}

}  // namespace xgbgpu::cuda
