/// Columns of sort keys, divided by rows among several devices. CUDA builds only.
#ifndef XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_
#define XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_

#include <vector>

#include "cuda/device.h"
#include "quantile/columns_cuda.h"
#include "quantile/pack.h"

namespace xgbgpu::cuda {

/// Keys of all shards in order: shard 0 has the first rows. Each shard has all columns of its rows.
struct KeyShards {
  std::vector<KeyColumns const*> shards;
  std::vector<int> devices;  ///< [shards] device of each shard's keys; a device may come more than once
};

/// Copies columns of all rows to the current device, and waits. The keys of the shards must exist until it returns or
/// throws.
///
/// Cost    4 bytes a row and column of memory; a copy for each column and shard, directly between devices that reach
///         each other, else through the host
/// Throws  OutOfDeviceMemory, DeviceError
KeyColumns JoinColumns(KeyShards const& shards, ColumnRange const& range, DeviceArena* arena);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_KEY_SHARDS_CUDA_H_
