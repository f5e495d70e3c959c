// Moves the rows of node lists to the children on a device.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "cuda/warp_search.cuh"
#include "partition/partition_cuda.cuh"
#include "partition/partition_cuda.h"
#include "partition/plan_sums.cuh"
#include "tree/clear_slots.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kResident = 8;
constexpr int kWarps = kPlanThreads / 32;
constexpr int kInFlight = 8;  // rows whose symbols a lane loads before the first use

__device__ void SetPositions(RowLists const& lists, RowRecord const* from, std::uint32_t rows, NodeIndex node) {
  for (std::uint32_t i = threadIdx.x % 32; i < rows; i += 32) lists.positions[from[i].row] = node;
}

template <bool kFinal, bool kCategories>
__device__ void SplitRows(PartitionView const& view, RowLists const& lists, Family* family, Node const& parent,
                          std::uint32_t offset, std::uint32_t rows) {
  RowRecord const* const from = lists.lists[static_cast<int>(parent.list)] + parent.first_row + offset;
  RowTest<kCategories> const test{view.matrix, parent.split, view.categories};
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t lefts = 0;  // bit i: this lane's row of step i goes left
  for (std::uint32_t base = 0; base < rows; base += 32 * kInFlight) {
    RowRecord records[kInFlight];
    bool left[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) records[k] = from[min(base + 32 * k + lane, rows - 1)];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) left[k] = test.Left(records[k].row);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      bool const in = base + 32 * k + lane < rows;
      if (kFinal) {
        if (in) lists.positions[records[k].row] = family->left + (left[k] ? 0 : 1);
      } else if (in && left[k]) {
        lefts |= 1U << (base / 32 + k);
      }
    }
  }
  if (kFinal) return;

  auto const n_left = static_cast<std::uint32_t>(WarpSum(__popc(lefts)));
  unsigned long long place = 0;
  if (lane == 0) place = atomicAdd(&family->moved, Both(rows - n_left, n_left));
  place = __shfl_sync(kAllLanes, place, 0);
  // Left children fill the parent's range from the front, right children from its end: no count is needed first.
  RowRecord* const to = lists.lists[1 - static_cast<int>(parent.list)] + parent.first_row;
  std::uint32_t next_left = Low(place), next_right = parent.rows - High(place);
  std::uint32_t const below = (1U << lane) - 1;
  for (std::uint32_t base = 0; base < rows; base += 32 * kInFlight) {
    RowRecord records[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) records[k] = from[min(base + 32 * k + lane, rows - 1)];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      bool const in = base + 32 * k + lane < rows;
      bool const left = ((lefts >> ((base / 32 + k) % 32)) & 1U) != 0;
      std::uint32_t const left_lanes = __ballot_sync(kAllLanes, in && left);
      std::uint32_t const right_lanes = __ballot_sync(kAllLanes, in && !left);
      if (in) {
        std::uint32_t const at =
            left ? next_left + __popc(left_lanes & below) : next_right - 1 - __popc(right_lanes & below);
        to[at] = records[k];
      }
      next_left += __popc(left_lanes);
      next_right -= __popc(right_lanes);
    }
  }
}

template <bool kFinal, bool kCategories>
__global__ void __launch_bounds__(kPlanThreads) MoveRowsKernel(PartitionView view, RowLists lists) {
  WaitForKernelBefore();
  GrowingTree const& tree = view.tree;
  std::uint32_t const items = tree.state->move_items, jobs = tree.state->move_jobs;
  std::uint32_t const warps = gridDim.x * kWarps;
  for (std::uint32_t item = blockIdx.x * kWarps + threadIdx.x / 32; item < items; item += warps) {
    MoveJob const* const job =
        lists.move_jobs + FindJobByWarp(jobs, item, [&](std::uint32_t j) { return lists.move_jobs[j].first_item; });
    Node const& node = tree.nodes[job->node];
    std::uint32_t const offset = (item - job->first_item) * lists.item_rows;
    std::uint32_t const rows = min(lists.item_rows, node.rows - offset);
    if (job->family < 0) {
      SetPositions(lists, lists.lists[static_cast<int>(node.list)] + node.first_row + offset, rows, ~job->family);
    } else {
      SplitRows<kFinal, kCategories>(view, lists, tree.families + job->family, node, offset, rows);
    }
  }
  if (kFinal) return;
  ClearSlots(tree, view.histograms);
  if (IsLastBlock(&tree.state->finished_blocks, gridDim.x)) PlanSums(tree, lists);
}

}  // namespace

void MoveRows(PartitionView const& view, RowLists const& rows, LevelBounds const& bounds, LevelKind kind,
              DeviceLimits const& limits, cudaStream_t stream) {
  std::uint64_t const items = view.matrix.rows / (std::uint64_t{rows.item_rows} * kWarps) + 1;
  unsigned const blocks = Blocks(std::max(items, ClearPieces(view.histograms, bounds.families)), 1, limits, kResident);
  bool const categories = view.categories.sets != nullptr;
  auto* const kernel = kind == LevelKind::kFinal
                           ? (categories ? MoveRowsKernel<true, true> : MoveRowsKernel<true, false>)
                           : (categories ? MoveRowsKernel<false, true> : MoveRowsKernel<false, false>);
  LaunchNext("dividing rows", kernel, blocks, kPlanThreads, 0, limits, stream, view, rows);
}

}  // namespace xgbgpu::cuda
