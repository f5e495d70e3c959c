// Divides, lists and sums the rows of pages on a device by their node numbers.
#include "cuda/block_scan.cuh"
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/gradient_ops.h"
#include "partition/list_workspace_cuda.h"
#include "partition/paged_rows_cuda.h"
#include "partition/partition_cuda.cuh"
#include "tree/make_root.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 16;  ///< rows of a thread, four at a time: one Philox block serves four rows
constexpr int kBlockRows = kThreads * kLaneRows;
constexpr std::uint32_t kSharedJobs = 2048;  ///< most jobs that are counted in shared memory
constexpr std::uint32_t kNoJob = 0xFFFFFFFFU;

/// Returns the row of the page that a thread has in step i of kLaneRows.
__device__ std::uint64_t RowOf(std::uint64_t base, int i) {
  return base + std::uint64_t{static_cast<unsigned>(i) / 4} * (kThreads * 4) + threadIdx.x * 4 + i % 4;
}

/// Returns the job of a row in node n, which is a child of one of the families or older.
__device__ std::uint32_t JobOf(GrowingTree const& tree, NodeIndex n, NodeIndex first_child) {
  if (n < first_child) return kNoJob;
  auto const family = static_cast<std::uint32_t>(n - first_child) / 2;
  Family const& own = tree.families[family];
  if (n == own.built()) return 2 * family;
  return own.subtract != 0 ? kNoJob : 2 * family + 1;
}

template <bool kCategories>
__global__ void __launch_bounds__(kThreads)
    DivideKernel(PartitionView view, PagedRowsView rows, std::uint64_t first_row, PageStep step) {
  extern __shared__ std::uint32_t counts[];
  std::uint32_t const jobs = step.sums ? 2 * step.families : 0;
  bool const shared = jobs <= kSharedJobs;
  if (shared) {
    for (std::uint32_t j = threadIdx.x; j < jobs; j += kThreads) counts[j] = 0;
  }
  WaitForKernelBefore();
  __syncthreads();
  GrowingTree const& tree = view.tree;
  NodeIndex const first_child = tree.families[0].left;
  NodeIndex* const nodes = rows.nodes + first_row;
  std::uint64_t const n_rows = view.matrix.rows;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kBlockRows; base < n_rows;
       base += std::uint64_t{gridDim.x} * kBlockRows) {
#pragma unroll 4
    for (int i = 0; i < kLaneRows; ++i) {
      std::uint64_t const row = RowOf(base, i);
      if (row >= n_rows) continue;
      NodeIndex const before = nodes[row];
      bool const sampled = before >= 0;
      NodeIndex n = sampled ? before : ~before;
      if (step.divides) {
        Node const& node = tree.nodes[n];
        if (node.left >= first_child) {
          RowTest<kCategories> const test{view.matrix, node.split, view.categories};
          n = node.left + (test.Left(static_cast<RowIndex>(row)) ? 0 : 1);
          nodes[row] = sampled ? n : ~n;
        }
      }
      if (jobs == 0) continue;
      std::uint32_t const job = sampled ? JobOf(tree, n, first_child) : kNoJob;
      rows.job_of_row[row] = job;
      if (job != kNoJob) atomicAdd((shared ? counts : rows.counts) + job, 1U);
    }
  }
  if (!shared) return;
  __syncthreads();
  for (std::uint32_t j = threadIdx.x; j < jobs; j += kThreads) {
    if (counts[j] != 0) atomicAdd(rows.counts + j, counts[j]);
  }
}

