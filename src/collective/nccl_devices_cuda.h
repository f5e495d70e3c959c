/// The device of this process among those of processes on several hosts, which add up their numbers with NCCL.
/// docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_COLLECTIVE_NCCL_DEVICES_CUDA_H_
#define XGBGPU_COLLECTIVE_NCCL_DEVICES_CUDA_H_

#include <memory>
#include <optional>

#include "collective/collective_cuda.h"
#include "collective/nccl_communicator_cuda.h"
#include "cuda/device.h"

namespace xgbgpu::cuda {

/// What a device decides alone, such as how many nodes a level has, cannot decide how much NCCL sends. So a level's
/// histograms are copied to a buffer whose size comes from the level's bounds, with zeros for those that are not there,
/// in pieces where they are many; NCCL sums the buffer; and what is there is copied back. Nothing is copied back once
/// the communicator has failed.
///
/// Memory  16 MiB and what NCCL takes
/// Cost    what NCCL takes for the bounds of a level, of which a tree may fill little. Sums travel as 64 bits. Features
///         are not shared out: every device searches all of them
class NcclDevices final : public DeviceCollective {
 public:
  /// `device` is an ordinal. The other arguments, and what is thrown, are those of NcclCommunicator.
  NcclDevices(NcclLibrary const& library, Collective* group, int device, NcclPatience const& patience = {});
  ~NcclDevices() override;

  bool alone() const override { return false; }
  int devices() const override { return communicator_->devices(); }
  int device() const override { return communicator_->device(); }
  /// NCCL can be recorded, but waits for all graphs with its calls to go before it ends or aborts a communicator, and a
  /// recording that something else spoils would be an error of the communicator.
  bool recordable() const override { return false; }
  /// Numbers are sent even if `*unless` is set; they are dropped when they arrive.
  void Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) override;
  void Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) override;
  void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                cudaStream_t stream) override;
  /// Throws Unsupported: DeviceShard::least_shared_bytes must be so large that no features are shared out.
  void ShareLevel(GrowingTree const& tree, DeviceHistograms const& histograms, CellShares const& shares,
                  LevelBounds const& bounds, cudaStream_t stream) override;
  void BestOfLevel(GrowingTree const& tree, LevelBounds const& bounds, cudaStream_t stream) override;
  void Check() const override { communicator_->Check(); }

  // These do what those of NcclCommunicator do.
  void Abort() noexcept { communicator_->Abort(); }
  void End() noexcept;
  bool failed() const { return communicator_->failed(); }

 private:
  int ordinal_;
  DeviceLimits limits_{};
  DeviceArena arena_{"GPUs of several workers"};
  DeviceBuffer<GradientSum> sums_;
  DeviceBuffer<std::int64_t> numbers_;  ///< [1 + devices, DeviceNumbers::kMost] own, and those of all
  DeviceBuffer<std::int32_t> slots_;    ///< of the histograms that a level sums, in order; -1: there are no more
  std::shared_ptr<NcclWords> words_;
  std::optional<NcclCommunicator> communicator_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_NCCL_DEVICES_CUDA_H_
