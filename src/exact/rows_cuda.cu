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

/// Calls f(row) for all rows; every thread takes some of them.
template <typename F>
__device__ void ForEachRow(std::uint64_t rows, F&& f) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) f(row);
}

/// Quantises gradients. If kSampled, rows outside the sample start at ~0, and their gradients are not counted.
template <bool kSampled>
__global__ void __launch_bounds__(kThreads)
    QuantiseKernel(GradientPair const* gradients, std::uint64_t rows, double grad_scale, double hess_scale,
                   RandomStream sample, std::uint64_t threshold, int2* compact, GradientSum* wide, NodeIndex* positions,
                   std::uint8_t* sides, GradientSum* sum) {
  GradientSum total;
  ForEachRow((rows + kLaneRows - 1) / kLaneRows, [&](std::uint64_t block) {
    RandomBlock draws{};
    if (kSampled) draws = sample.Block(static_cast<std::uint32_t>(block));
    for (int i = 0; i < kLaneRows; ++i) {
      std::uint64_t const row = block * kLaneRows + static_cast<std::uint64_t>(i);
      if (row >= rows) break;
      GradientSum const q = QuantiseWide(gradients[row], grad_scale, hess_scale);
      if (compact != nullptr) {
        compact[row] = {static_cast<int>(q.grad), static_cast<int>(q.hess)};
      } else {
        wide[row] = q;
      }
      bool const in = !kSampled || IsSampled(draws.word[i], threshold);
      positions[row] = in ? 0 : ~NodeIndex{0};
      if (kSampled) sides[row] = in ? 1 : 0;
      if (in) total += q;
    }
  });
  total = {WarpSum(total.grad), WarpSum(total.hess)};
  if (threadIdx.x % 32 == 0) {
    AtomicAdd(&sum->grad, total.grad);
    AtomicAdd(&sum->hess, total.hess);
  }
}

/// Returns the number of the split of the row's node, or -1; *node becomes the node. The level must have the row.
__device__ std::int32_t SplitOf(ExactRows const& rows, std::int32_t const* split_of, std::uint64_t row,
                                std::uint32_t* node) {
  *node = RangeOf(rows.nodes, row, [&](std::uint32_t n) { return rows.begin[n]; });
  return split_of[*node];
}

__device__ RowIndex OriginOf(ExactRows const& rows, std::uint64_t row) {
  return rows.origin == nullptr ? static_cast<RowIndex>(row) : rows.origin[row];
}

__global__ void __launch_bounds__(kThreads)
    DefaultSidesKernel(ExactRows rows, ExactSplit const* splits, std::int32_t const* split_of, std::uint8_t* sides) {
  std::uint64_t const here = rows.begin[rows.nodes];
  ForEachRow(32 * RowWords(rows.most), [&](std::uint64_t row) {
    std::uint32_t node;
    std::int32_t const s = row < here ? SplitOf(rows, split_of, row, &node) : -1;
    sides[row] = s >= 0 && splits[s].default_left != 0 ? 1 : 0;
  });
}

__device__ GradientSum GradientOf(ExactGradients const& gradients, RowIndex row) {
  if (gradients.compact == nullptr) return gradients.wide[row];
  int2 const g = gradients.compact[row];
  return {g.x, g.y};
}

/// Marks the rows that do not go to the default side, sums those of entries that go left, and finds the two rows beside
/// the split. A warp takes a piece of a list.
__global__ void __launch_bounds__(kThreads)
    MarkSidesKernel(std::uint32_t const* entries, ExactRows rows, ExactSplit const* splits, std::uint32_t split_count,
                    std::uint32_t pieces, ExactGradients gradients, std::uint8_t* sides, ExactOutcome* outcomes) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const warps = gridDim.x * (kThreads / 32);
  for (std::uint32_t piece = (blockIdx.x * kThreads + threadIdx.x) / 32; piece < pieces; piece += warps) {
    std::uint32_t const s = RangeOf(split_count, piece, [&](std::uint32_t i) { return splits[i].first_piece; });
    ExactSplit const split = splits[s];
    std::uint64_t const from = std::uint64_t{piece - split.first_piece} * kPieceEntries;
    std::uint64_t const to = from + kPieceEntries < split.entries ? from + kPieceEntries : split.entries;
    GradientSum below;
#pragma unroll 4
    for (std::uint64_t i = from + lane; i < to; i += 32) {
      RowIndex const row = entries[split.begin + i] & ~kNewValue;
      bool const left = i < split.index;
      if (left != (split.default_left != 0)) sides[row] = left ? 1 : 0;
      if (left) below += GradientOf(gradients, row);
      if (i + 1 == split.index) outcomes[s].lower = OriginOf(rows, row);
      if (i == split.index) outcomes[s].upper = OriginOf(rows, row);
    }
    below = {WarpSum(below.grad), WarpSum(below.hess)};
    if (lane == 0) {
      AtomicAdd(&outcomes[s].below.grad, below.grad);
      AtomicAdd(&outcomes[s].below.hess, below.hess);
    }
  }
}

/// Returns the lowest bits of four bytes.
__device__ std::uint32_t FourBits(std::uint32_t bytes) {
  return (bytes & 1U) | ((bytes >> 7) & 2U) | ((bytes >> 14) & 4U) | ((bytes >> 21) & 8U);
}

