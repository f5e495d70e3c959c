/// The device of this process among devices of processes on several hosts, combined with NCCL.
/// docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_COLLECTIVE_NCCL_DEVICES_CUDA_H_
#define XGBGPU_COLLECTIVE_NCCL_DEVICES_CUDA_H_

#include <memory>
#include <optional>
#include <string>

#include "collective/collective_cuda.h"
#include "collective/nccl_communicator_cuda.h"
#include "cuda/device.h"

namespace xgbgpu::cuda {

struct LevelPiece;

/// The host decides how much NCCL sends, so facts that only devices know, such as the number of a level's nodes,
/// cannot. A level's histograms are copied to a buffer whose size comes from the level's bounds, with zeros for missing
/// histograms, in pieces if they are many. NCCL sums the buffer, and the existing histograms are copied back. After a
/// failure of the communicator nothing is copied back.
///
/// Sums travel as 32 bits if the tree can be grown again (LevelBounds::may_overflow), and all devices see whether one
/// did not fit. Levels with no more families than the largest level that overflowed travel as 64 bits from then on.
///
/// Memory  16 MiB and NCCL's own
/// Cost    NCCL's time for the bounds of a level; a tree may fill little of them
class NcclDevices final : public DeviceCollective {
 public:
  /// `device` is an ordinal. All other arguments, and the errors, are NcclCommunicator's.
  NcclDevices(NcclLibrary const& library, Collective* group, int device, std::string const& gpu,
              NcclPatience const& patience = {});
  ~NcclDevices() override;

  bool alone() const override { return false; }
  int devices() const override { return communicator_->devices(); }
  int device() const override { return communicator_->device(); }
  /// NCCL allows recording. But it waits for the end of all graphs with its calls before it ends or aborts a
  /// communicator, and a spoiled recording would be an error of the communicator.
  bool recordable() const override { return false; }
  /// Sends numbers even if `*unless` is set; the receivers drop them.
  void Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) override;
  void Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) override;
  void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                cudaStream_t stream) override;
  void ShareLevel(GrowingTree const& tree, DeviceHistograms const& histograms, CellShares const& shares,
                  LevelBounds const& bounds, cudaStream_t stream) override;
  void BestOfLevel(GrowingTree const& tree, LevelBounds const& bounds, cudaStream_t stream) override;
  void Check() const override { communicator_->Check(); }
  bool SumsOverflowed(bool narrow) override;

  /// Measures exchanges, and returns CollectivePolicy::least_shared_bytes of this network. All devices call this at the
  /// same time, and get the same number.
  std::size_t MeasureLeastSharedBytes(Collective* group);

  // Calls of the same names of NcclCommunicator.
  void Abort() noexcept { communicator_->Abort(); }
  void End() noexcept;
  bool failed() const { return communicator_->failed(); }

 private:
  void EndExchange(std::uint32_t number, cudaStream_t stream);
  template <typename Pair, typename Integer>
  void SumPiece(LevelPiece const& piece, std::uint32_t families, cudaStream_t stream);

  int ordinal_;
  std::uint64_t whole_families_{0};  ///< levels of at most this many families travel as 64 bits
  DeviceLimits limits_{};
  DeviceArena arena_{"GPUs of several workers"};
  DeviceBuffer<GradientSum> sums_;
  DeviceBuffer<std::int64_t> numbers_;  ///< [1 + devices, DeviceNumbers::kMost] own numbers, and all devices'
  DeviceBuffer<std::int32_t> slots_;    ///< of a level's summed histograms, in order; -1: no histogram
  DeviceBuffer<bool> valid_;            ///< [1] whether the last exchange has a result
  std::shared_ptr<NcclWords> words_;
  std::optional<NcclCommunicator> communicator_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_NCCL_DEVICES_CUDA_H_
