// The features of a dense matrix are dealt to devices: every feature to one, cells and groups cut at the same tile. No
// device is needed.
#include "split/split_shares.h"

#include <gtest/gtest.h>

#include "collective/collective_policy.h"
#include "matrix/device_matrix.h"

namespace xgbgpu::cuda {
namespace {

/// What the host knows of a matrix of so many columns, of as many bins each.
struct Layout {
  Layout(FeatureIndex columns, BinIndex bins, std::uint8_t is_missing = 0) {
    Cuts& cuts = matrix.cuts;
    cuts.ptr = {0};
    for (FeatureIndex f = 0; f < columns; ++f) cuts.ptr.push_back(cuts.ptr.back() + bins);
    cuts.min_values.resize(columns);
    cuts.values.resize(cuts.ptr.back());
    std::uint64_t const rows = 1000;
    DeviceLayout layout = ChooseDeviceLayout(
        cuts,
        {rows, rows * columns, std::vector<std::uint8_t>(columns, is_missing), rows, rows * columns, 227 << 10, 0});
    matrix.tiles = layout.tile;
    matrix.view.features = columns;
    matrix.view.dense = layout.dense;
    matrix.view.symbol_bytes = layout.symbol_bytes;
    matrix.view.tile_columns = layout.tile_columns;
    matrix.view.tiles = layout.tiles;
    matrix.view.cells = layout.cells;
    groups = MakeSplitGroups(matrix.view, matrix.tiles, matrix.cuts);
  }

  SplitShares Shares(int devices) const {
    return MakeSplitShares(matrix.view, matrix.tiles, matrix.cuts, groups, devices,
                           CollectivePolicy{}.least_shared_bytes);
  }

  DeviceMatrix matrix{0};
  std::vector<SplitGroup> groups;
};

/// Compares the cells of a device's features with its share.
void ExpectWhole(Layout const& layout, int devices) {
  SCOPED_TRACE(std::to_string(layout.matrix.view.features) + " columns, " + std::to_string(devices) + " devices");
  SplitShares const shares = layout.Shares(devices);
  ASSERT_TRUE(shares.used());
  ASSERT_EQ(shares.cells.devices, devices);
  auto const n = static_cast<std::size_t>(devices);
  ASSERT_EQ(shares.group.size(), n + 1);
  EXPECT_EQ(shares.group[0], 0U);
  EXPECT_EQ(shares.group[n], layout.groups.size());
  EXPECT_EQ(shares.cells.first[0], 0U);
  EXPECT_EQ(shares.cells.first[n], layout.matrix.view.cells);
  FeatureIndex const columns = layout.matrix.view.tile_columns;
  std::uint64_t largest = 0, least = ~std::uint64_t{0};
  for (std::size_t d = 0; d < n; ++d) {
    ASSERT_LT(shares.group[d], shares.group[d + 1]);
    FeatureIndex const first = layout.groups[shares.group[d]].first;
    ASSERT_EQ(first % columns, 0U) << "a tile is cut";
    EXPECT_EQ(shares.cells.first[d], layout.matrix.tiles[first / columns].first_cell);
    std::uint64_t const size = shares.cells.size(static_cast<int>(d));
    largest = std::max(largest, size);
    least = std::min(least, size);
  }
  EXPECT_EQ(shares.cells.largest(), largest);
  std::uint64_t const tile = layout.matrix.view.cells / layout.matrix.tiles.size();
  EXPECT_LE(largest - least, 2 * tile) << "shares are as even as tiles allow";
}

TEST(SplitSharesTest, CellsAndGroupsAreCutAtTheSameTile) {
  for (std::uint8_t const is_missing : {0, 1}) {
    for (FeatureIndex const columns : {300U, 500U, 2000U}) {
      for (int const devices : {2, 3, 5, 8}) ExpectWhole(Layout{columns, 256, is_missing}, devices);
    }
  }
  ExpectWhole(Layout{5000, 16}, 4);
}

TEST(SplitSharesTest, EveryDeviceHasATile) {
  Layout const layout{300, 256};
  auto const tiles = static_cast<int>(layout.matrix.tiles.size());
  ASSERT_LT(tiles, CellShares::kMost);
  ExpectWhole(layout, tiles);
  EXPECT_FALSE(layout.Shares(tiles + 1).used());
}

TEST(SplitSharesTest, MoreDevicesShareSmallerHistograms) {
  EXPECT_FALSE((Layout{128, 200}.Shares(2).used()));
  ExpectWhole(Layout{128, 200}, 4);
  ExpectWhole(Layout{128, 256}, 2);
}

TEST(SplitSharesTest, OtherMatricesHaveNone) {
  EXPECT_FALSE((Layout{28, 256}.Shares(2).used())) << "histograms are small";
  Layout layout{300, 256};
  EXPECT_FALSE(layout.Shares(1).used());
  EXPECT_FALSE((Layout{2000, 256}.Shares(CellShares::kMost + 1).used()));
  layout.matrix.cuts.categorical.assign(300, 0);
  layout.matrix.cuts.categorical[7] = 1;
  EXPECT_FALSE(layout.Shares(2).used()) << "sets of categories";
  layout.matrix.cuts.categorical.clear();
  layout.matrix.view.dense = false;
  EXPECT_FALSE(layout.Shares(2).used());
}

}  // namespace
}  // namespace xgbgpu::cuda
