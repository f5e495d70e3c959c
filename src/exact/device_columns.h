/// Sorted columns on a device. CUDA builds only.
#ifndef XGBGPU_EXACT_DEVICE_COLUMNS_H_
#define XGBGPU_EXACT_DEVICE_COLUMNS_H_

#include <memory>
#include <vector>

#include "exact/exact_cuda.h"
#include "exact/sorted_matrix.h"

namespace xgbgpu::cuda {

/// The entries of sorted columns: 4 bytes a stored value, and 12 a tile of kTileEntries. Values stay on the host, which
/// reads the values next to splits.
class DeviceColumns {
 public:
  /// Copies the columns and waits for the copies. Throws InvalidArgument for more than kMostExactRows rows;
  /// OutOfDeviceMemory.
  DeviceColumns(SortedMatrix const& matrix, int threads, DeviceArena* arena);

  /// Restricts splits to `features`, which ascend. Enqueued.
  void Use(std::vector<FeatureIndex> const& features, cudaStream_t stream);

  ExactColumns View() const;
  /// Returns true if a column misses a row.
  bool has_missing() const { return has_missing_; }

 private:
  std::uint64_t rows_;
  FeatureIndex features_;
  bool has_missing_{false};
  std::vector<std::uint8_t> used_;
  DeviceBuffer<std::uint64_t> column_ptr_;
  DeviceBuffer<std::uint32_t> entries_;
  DeviceBuffer<std::uint8_t> is_dense_, ascends_, used_on_device_;
  DeviceBuffer<ExactTile> tiles_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_DEVICE_COLUMNS_H_
