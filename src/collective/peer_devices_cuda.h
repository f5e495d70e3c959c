/// Devices of one process that combine their numbers by kernels that write to each other's memory.
/// docs/adr/0021-several-devices.md
#ifndef XGBGPU_COLLECTIVE_PEER_DEVICES_CUDA_H_
#define XGBGPU_COLLECTIVE_PEER_DEVICES_CUDA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "collective/collective_cuda.h"
#include "cuda/device.h"

namespace xgbgpu::cuda {

/// Makes collectives for the devices of one process, or for this process's device among other processes' devices.
///
/// A device writes its numbers to its box at each other device, raises a flag, waits for the flags of all devices, and
/// adds the numbers in its own boxes. Boxes lie in the receiver's memory if all devices can write to each other's
/// memory, else in pinned host memory. A waiting device polls a word of the host, which ends all waits, and a clock.
///
/// Memory  on each device up to 32 MiB for each device of the group, at most 128 MiB, or as much on the host
/// Cost    about 6 µs for a few numbers and 8 µs for a small histogram, on two H100 with NVLink; then the bandwidth
/// between devices. Each device sends all its numbers to every other device, or with shares only the receiver's share
class PeerDevices {
 public:
  /// `devices` [2 … kMostDevices] are ordinals. A device may come several times: its shards then share its processors.
  /// `seconds` limits how long a device waits for another. Throws DeviceError, OutOfDeviceMemory.
  explicit PeerDevices(std::vector<int> devices, double seconds = 120);
  /// Makes the collective of this process. Other processes of this host write to its device. All processes of `group`
  /// construct it at the same time. If one cannot, all throw: the failed processes their own error, all other processes
  /// OtherShardFailed.
  PeerDevices(Collective* group, int device, double seconds);
  ~PeerDevices();
  PeerDevices(PeerDevices const&) = delete;
  PeerDevices& operator=(PeerDevices const&) = delete;

  /// Returns the collective of one device; with several processes, of this process's device. It lives as long as this
  /// object.
  DeviceCollective* of(int shard) const;

  /// Ends all present and future waits, because a device will not come. Any thread may call it.
  void Abort() noexcept;
  /// Returns true after an Abort, or after a wait in vain.
  bool failed() const;
  /// Restores the group of one process after a failure. No kernel of the group may be enqueued.
  void Reset();

 private:
  class Member;
  struct Memory;

  std::unique_ptr<Member> MakeMember(std::size_t shard, int device, double seconds) const;

  std::unique_ptr<Memory> memory_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_PEER_DEVICES_CUDA_H_
