/// Columns of sort keys of which several devices have some rows each. CUDA builds only.
#ifndef XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_
#define XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_

#include <vector>

#include "core/device.h"
#include "quantile/columns_cuda.h"
#include "quantile/pack.h"

namespace xgbgpu::cuda {

/// The shards follow one another: shard 0 has the first rows. Each has all columns of its rows.
struct KeyShards {
  std::vector<KeyColumns const*> shards;
  std::vector<int> devices;  ///< [shards] where the keys lie; the same device may come more than once
};

/// Brings groups of columns, of all rows, to the current device: while one is worked on, the next is on its way.
///
/// Memory  4 bytes for each row and column of two groups
/// Cost    a copy for each column and shard, through the link between devices where they reach each other, else through
///         the host
class ColumnJoin {
 public:
  /// The keys of the shards must be there and stay as long as this.
  ColumnJoin(KeyShards const& shards, DeviceArena* arena);
  /// Waits.
  ~ColumnJoin();
  ColumnJoin(ColumnJoin const&) = delete;
  ColumnJoin& operator=(ColumnJoin const&) = delete;

  /// Begins to copy a group. At most one may be on its way. Throws OutOfDeviceMemory, DeviceError.
  void Begin(ColumnRange const& range);
  /// Waits for the group that was begun last. It is there until the next Begin but one. Throws DeviceError.
  KeyColumns const& Finish();

 private:
  KeyShards const& shards_;
  DeviceArena* arena_;
  int device_{0};  ///< the current one
  std::uint64_t rows_{0};
  Stream stream_;
  KeyColumns groups_[2]{};
  std::size_t newest_{0};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_