/// Plans the list: places of the jobs' rows, and units of their sums. One block.
__global__ void __launch_bounds__(kPlanThreads) PlanListKernel(GrowingTree tree, PagedRowsView rows, PageStep step) {
  __shared__ typename PlanScan::TempStorage storage;
  WaitForKernelBefore();
  std::uint32_t const jobs = 2 * step.families;
  unsigned long long rows_and_units = 0;
  for (std::uint32_t base = 0; base < jobs; base += kPlanThreads) {
    std::uint32_t const j = base + threadIdx.x;
    std::uint32_t const count = j < jobs ? rows.counts[j] : 0;
    std::uint32_t const units = (count + rows.unit_rows - 1) / rows.unit_rows;
    unsigned long long const before = ScanStep(Both(count, units), &rows_and_units, storage);
    if (j >= jobs) continue;
    Family const& family = tree.families[j / 2];
    bool const built = j % 2 == 0;
    NodeIndex const node = built ? family.built() : family.sibling();
    rows.counts[j] = 0;
    rows.places[j] = High(before);
    rows.sum_jobs[j] = {node, built ? family.built_slot : family.sibling_slot, Low(before)};
    if (!built && family.subtract != 0) continue;  // the sibling may not exist
    tree.nodes[node].first_row = High(before);
    tree.nodes[node].rows = count;
    tree.nodes[node].list = RowList::kFirst;
  }
  if (threadIdx.x != 0) return;
  tree.state->sum_jobs = jobs;
  tree.state->sum_units = Low(rows_and_units);
}

__global__ void __launch_bounds__(kThreads)
    ListKernel(PartitionView view, PagedRowsView rows, std::uint64_t first_row, PageStep step, TreeDraw const* draw) {
  extern __shared__ std::uint32_t counts[];
  std::uint32_t const jobs = 2 * step.families;
  bool const shared = jobs <= kSharedJobs;
  WaitForKernelBefore();
  std::uint64_t const n_rows = view.matrix.rows;
  GradientState const& gradient = *view.gradient;
  bool const narrow = gradient.format.narrow;
  NarrowScales const scales = MakeNarrowScales(gradient.format);
  RandomStream const stream{draw->seed, RandomPurpose::kRounding, draw->tree, 0};
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kBlockRows; base < n_rows;
       base += std::uint64_t{gridDim.x} * kBlockRows) {
    std::uint32_t job[kLaneRows], rank[kLaneRows];
    if (shared) {
      for (std::uint32_t j = threadIdx.x; j < jobs; j += kThreads) counts[j] = 0;
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      std::uint64_t const row = RowOf(base, i);
      job[i] = row < n_rows ? rows.job_of_row[row] : kNoJob;
      if (job[i] != kNoJob) rank[i] = atomicAdd((shared ? counts : rows.places) + job[i], 1U);
    }
    if (shared) {
      __syncthreads();
      for (std::uint32_t j = threadIdx.x; j < jobs; j += kThreads) {
        if (counts[j] != 0) counts[j] = atomicAdd(rows.places + j, counts[j]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kLaneRows; i += 4) {
      if (job[i] == kNoJob && job[i + 1] == kNoJob && job[i + 2] == kNoJob && job[i + 3] == kNoJob) continue;
      std::uint64_t const first = RowOf(base, i);
      RandomBlock rounding{};
      if (narrow) rounding = stream.Four(draw->first_row + static_cast<std::uint32_t>(first_row + first));
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (job[i + k] == kNoJob) continue;
        std::uint64_t const row = first + static_cast<std::uint64_t>(k);
        RowRecord record{static_cast<RowIndex>(row), {0, 0}};
        if (narrow || rows.chances.keys != nullptr) {
          GradientPair const v = rows.chances.Weigh(first_row + row, rows.gradients[first_row + row]);
          if (narrow) {
            record.gradient = QuantiseNarrow(v, scales, rounding.word[k]);
          } else {
            rows.weighed[row] = v;
          }
        }
        rows.list[(shared ? counts[job[i + k]] : 0) + rank[i + k]] = record;
      }
    }
    if (shared) __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads)
    SumRootKernel(PartitionView view, PagedRowsView rows, std::uint64_t count, TreeDraw const* draw) {
  WaitForKernelBefore();
  GradientState const& gradient = *view.gradient;
  bool const narrow = gradient.format.narrow;
  NarrowScales const scales = MakeNarrowScales(gradient.format);
  RandomStream const stream{draw->seed, RandomPurpose::kRounding, draw->tree, 0};
  GradientSum sum;
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads * 4;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) * 4; first < count; first += step) {
    RandomBlock rounding{};
    if (narrow) rounding = stream.Four(draw->first_row + static_cast<std::uint32_t>(first));
    for (std::uint64_t k = 0; k < 4 && first + k < count; ++k) {
      std::uint64_t const row = first + k;
      if (rows.nodes[row] < 0) continue;
      GradientPair const v = rows.chances.Weigh(row, rows.gradients[row]);
      GradientSum q;
      if (narrow) {
        NarrowGradient const of_row = QuantiseNarrow(v, scales, rounding.word[k]);
        q = {of_row.grad, of_row.hess};
      } else {
        q = QuantiseWide(v, gradient.grad_scale, gradient.hess_scale);
      }
      sum.grad += q.grad;
      sum.hess += q.hess;
    }
  }
  AddBlockSum<kThreads>(sum, &view.tree.state->sum);
}

