/// The device that a tree grows on, among the devices that grow the same tree.
#ifndef XGBGPU_TREES_CUDA_TREE_DEVICE_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_DEVICE_CUDA_H_

#include <tuple>

#include "collective/collective_cuda.h"
#include "cuda/cleared_workspace.h"
#include "cuda/device.h"
#include "cuda/timeline.h"

namespace xgbgpu::cuda {

/// Where the work of a tree is enqueued.
struct TreeDevice {
  /// `arena`, `queue` and the targets of `own` must outlive this object.
  TreeDevice(DeviceShard const& own, DeviceArena* arena, Stream const& queue)
      : shard{own}, stream{queue}, workspace{arena, queue} {}

  DeviceShard shard;  ///< the rows of this device
  Stream const& stream;
  DeviceLimits limits{CurrentDeviceLimits()};
  StageTimer timer;
  ClearedWorkspace workspace;

  bool timed() const { return timer.timeline() != nullptr; }
  /// Tells whether a tree can be recorded as a graph. A timeline has events between the stages.
  bool CanRecord() const { return !timed() && shard.devices->recordable(); }

  /// Returns whether `own` is true on any device. All devices call this at the same time.
  bool AnyDevice(bool own) const { return shard.alone() ? own : shard.place.collective->AnyOf(own); }
  /// Returns when all devices have reserved and given back their memory. Giving memory back may wait for work of other
  /// devices, so this work must not wait for this device.
  void WaitUntilAllHaveMemory() const { AnyDevice(false); }

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const { return std::tuple{workspace.version(), limits.processors, limits.shared}; }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_DEVICE_CUDA_H_
