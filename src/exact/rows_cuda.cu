#include "core/grid.h"
#include "core/random.h"
#include "exact/exact_cuda.h"
#include "gradient/gradient_ops.h"
#include "level/device_tree.h"
#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // one Philox block serves four rows

/// f(row) for all rows, every thread some of them.
template <typename F>
__device__ void ForEachRow(std::uint64_t rows, F&& f) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) f(row);
}

/// kSampled: rows outside the sample start at ~0, and their gradients are not counted.
template <bool kSampled>
__global__ void __launch_bounds__(kThreads)
    QuantiseKernel(GradientPair const* gradients, std::uint64_t rows, double grad_scale, double hess_scale,
                   RandomStream sample, std::uint64_t threshold, int2* compact, GradientSum* wide, NodeIndex* positions,
                   Side* sides, GradientSum* sum) {
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
      if (kSampled) sides[row] = in ? Side::kLeft : Side::kNone;
      if (in) {
        total.grad += q.grad;
        total.hess += q.hess;
      }
    }
  });
  total = {WarpSum(total.grad), WarpSum(total.hess)};
  if (threadIdx.x % 32 == 0) {
    AtomicAdd(&sum->grad, total.grad);
    AtomicAdd(&sum->hess, total.hess);
  }
}

/// Number of the split that the row's node has at this level, or -1.
__device__ std::int32_t SplitOf(std::int32_t const* split_of, std::uint32_t nodes, NodeIndex first, NodeIndex at) {
  auto const n = static_cast<std::int64_t>(at) - first;
  return n < 0 || n >= static_cast<std::int64_t>(nodes) ? -1 : split_of[n];
}

__global__ void __launch_bounds__(kThreads)
    DefaultSidesKernel(ExactSplit const* splits, std::int32_t const* split_of, std::uint32_t nodes, NodeIndex first,
                       NodeIndex const* positions, std::uint64_t rows, Side* sides) {
  ForEachRow(rows, [&](std::uint64_t row) {
    std::int32_t const s = SplitOf(split_of, nodes, first, positions[row]);
    sides[row] = s < 0 ? Side::kNone : (splits[s].default_left != 0 ? Side::kLeft : Side::kRight);
  });
}

__device__ GradientSum GradientOf(ExactGradients const& gradients, RowIndex row) {
  if (gradients.compact == nullptr) return gradients.wide[row];
  int2 const g = gradients.compact[row];
  return {g.x, g.y};
}