__global__ void MakeRootKernel(PartitionView view, std::uint64_t count, std::uint32_t const* sampled) {
  WaitForKernelBefore();
  MakeRoot(view.tree, sampled != nullptr ? *sampled : static_cast<std::uint32_t>(count));
}

std::size_t SharedBytes(PageStep const& step) {
  std::uint32_t const jobs = 2 * step.families;
  return step.sums && jobs <= kSharedJobs ? jobs * sizeof(std::uint32_t) : 0;
}

}  // namespace

void PagedRowsWorkspace::Reserve(std::size_t families) {
  workspace_->Reserve(&job_of_row_, "rows of a page", page_rows_);
  workspace_->Reserve(&list_, "rows of a page", page_rows_);
  workspace_->Reserve(&counts_, "nodes", 2 * families);
  workspace_->Reserve(&places_, "nodes", 2 * families);
  workspace_->Reserve(&sum_jobs_, "nodes", 2 * families);
}

PagedRowsView PagedRowsWorkspace::View(DeviceMatrixView const& matrix, NodeIndex* nodes, GradientPair const* gradients,
                                       DeviceLimits const& limits) const {
  DeviceMatrixView page = matrix;
  page.rows = page_rows_;
  return {nodes,          gradients,      {},           weighed_.data(),  job_of_row_.data(),
          counts_.data(), places_.data(), list_.data(), sum_jobs_.data(), UnitRows(page, limits)};
}

void SumRootRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t count,
                 std::uint32_t const* sampled, TreeDraw const* draw, DeviceShard const& shard,
                 DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("summing the rows of the root", SumRootKernel, Blocks(count, 4 * kThreads, limits, kResident), kThreads, 0,
             limits, stream, view, rows, count, draw);
  DeviceNumbers root;
  root.sums = &view.tree.state->sum.grad;
  root.sum_count = 2;
  shard.devices->Combine(root, nullptr, stream);
  LaunchNext("making the root", MakeRootKernel, 1, 1, 0, limits, stream, view, count, sampled);
}

void DividePagedRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t first_row,
                     PageStep const& step, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = view.categories.sets != nullptr ? DivideKernel<true> : DivideKernel<false>;
  LaunchNext("dividing the rows of a page", kernel, Blocks(view.matrix.rows, kBlockRows, limits, kResident), kThreads,
             SharedBytes(step), limits, stream, view, rows, first_row, step);
}

RowLists ListPagedRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t first_row,
                       PageStep const& step, TreeDraw const* draw, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("listing the rows of a page", PlanListKernel, 1, kPlanThreads, 0, limits, stream, view.tree, rows, step);
  LaunchNext("listing the rows of a page", ListKernel, Blocks(view.matrix.rows, kBlockRows, limits, kResident),
             kThreads, SharedBytes(step), limits, stream, view, rows, first_row, step, draw);
  RowLists lists{};
  lists.lists[0] = lists.lists[1] = rows.list;
  lists.gradients = rows.chances.keys != nullptr ? rows.weighed : rows.gradients + first_row;
  lists.sum_jobs = rows.sum_jobs;
  lists.unit_rows = rows.unit_rows;
  lists.of_page = true;
  return lists;
}

}  // namespace xgbgpu::cuda
