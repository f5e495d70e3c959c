/// Collective calls of devices that hold shards of the rows. docs/adr/0021-several-devices.md
#ifndef XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_
#define XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "collective/collective_policy.h"
#include "tree/cell_shares.h"
#include "tree/growing_tree.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::cuda {

/// A few numbers to combine over all devices. Arrays that are nullptr are left out. Everything is on the device.
struct DeviceNumbers {
  std::uint32_t const* largest{nullptr};   ///< [largest_count]
  std::uint32_t* largest_of_all{nullptr};  ///< [largest_count] becomes the maximum over all devices; may be `largest`
  std::uint32_t largest_count{0};
  std::int64_t* sums{nullptr};  ///< [sum_count] become sums over all devices
  std::uint32_t sum_count{0};
  std::uint32_t const* count{nullptr};
  std::int64_t* count_of_all{nullptr};  ///< becomes the sum of `count` over all devices

  static constexpr std::uint32_t kMost = 16;  ///< most numbers in all
};

/// The communicator of one data set's devices during the growth of a tree.
///
/// All devices enqueue the same calls in the same order, with the same bounds. So everything that decides calls must be
/// equal on all devices: parameters, the number of all rows, results of calls. On the device a call waits for all other
/// devices.
///
/// Same    all devices get the same numbers: sums are over integers
class DeviceCollective {
 public:
  virtual ~DeviceCollective() = default;

  /// Returns true if there is one device only. All calls do nothing then.
  virtual bool alone() const = 0;
  virtual int devices() const = 0;
  virtual int device() const = 0;  ///< number of this device, 0 … devices() - 1
  /// Returns true if calls may be recorded in a graph. Otherwise a tree enqueues them one by one.
  virtual bool recordable() const { return true; }
  /// Combines a few numbers, unless `*unless` is true. `unless` is on the device, equal on all devices, and may be
  /// nullptr.
  virtual void Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) = 0;
  /// Replaces every value by its sum over the devices. `values` is aligned to 16 bytes, and n is even.
  virtual void Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) = 0;
  /// Replaces the histograms of a level's built children, and of siblings that are not subtracted, by their sums over
  /// all devices. Enqueued on `stream`.
  virtual void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                        cudaStream_t stream) = 0;
  /// SumLevel, but each device gets only the sums of its share of the cells: it receives `1 / devices` of the bytes.
  /// Its other cells keep their contents. A tree shares all levels or none: subtraction gives a sibling's histogram
  /// only where the parent's is known, in the share.
  virtual void ShareLevel(GrowingTree const& tree, DeviceHistograms const& histograms, CellShares const& shares,
                          LevelBounds const& bounds, cudaStream_t stream) = 0;
  /// Replaces the split of each child of a level's families by the best split of all devices (IsBetter). Every device
  /// has searched the features of its share.
  virtual void BestOfLevel(GrowingTree const& tree, LevelBounds const& bounds, cudaStream_t stream) = 0;
  /// Throws ShardsLost if a call has waited for another device in vain: results of calls are invalid then. Called after
  /// the host has waited for the stream.
  virtual void Check() const = 0;
  /// Returns true if sums of a level since the call before did not fit the integers that devices exchanged
  /// (LevelBounds::may_overflow): the tree is invalid. All devices get the same answer, and use wider integers for such
  /// levels from then on, or for all levels if the tree's format is not `narrow`. Called after the host has waited for
  /// the stream.
  virtual bool SumsOverflowed(bool /*narrow*/) { return false; }
};

/// The communicator of one device that has all rows. Enqueues nothing.
class NoOtherDevices final : public DeviceCollective {
 public:
  bool alone() const override { return true; }
  int devices() const override { return 1; }
  int device() const override { return 0; }
  void Combine(DeviceNumbers const&, bool const*, cudaStream_t) override {}
  void Sum(std::int64_t*, std::uint64_t, cudaStream_t) override {}
  void SumLevel(GrowingTree const&, DeviceHistograms const&, LevelBounds const&, cudaStream_t) override {}
  void ShareLevel(GrowingTree const&, DeviceHistograms const&, CellShares const&, LevelBounds const&,
                  cudaStream_t) override {}
  void BestOfLevel(GrowingTree const&, LevelBounds const&, cudaStream_t) override {}
  void Check() const override {}

  /// Returns the shared instance.
  static NoOtherDevices* Instance() {
    static NoOtherDevices instance;
    return &instance;
  }
};

/// The rows of one device among the rows of all devices.
struct DeviceShard {
  DeviceCollective* devices;
  Shard place;         ///< communicator of the devices' hosts, and the place of the rows
  std::uint64_t rows;  ///< number of the device's rows
  /// CollectivePolicy::least_shared_bytes, equal on all devices. Tests set other numbers.
  std::size_t least_shared_bytes{CollectivePolicy{}.least_shared_bytes};

  bool alone() const { return devices->alone(); }
  std::uint64_t all_rows() const { return place.all_rows; }
  std::uint32_t first_row() const { return static_cast<std::uint32_t>(place.first_row); }

  /// Returns the shard of a device that has all `rows` rows.
  static DeviceShard Whole(std::uint64_t rows) { return {NoOtherDevices::Instance(), Shard::Whole(rows), rows}; }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_
