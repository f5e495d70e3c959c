// Divides the tiles of a dense matrix among devices that search a share of the features.
#include "split/split_shares.h"

#include <algorithm>

#include "matrix/device_matrix.h"
#include "tree/shared_bytes.h"

namespace xgbgpu::cuda {

namespace {

/// Returns the tile of [least, most] that begins nearest to a cell.
std::size_t TileNear(std::vector<DeviceTile> const& tiles, std::uint64_t cell, std::size_t least, std::size_t most) {
  auto const distance = [&](std::size_t t) {
    std::uint64_t const first = tiles[t].first_cell;
    return first > cell ? first - cell : cell - first;
  };
  std::size_t nearest = least;
  for (std::size_t t = least; t <= most; ++t) {
    if (distance(t) < distance(nearest)) nearest = t;
  }
  return nearest;
}

}  // namespace

SplitShares MakeSplitShares(DeviceMatrixView const& m, std::vector<DeviceTile> const& tiles, Cuts const& cuts,
                            std::vector<SplitGroup> const& groups, int devices, std::size_t least_bytes) {
  auto const n = static_cast<std::size_t>(std::max(devices, 0));
  if (n < 2 || devices > CellShares::kMost || !m.dense || !cuts.categorical.empty() ||
      m.cells * sizeof(GradientSum) < LeastSharedBytes(least_bytes, devices) || tiles.size() < n) {
    return {};
  }
  SplitShares shares;
  shares.cells.devices = devices;
  shares.group = {0};
  std::size_t tile = 0;
  for (std::size_t d = 1; d < n; ++d) {
    tile = TileNear(tiles, m.cells / n * d, tile + 1, tiles.size() - (n - d));
    shares.cells.first[d] = tiles[tile].first_cell;
    auto const column = static_cast<FeatureIndex>(tile * m.tile_columns);
    auto const group = std::find_if(groups.begin(), groups.end(), [&](auto const& g) { return g.first >= column; });
    shares.group.push_back(static_cast<std::uint32_t>(group - groups.begin()));
  }
  shares.cells.first[n] = m.cells;
  shares.group.push_back(static_cast<std::uint32_t>(groups.size()));
  return shares;
}

}  // namespace xgbgpu::cuda
