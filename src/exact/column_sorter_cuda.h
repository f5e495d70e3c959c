/// Sorts columns on the current device, one after the other. CUDA builds only.
#ifndef XGBGPU_EXACT_COLUMN_SORTER_CUDA_H_
#define XGBGPU_EXACT_COLUMN_SORTER_CUDA_H_

#include "core/device.h"
#include "exact/sorted_matrix.h"

namespace xgbgpu::cuda {

/// A stream, and 16 bytes for each value of the longest column.
class ColumnSorter {
 public:
  explicit ColumnSorter(std::uint64_t longest);

  /// By value; equal ones, 0 and -0 too, stay as they were. Rows below 2^31. Waits.
  void Sort(Span<SortedValue> column);

 private:
  DeviceArena arena_{"Sorting columns on the GPU", "gpu_backend=host"};
  Stream stream_;
  DeviceLimits limits_;
  DeviceBuffer<std::uint64_t> items_[2];
  DeviceBuffer<std::uint8_t> scratch_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_COLUMN_SORTER_CUDA_H_
