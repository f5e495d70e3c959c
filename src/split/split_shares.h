/// The features, and the cells of a histogram, of each device when devices search a share of the features.
#ifndef XGBGPU_SPLIT_SPLIT_SHARES_H_
#define XGBGPU_SPLIT_SPLIT_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "split/split_groups.h"
#include "tree/cell_shares.h"

namespace xgbgpu::cuda {

/// Device d searches groups [group[d], group[d + 1]). Their features have exactly the cells of its share.
struct SplitShares {
  CellShares cells;
  std::vector<std::uint32_t> group;  ///< [devices + 1]; empty without shares

  bool used() const { return cells.used(); }
};

/// Divides the tiles of a dense matrix among `devices` devices: neighbouring tiles, with about equal numbers of cells,
/// at least one tile each. A tile's cells are not in the order of its features, so tiles stay whole. `groups` are the
/// result of MakeSplitGroups for the first three arguments.
///
/// There are no shares (every device searches all features) in five cases: one device, or more than CellShares::kMost;
/// histograms smaller than LeastSharedBytes(least_bytes, devices); sparse matrices (their rows lie where their values
/// do); categorical features (the device with all sums writes their sets); fewer tiles than devices.
///
/// Same    on all devices: a function of the common layout and the number of devices
SplitShares MakeSplitShares(DeviceMatrixView const& view, std::vector<DeviceTile> const& tiles, Cuts const& cuts,
                            std::vector<SplitGroup> const& groups, int devices, std::size_t least_bytes);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_SHARES_H_
