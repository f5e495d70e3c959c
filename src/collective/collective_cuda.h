/// The seam between devices that hold shards of the rows. docs/adr/0017-levels-collectives-pages.md
#ifndef XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_
#define XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_

#include <cuda_runtime_api.h>

#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// What the devices of one data set tell each other while a tree grows.
///
/// Same    all devices get the same sums, of integers
class DeviceCollective {
 public:
  virtual ~DeviceCollective() = default;

  /// The histograms of a level's built children, and of siblings that are not subtracted, become their sums over all
  /// devices. The call enqueues this on `stream`, where it is recorded with the tree.
  virtual void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                        cudaStream_t stream) = 0;
};

/// There is one device, which has all rows: nothing is enqueued.
class NoOtherDevices final : public DeviceCollective {
 public:
  void SumLevel(GrowingTree const&, DeviceHistograms const&, LevelBounds const&, cudaStream_t) override {}
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_COLLECTIVE_CUDA_H_
