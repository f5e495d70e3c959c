/// Memory for rows in lists of a growing tree on a device.
#ifndef XGBGPU_PARTITION_LIST_WORKSPACE_CUDA_H_
#define XGBGPU_PARTITION_LIST_WORKSPACE_CUDA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/cleared_workspace.h"
#include "partition/partition_cuda.h"
#include "partition/partition_policy.h"

namespace xgbgpu::cuda {

/// Returns the rows that a warp or a unit takes at a time: `rows` divided by `parts` of each multiprocessor, within
/// bounds, a multiple of 32.
inline std::uint32_t RowsOfPart(std::uint64_t rows, std::uint64_t parts, std::uint64_t least, std::uint64_t most,
                                DeviceLimits const& limits) {
  constexpr std::uint64_t kStep = 32;
  std::uint64_t const even = (rows / (parts * static_cast<std::uint64_t>(limits.processors)) + kStep - 1) / kStep;
  return static_cast<std::uint32_t>(std::min(most, std::max(least, even * kStep)));
}
/// Returns RowLists::unit_rows and RowPaths::unit_rows.
inline std::uint32_t UnitRows(DeviceMatrixView const& matrix, DeviceLimits const& limits) {
  PartitionPolicy const policy;
  return RowsOfPart(matrix.rows * matrix.tiles, 2, policy.least_unit_rows, policy.most_unit_rows, limits);
}

/// Memory  16 bytes a row once a tree needs lists, and a few per node
class ListWorkspace {
 public:
  explicit ListWorkspace(ClearedWorkspace* workspace) : workspace_{workspace} {}

  /// Makes room for lists of `rows` rows, and for the jobs of a level.
  void Reserve(std::uint64_t rows, std::size_t move_jobs, std::size_t sum_jobs) {
    for (auto& list : lists_) workspace_->Reserve(&list, "row lists", rows);
    workspace_->Reserve(&move_jobs_, "nodes", move_jobs);
    workspace_->Reserve(&sum_jobs_, "nodes", sum_jobs);
  }
  /// Makes room for the jobs of a level only: rows are not in lists.
  void ReserveJobs(std::size_t move_jobs) { workspace_->Reserve(&move_jobs_, "nodes", move_jobs); }
  /// Returns a view of the lists. `matrix` has the listed rows.
  RowLists View(DeviceMatrixView const& matrix, GradientPair const* gradients, NodeIndex* positions,
                DeviceLimits const& limits) const {
    PartitionPolicy const policy;
    return {{lists_[0].data(), lists_[1].data()},
            positions,
            gradients,
            move_jobs_.data(),
            sum_jobs_.data(),
            RowsOfPart(matrix.rows, 64, policy.least_item_rows, policy.most_item_rows, limits),
            UnitRows(matrix, limits)};
  }
  /// Returns the list that receives a sample.
  RowRecord* first_list() const { return lists_[0].data(); }

 private:
  ClearedWorkspace* workspace_;
  DeviceBuffer<RowRecord> lists_[2];
  DeviceBuffer<MoveJob> move_jobs_;
  DeviceBuffer<SumJob> sum_jobs_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_LIST_WORKSPACE_CUDA_H_
