// Features of sparse matrices dealt to warps: each once, in order, never more than a warp has lanes and room for. Needs
// no device.
#include <gtest/gtest.h>

#include <algorithm>

#include "split/split_groups.h"

namespace xgbgpu::cuda {
namespace {

/// Features with so many bins.
Cuts CutsOf(std::vector<BinIndex> const& bins) {
  Cuts cuts;
  cuts.ptr = {0};
  for (BinIndex const b : bins) cuts.ptr.push_back(cuts.ptr.back() + b);
  cuts.min_values.resize(bins.size());
  cuts.values.resize(cuts.ptr.back());
  return cuts;
}

TEST(WarpGroupsTest, EveryFeatureIsLookedAtOnce) {
  std::vector<BinIndex> bins;
  for (std::uint32_t f = 0; f < 3000; ++f) {
    bins.push_back(f < 1000 ? 1 + f * 2654435761U % 256 : f < 2000 ? f % 4 : 256);  // some have none
  }
  Cuts const cuts = CutsOf(bins);
  FeatureIndex next = 0;
  for (WarpGroup const& group : MakeWarpGroups(cuts)) {
    ASSERT_EQ(group.first, next);
    ASSERT_GT(group.features, 0U);
    next += group.features;
    EXPECT_EQ(group.cell, cuts.ptr[group.first]);
    EXPECT_EQ(group.cells, cuts.ptr[next] - group.cell);
    int const lanes = group.features << group.segment_bits;
    EXPECT_LE(lanes, kWarpSplitRounds * 32);
    EXPECT_LE(group.cells, lanes * kWarpSplitBins);
    auto const most = std::max_element(bins.begin() + group.first, bins.begin() + next);
    EXPECT_LE(*most, static_cast<BinIndex>(kWarpSplitBins) << group.segment_bits);
  }
  EXPECT_EQ(next, bins.size());
}

TEST(WarpGroupsTest, LanesAreInUse) {
  EXPECT_EQ(MakeWarpGroups(CutsOf(std::vector<BinIndex>(640, 2))).size(), 10U);  // 64 features each
  EXPECT_EQ(MakeWarpGroups(CutsOf(std::vector<BinIndex>(640, 9))).size(), 20U);  // two lanes a feature
  EXPECT_EQ(MakeWarpGroups(CutsOf(std::vector<BinIndex>(640, 256))).size(), 320U);
}

TEST(WarpGroupsTest, NoneWhereBlocksLook) {
  std::vector<BinIndex> const bins(100, 256);
  EXPECT_FALSE(MakeWarpGroups(CutsOf(bins)).empty());
  Cuts categories = CutsOf(bins);
  categories.categorical.resize(bins.size());
  EXPECT_TRUE(MakeWarpGroups(categories).empty());
  std::vector<BinIndex> one_too_many = bins;
  one_too_many[50] = 257;
  EXPECT_TRUE(MakeWarpGroups(CutsOf(one_too_many)).empty());
}

}  // namespace
}  // namespace xgbgpu::cuda
