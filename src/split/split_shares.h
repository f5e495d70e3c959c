/// Devices that search a share of the features each: which features, and which cells of a histogram these have.
#ifndef XGBGPU_SPLIT_SPLIT_SHARES_H_
#define XGBGPU_SPLIT_SPLIT_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "split/split_groups.h"
#include "tree/cell_shares.h"

namespace xgbgpu::cuda {

/// Device d searches groups [group[d], group[d + 1]), whose features have exactly the cells of its share.
struct SplitShares {
  CellShares cells;
  std::vector<std::uint32_t> group;  ///< [devices + 1], if there are shares

  bool used() const { return cells.used(); }
};

/// Deals the tiles of a dense matrix to `devices` devices: neighbouring ones, about as many cells to each, at least one
/// tile. A tile's cells are not in the order of its features, so no tile is cut. `groups` are those of MakeSplitGroups.
///
/// There are no shares (every device searches all features) with one device or more than CellShares::kMost, where
/// histograms have fewer than LeastSharedBytes(least_bytes, devices), of sparse matrices, whose rows lie where their
/// values do, with categorical features, whose sets of categories are written by the device that has all sums, and where
/// tiles are fewer than devices.
///
/// Same    on all devices: it depends on the layout, which shards share, and on the number of devices alone
SplitShares MakeSplitShares(DeviceMatrix const& matrix, std::vector<SplitGroup> const& groups, int devices,
                            std::size_t least_bytes);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_SHARES_H_
