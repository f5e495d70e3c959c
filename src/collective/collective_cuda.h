/// The seam between devices that hold shards of the rows. docs/adr/0021-several-devices.md
#ifndef XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_
#define XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "collective/collective_policy.h"
#include "tree/cell_shares.h"
#include "tree/growing_tree.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::cuda {

/// A few numbers that a device tells all others. What is nullptr is not told. Everything is on the device.
struct DeviceNumbers {
  std::uint32_t const* largest{nullptr};   ///< [largest_count]
  std::uint32_t* largest_of_all{nullptr};  ///< [largest_count] becomes the largest of any device; may be `largest`
  std::uint32_t largest_count{0};
  std::int64_t* sums{nullptr};  ///< [sum_count] become their sums over all devices
  std::uint32_t sum_count{0};
  std::uint32_t const* count{nullptr};
  std::int64_t* count_of_all{nullptr};  ///< becomes the sum of all devices' `count`

  static constexpr std::uint32_t kMost = 16;  ///< of all together
};

/// What the devices of one data set tell each other while a tree grows.
///
/// All devices enqueue the same calls in the same order, with the same bounds. Whatever decides that must be the same
/// on all of them: parameters, numbers of all rows, what a call has told. A call waits on the device for all others.
///
/// Same    all devices get the same numbers: sums are of integers
class DeviceCollective {
 public:
  virtual ~DeviceCollective() = default;

  /// Is there no other device? Then all calls do nothing.
  virtual bool alone() const = 0;
  virtual int devices() const = 0;
  virtual int device() const = 0;  ///< this one's number, 0 … devices() - 1
  /// May calls be recorded in a graph? If not, a tree enqueues them one by one.
  virtual bool recordable() const { return true; }
  /// Combines a few numbers, unless `*unless`, which is on the device, the same everywhere, and may be nullptr.
  virtual void Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) = 0;
  /// Replaces every value by its sum over the devices. `values` are at a multiple of 16 bytes, and n is even.
  virtual void Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) = 0;
  /// The histograms of a level's built children, and of siblings that are not subtracted, become their sums over all
  /// devices. The call enqueues this on `stream`.
  virtual void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                        cudaStream_t stream) = 0;
  /// SumLevel, but each device gets the sums of its share of the cells only, so that it is sent `1 / devices` of the
  /// bytes. Its other cells stay as they are. Where some levels of a tree are summed so, all are: a sibling's histogram
  /// is what its parent's leaves, and that is known in the share alone.
  virtual void ShareLevel(GrowingTree const& tree, DeviceHistograms const& histograms, CellShares const& shares,
                          LevelBounds const& bounds, cudaStream_t stream) = 0;
  /// The split of each child of a level's families, which every device has found among the features of its share,
  /// becomes the best of all devices' (IsBetter).
  virtual void BestOfLevel(GrowingTree const& tree, LevelBounds const& bounds, cudaStream_t stream) = 0;
  /// To be called when the host has waited for calls of the stream. Throws ShardsLost if one of them has waited for
  /// another device in vain: what they have told means nothing then.
  virtual void Check() const = 0;
};

/// There is one device, which has all rows: nothing is enqueued.
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

  /// Returns the only one that is needed.
  static NoOtherDevices* Instance() {
    static NoOtherDevices instance;
    return &instance;
  }
};

/// The rows of a device among those of all devices.
struct DeviceShard {
  DeviceCollective* devices;
  Shard place;         ///< where the hosts of the devices meet, and which rows these are
  std::uint64_t rows;  ///< number of the device's own rows
  /// CollectivePolicy::least_shared_bytes, the same on all devices; another number in tests.
  std::size_t least_shared_bytes{CollectivePolicy{}.least_shared_bytes};

  bool alone() const { return devices->alone(); }
  std::uint64_t all_rows() const { return place.all_rows; }
  std::uint32_t first_row() const { return static_cast<std::uint32_t>(place.first_row); }

  /// Returns the shard of a device that has all `rows` rows.
  static DeviceShard Whole(std::uint64_t rows) { return {NoOtherDevices::Instance(), Shard::Whole(rows), rows}; }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_
