/// Plans the sums of rows in lists after their division.
#ifndef XGBGPU_PARTITION_PLAN_SUMS_CUH_
#define XGBGPU_PARTITION_PLAN_SUMS_CUH_

#include "cuda/block_scan.cuh"
#include "partition/partition_cuda.h"

namespace xgbgpu::cuda {

/// Writes sizes and places of the children, and the sum jobs, after the division of rows. One block.
__device__ inline void PlanSums(GrowingTree const& tree, RowLists const& lists) {
  __shared__ typename PlanScan::TempStorage storage;
  LevelState& state = *tree.state;
  unsigned long long jobs_and_units = 0;
  std::uint32_t const families = state.families;
  for (std::uint32_t base = 0; base < families; base += kPlanThreads) {
    std::uint32_t const f = base + threadIdx.x;
    std::uint32_t jobs = 0, built_units = 0, sibling_units = 0;
    if (f < families) {
      Family const& family = tree.families[f];
      Node const& parent = tree.nodes[family.parent];
      unsigned long long const moved = __ldcg(&family.moved);
      std::uint32_t const rows[2] = {Low(moved), High(moved)};
      bool const left_is_built = family.left_is_built != 0;
      for (int right = 0; right < 2; ++right) {
        Node& child = tree.nodes[family.left + right];
        child.first_row = parent.first_row + (right != 0 ? rows[0] : 0);
        child.rows = rows[right];
        child.list = parent.list == RowList::kFirst ? RowList::kSecond : RowList::kFirst;
      }
      jobs = family.subtract != 0 ? 1 : 2;
      built_units = (rows[left_is_built ? 0 : 1] + lists.unit_rows - 1) / lists.unit_rows;
      sibling_units = family.subtract != 0 ? 0 : (rows[left_is_built ? 1 : 0] + lists.unit_rows - 1) / lists.unit_rows;
    }
    unsigned long long const before = ScanStep(Both(jobs, built_units + sibling_units), &jobs_and_units, storage);
    if (f < families) {
      Family const& family = tree.families[f];
      SumJob* const job = lists.sum_jobs + High(before);
      job[0] = {family.built(), family.built_slot, Low(before)};
      if (jobs == 2) job[1] = {family.sibling(), family.sibling_slot, Low(before) + built_units};
    }
  }
  if (threadIdx.x == 0) {
    state.sum_jobs = High(jobs_and_units);
    state.sum_units = Low(jobs_and_units);
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PLAN_SUMS_CUH_
