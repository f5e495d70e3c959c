/// Devices of one process that add up their numbers by kernels which write to each other's memory.
/// docs/adr/0021-several-devices.md
#ifndef XGBGPU_COLLECTIVE_PEER_DEVICES_CUDA_H_
#define XGBGPU_COLLECTIVE_PEER_DEVICES_CUDA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "collective/collective_cuda.h"
#include "cuda/device.h"

namespace xgbgpu::cuda {

/// Makes collectives for the devices of one process, or for this process's device among those of other processes.
///
/// A device writes what it has to add to a box that the other devices have for it, raises a flag, waits until theirs
/// are raised, and adds up what lies in its own boxes. Boxes lie in the receiver's memory where all devices can write
/// to each other's, else in pinned memory of the host, which all can write to. While a device waits it looks at a word
/// of the host, which ends all waits, and at a clock.
///
/// Memory  on each device up to 32 MiB for each device of the group, and 128 MiB for all of them, or as much on the host
/// Cost    some 6 µs for a few numbers and 8 for a small histogram, on two H100 with NVLink; then the bandwidth between
///         the devices. Each device sends all that it has to every other, or, of shares, what that one needs
class PeerDevices {
 public:
  /// `devices` [2 … kMostDevices] are ordinals. One may come several times: its shards then share its processors.
  /// seconds: how long one device may keep the others waiting. Throws DeviceError, OutOfDeviceMemory.
  explicit PeerDevices(std::vector<int> devices, double seconds = 120);
  /// Makes the collective of this process, whose device others of the same host can write to. All processes of `group`
  /// make one at the same time; if one cannot, all throw: those what was wrong with them, the others OtherShardFailed.
  PeerDevices(Collective* group, int device, double seconds);
  ~PeerDevices();
  PeerDevices(PeerDevices const&) = delete;
  PeerDevices& operator=(PeerDevices const&) = delete;

  /// Returns the collective of one device, which is this process's if there are several processes. It lives as long as
  /// this.
  DeviceCollective* of(int shard) const;

  /// Ends all waits, of kernels that run and of those to come: for a device that will not come. May be called by any
  /// thread.
  void Abort() noexcept;
  /// Was there an Abort here, or was a device waited for in vain?
  bool failed() const;
  /// Makes the group of one process good again then. No kernel of it may be enqueued.
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
