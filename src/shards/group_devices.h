/// The connection of the GPUs of a process group. CUDA builds only.
/// docs/adr/0021-several-devices.md docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_SHARDS_GROUP_DEVICES_H_
#define XGBGPU_SHARDS_GROUP_DEVICES_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/process_devices.h"

namespace xgbgpu {

/// The GPU of this process among the GPUs of its group.
///
/// GPUs exchange numbers one exchange after another: each GPU has one place for the numbers of every other GPU. All
/// processes enqueue the same exchanges in the same order, on streams of their own choice.
class GroupDevices {
 public:
  explicit GroupDevices(int device);
  virtual ~GroupDevices();

  /// While it lives, exchanges are enqueued on `stream`. They begin after the exchanges of earlier turns.
  class Turn {
   public:
    Turn(GroupDevices* devices, cudaStream_t stream);
    ~Turn();
    Turn(Turn const&) = delete;
    Turn& operator=(Turn const&) = delete;

   private:
    GroupDevices& devices_;
    cudaStream_t stream_;
  };

  virtual cuda::DeviceCollective* own() = 0;
  /// DeviceShard::least_shared_bytes
  virtual std::size_t least_shared_bytes() const = 0;
  /// Ends every wait for this process, here and in other processes: it cannot go on.
  virtual void Abort() noexcept = 0;
  /// Tells whether Abort was called, or another process was waited for in vain. Then nothing more may be enqueued.
  virtual bool failed() const = 0;

  /// Returns the GPUs of the group. All trainings of the group share them. The first call, and the first call after a
  /// failure, connects the GPUs: on one host through memory that all can write to, otherwise with NCCL. All processes
  /// call this at the same time, each for its own device. Either all get the GPUs or none. If they cannot be connected,
  /// later calls throw at once.
  ///
  /// Throws  Unsupported, with the reason; ShardsLost
  static std::shared_ptr<GroupDevices> Of(Collective* group, int device);
  /// xgbgpu::PlaceOfWorker (xgbgpu/process_devices.h)
  static WorkerPlace PlaceOf(Collective* group, int devices);
  /// Ends every wait of this process for GPUs of a group whose processes do not reach each other any more.
  static void Lose(Collective const* group) noexcept;
  /// Waits for the exchanges of a group that has ended, and closes the connections of its GPUs. Remaining trainings
  /// cannot go on.
  static void Forget(Collective const* group) noexcept;

 private:
  /// No exchange is under way.
  virtual void End() noexcept = 0;

  int device_;
  std::unique_ptr<Event> last_;  ///< the end of the last turn
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_GROUP_DEVICES_H_
