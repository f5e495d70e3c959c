/// Columns of sort keys of which several devices have some rows each. CUDA builds only.
#ifndef XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_
#define XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_

#include <vector>

#include "cuda/device.h"
#include "quantile/columns_cuda.h"
#include "quantile/pack.h"

namespace xgbgpu::cuda {

/// The shards follow one another: shard 0 has the first rows. Each has all columns of its rows.
struct KeyShards {
  std::vector<KeyColumns const*> shards;
  std::vector<int> devices;  ///< [shards] where the keys lie; the same device may come more than once
};

/// Copies some columns, of all rows, to the current device, and waits. The keys of the shards must be there and stay
/// until it returns or throws.
///
/// Cost    4 bytes a row and column of memory; a copy for each column and shard, through the link between devices where
///         they reach each other, else through the host
/// Throws  OutOfDeviceMemory, DeviceError
KeyColumns JoinColumns(KeyShards const& shards, ColumnRange const& range, DeviceArena* arena);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_
