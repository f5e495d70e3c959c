// Sums the histograms of a level over all devices.
#include "trees_cuda/tree_histograms_cuda.h"

#include "base/stages.h"

namespace xgbgpu::cuda {

void TreeHistograms::SumOverDevices(CellShares const* shares, LevelBounds const& bounds, int level) const {
  if (device_.shard.alone()) return;
  DeviceCollective& devices = *device_.shard.devices;
  device_.timer.Run(kExchange, level, [&] {
    if (shares != nullptr) {
      devices.ShareLevel(memory_.View(), View(), *shares, bounds, device_.stream);
    } else {
      devices.SumLevel(memory_.View(), View(), bounds, device_.stream);
    }
  });
}

}  // namespace xgbgpu::cuda