/// Packs sides. A thread takes a word; what the blocks before sum up to comes by look-back.
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
    CarriedSum const sum = HandOn(states, tile, false, false, CarriedSum{{all, 0}}, CarriedSum{}, JoinCarried{});
    if (threadIdx.x == 0) carried = static_cast<std::uint32_t>(sum.sum.grad);
  }
  __syncthreads();
  if (i < words) packed[i] = {left, carried + before};
}

__global__ void __launch_bounds__(kThreads) MoveRowsKernel(ExactMove move) {
  ForEachRow(move.rows.begin[move.rows.nodes], [&](std::uint64_t row) {
    std::uint32_t node;
    std::int32_t const s = SplitOf(move.rows, move.split_of, row, &node);
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
      move.compact[to] = move.from.compact[row];
    } else {
      move.wide[to] = move.from.wide[row];
    }
  });
}

__global__ void __launch_bounds__(kThreads)
    MarkRowsKernel(RowIndex const* rows, std::uint32_t count, std::uint8_t* marks) {
  ForEachRow(count, [&](std::uint64_t i) { marks[rows[i]] = 1; });
}

/// Calls f(place, row) for every entry of the block's tile.
template <typename F>
__device__ void ForEachEntry(ExactColumns const& columns, ExactTile tile, F&& f) {
  std::uint64_t const first = columns.column_ptr[tile.feature] + std::uint64_t{tile.index} * kTileEntries;
  std::uint64_t const end = columns.column_ptr[tile.feature + 1];
  std::uint32_t entry[kExactItems];
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {  // all entries are asked for before the first is looked at
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

/// Finds the places of rows in their column. A block takes a tile. Nearly no entry is wanted, and marks are far away.
/// So, where few rows of a column are wanted, each sets a bit in shared memory, which few other rows share.
__global__ void __launch_bounds__(kThreads)
    LocateKernel(ExactColumns columns, std::uint32_t const* row_ptr, RowIndex const* rows, std::uint8_t const* marks,
                 std::uint64_t* places) {
  __shared__ std::uint32_t filter[kFilterBits / 32];
  ExactTile const tile = columns.tiles[blockIdx.x];
  std::uint32_t const first = row_ptr[tile.feature], last = row_ptr[tile.feature + 1];
  if (first == last) return;
  bool const few = last - first <= kThreads;
  if (few) {
    filter[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < last - first) {
      std::uint32_t const bit = rows[first + threadIdx.x] % kFilterBits;
      atomicOr(filter + bit / 32, 1U << (bit % 32));
    }
    __syncthreads();
  }
  ForEachEntry(columns, tile, [&](std::uint64_t place, RowIndex row) {
    bool const is_marked = few ? ((filter[row % kFilterBits / 32] >> (row % 32)) & 1U) != 0 : marks[row] != 0;
    if (!is_marked) return;
    auto const found = FirstWhere(first, last, [&](std::uint32_t i) { return rows[i] >= row; });
    if (found < last && rows[found] == row) places[found] = place;
  });
}

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

void QuantiseExact(GradientPair const* gradients, std::uint64_t rows, double grad_scale, double hess_scale,
                   RandomStream const& sample, std::uint64_t threshold, bool sampled, int2* compact, GradientSum* wide,
                   NodeIndex* positions, std::uint8_t* sides, GradientSum* sum, DeviceLimits const& limits,
                   cudaStream_t stream) {
  unsigned const blocks = Blocks(rows, kThreads * kLaneRows, limits, kResident);
  auto* const kernel = sampled ? QuantiseKernel<true> : QuantiseKernel<false>;
  kernel<<<blocks, kThreads, 0, stream>>>(gradients, rows, grad_scale, hess_scale, sample, threshold, compact, wide,
                                          positions, sides, sum);
  CheckLaunch("quantising gradients");
}

void MarkSides(ExactLists const& lists, ExactRows const& rows, ExactSplit const* splits, std::uint32_t split_count,
               std::uint32_t pieces, std::int32_t const* split_of, ExactGradients const& gradients, std::uint8_t* sides,
               ExactOutcome* outcomes, DeviceLimits const& limits, cudaStream_t stream) {
  DefaultSidesKernel<<<Blocks(rows.most, kThreads, limits, kResident), kThreads, 0, stream>>>(rows, splits, split_of,
                                                                                              sides);
  CheckLaunch("sending rows to their default side");
  MarkSidesKernel<<<Blocks(pieces, kThreads / 32, limits, kResident), kThreads, 0, stream>>>(
      lists.entries, rows, splits, split_count, pieces, gradients, sides, outcomes);
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

void LocateRows(ExactColumns const& columns, std::uint32_t const* row_ptr, RowIndex const* rows, std::uint32_t count,
                std::uint8_t* marks, std::uint64_t* places, DeviceLimits const& limits, cudaStream_t stream) {
  FillBytes(marks, 0, columns.rows, stream, "looking for values");
  MarkRowsKernel<<<Blocks(count, kThreads, limits, kResident), kThreads, 0, stream>>>(rows, count, marks);
  CheckLaunch("marking rows");
  LocateKernel<<<columns.tile_count, kThreads, 0, stream>>>(columns, row_ptr, rows, marks, places);
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