/// A warp a piece of a list.
__global__ void __launch_bounds__(kThreads)
    MarkSidesKernel(std::uint32_t const* entries, ExactSplit const* splits, std::uint32_t split_count,
                    std::uint32_t pieces, ExactGradients gradients, Side* sides, ExactOutcome* outcomes) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const warps = gridDim.x * (kThreads / 32);
  for (std::uint32_t piece = (blockIdx.x * kThreads + threadIdx.x) / 32; piece < pieces; piece += warps) {
    std::uint32_t const s = FindJob(split_count, piece, [&](std::uint32_t i) { return splits[i].first_piece; });
    ExactSplit const split = splits[s];
    std::uint64_t const from = std::uint64_t{piece - split.first_piece} * kPieceEntries;
    std::uint64_t const to = from + kPieceEntries < split.entries ? from + kPieceEntries : split.entries;
    GradientSum below;
    for (std::uint64_t i = from + lane; i < to; i += 32) {
      RowIndex const row = entries[split.begin + i] & ~kNewValue;
      bool const left = i < split.index;
      sides[row] = left ? Side::kLeft : Side::kRight;
      if (left) {
        GradientSum const g = GradientOf(gradients, row);
        below.grad += g.grad;
        below.hess += g.hess;
      }
      if (i + 1 == split.index) outcomes[s].lower = row;
      if (i == split.index) outcomes[s].upper = row;
    }
    below = {WarpSum(below.grad), WarpSum(below.hess)};
    if (lane == 0) {
      AtomicAdd(&outcomes[s].below.grad, below.grad);
      AtomicAdd(&outcomes[s].below.hess, below.hess);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    MoveRowsKernel(std::int32_t const* split_of, std::uint32_t nodes, NodeIndex first, NodeIndex left_child,
                   Side const* sides, NodeIndex* positions, std::uint64_t rows) {
  ForEachRow(rows, [&](std::uint64_t row) {
    Side const side = sides[row];
    if (side == Side::kNone) return;
    std::int32_t const s = SplitOf(split_of, nodes, first, positions[row]);
    positions[row] = left_child + 2 * s + (side == Side::kLeft ? 0 : 1);
  });
}

__global__ void __launch_bounds__(kThreads)
    MarkRowsKernel(RowIndex const* rows, std::uint32_t count, std::uint8_t* marks) {
  ForEachRow(count, [&](std::uint64_t i) { marks[rows[i]] = 1; });
}

/// f(feature, place, row) for every entry of the columns that `wanted(feature)`: a block a tile.
template <typename Wanted, typename F>
__device__ void ForEachEntry(ExactColumns const& columns, Wanted&& wanted, F&& f) {
  ExactTile const tile = columns.tiles[blockIdx.x];
  if (!wanted(tile.feature)) return;
  std::uint64_t const first = columns.column_ptr[tile.feature] + std::uint64_t{tile.index} * kTileEntries;
  std::uint64_t const end = columns.column_ptr[tile.feature + 1];
  std::uint64_t const last = first + kTileEntries < end ? first + kTileEntries : end;
  for (std::uint64_t i = first + threadIdx.x; i < last; i += kThreads) {
    f(tile.feature, i, columns.entries[i] & ~kNewValue);
  }
}

__global__ void __launch_bounds__(kThreads)
    LocateKernel(ExactColumns columns, std::uint32_t const* row_ptr, RowIndex const* rows, std::uint8_t const* marks,
                 std::uint64_t* places) {
  ForEachEntry(
      columns, [&](FeatureIndex f) { return row_ptr[f] != row_ptr[f + 1]; },
      [&](FeatureIndex f, std::uint64_t place, RowIndex row) {
        if (marks[row] == 0) return;
        std::uint32_t low = row_ptr[f], high = row_ptr[f + 1];  // the first that is not below `row`
        while (low < high) {
          std::uint32_t const middle = low + (high - low) / 2;
          if (rows[middle] < row) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        if (low < row_ptr[f + 1] && rows[low] == row) places[low] = place;
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
  ForEachEntry(
      columns, [&](FeatureIndex f) { return columns.used[f] != 0; },
      [&](FeatureIndex f, std::uint64_t place, RowIndex row) {
        NodeIndex const p = positions[row];
        if (p >= 0) return;
        NodeIndex const parent = nodes[~p].parent;
        if (parent == kNoNode) return;
        ExactStep const& node = nodes[parent];
        if (node.depth != depth || node.feature != f) return;
        positions[row] = ~(node.left + (place < node.place ? 0 : 1));
      });
}

__global__ void __launch_bounds__(kThreads)
    RenumberKernel(NodeIndex const* node_of, NodeIndex* positions, std::uint64_t rows) {
  ForEachRow(rows, [&](std::uint64_t row) {
    NodeIndex const p = positions[row];
    positions[row] = p < 0 ? ~node_of[~p] : node_of[p];
  });
}

static_assert(kThreads == kExactThreads, "a block takes a tile");

}  // namespace

void QuantiseExact(GradientPair const* gradients, std::uint64_t rows, double grad_scale, double hess_scale,
                   RandomStream const& sample, std::uint64_t threshold, bool sampled, int2* compact, GradientSum* wide,
                   NodeIndex* positions, Side* sides, GradientSum* sum, DeviceLimits const& limits,
                   cudaStream_t stream) {
  unsigned const blocks = Blocks(rows, kThreads * kLaneRows, limits, kResident);
  auto* const kernel = sampled ? QuantiseKernel<true> : QuantiseKernel<false>;
  kernel<<<blocks, kThreads, 0, stream>>>(gradients, rows, grad_scale, hess_scale, sample, threshold, compact, wide,
                                          positions, sides, sum);
  CheckLaunch("quantising gradients");
}

void MarkSides(ExactLists const& lists, ExactSplit const* splits, std::uint32_t split_count, std::uint32_t pieces,
               std::int32_t const* split_of, NodeIndex first, NodeIndex const* positions, std::uint64_t rows,
               ExactGradients const& gradients, Side* sides, ExactOutcome* outcomes, DeviceLimits const& limits,
               cudaStream_t stream) {
  DefaultSidesKernel<<<Blocks(rows, kThreads, limits, kResident), kThreads, 0, stream>>>(splits, split_of, lists.nodes,
                                                                                         first, positions, rows, sides);
  CheckLaunch("sending rows to their default side");
  MarkSidesKernel<<<Blocks(pieces, kThreads / 32, limits, kResident), kThreads, 0, stream>>>(
      lists.entries, splits, split_count, pieces, gradients, sides, outcomes);
  CheckLaunch("sending rows to their side");
}

void MoveExactRows(std::int32_t const* split_of, std::uint32_t nodes, NodeIndex first, NodeIndex left_child,
                   Side const* sides, NodeIndex* positions, std::uint64_t rows, DeviceLimits const& limits,
                   cudaStream_t stream) {
  MoveRowsKernel<<<Blocks(rows, kThreads, limits, kResident), kThreads, 0, stream>>>(split_of, nodes, first, left_child,
                                                                                     sides, positions, rows);
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

void RenumberPositions(NodeIndex const* node_of, NodeIndex* positions, std::uint64_t rows, DeviceLimits const& limits,
                       cudaStream_t stream) {
  RenumberKernel<<<Blocks(rows, kThreads, limits, kResident), kThreads, 0, stream>>>(node_of, positions, rows);
  CheckLaunch("renumbering leaves");
}

}  // namespace xgbgpu::cuda
