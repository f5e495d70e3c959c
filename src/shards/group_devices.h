/// The connection of the GPUs of a process group. CUDA builds only.
/// docs/adr/0021-several-devices.md docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_SHARDS_GROUP_DEVICES_H_
#define XGBGPU_SHARDS_GROUP_DEVICES_H_

#include <cstddef>
#include <memory>

#include "collective/collective_cuda.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/process_devices.h"

namespace xgbgpu {

/// The GPU of this process among the GPUs of its group.
class GroupDevices {
 public:
  virtual ~GroupDevices() = default;

  virtual cuda::DeviceCollective* own() = 0;
  /// DeviceShard::least_shared_bytes
  virtual std::size_t least_shared_bytes() const = 0;
  /// Ends every wait for this process, here and in other processes: it cannot go on.
  virtual void Abort() noexcept = 0;
  /// Tells whether Abort was called, or another process was waited for in vain. Then nothing more may be enqueued.
  virtual bool failed() const = 0;
  /// The group has ended, and no exchange is under way.
  virtual void End() noexcept = 0;

  /// Returns the GPUs of the group. All trainings of the group share them. The first call, and the first call after a
  /// failure, connects the GPUs: on one host through memory that all can write to, otherwise with NCCL. All processes
  /// call this at the same time, each for its own device. Either all get the GPUs or none. If they cannot be connected,
  /// later calls throw at once.
  ///
  /// Throws  Unsupported, with the reason; ShardsLost
  static std::shared_ptr<GroupDevices> Of(Collective* group, int device);
  /// xgbgpu::PlaceOfWorker (xgbgpu/process_devices.h)
  static WorkerPlace PlaceOf(Collective* group, int devices);
  /// Closes the connections of the GPUs of a group that has ended. Remaining trainings cannot go on.
  static void Forget(Collective const* group);
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_GROUP_DEVICES_H_
