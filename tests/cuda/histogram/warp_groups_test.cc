// Features of sparse matrices are dealt to warps: each once, in order, never more than a warp has lanes and room for.
// No device is needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "split/split_groups.h"

namespace xgbgpu::cuda {
namespace {

/// Returns cuts of features with so many bins.
Cuts CutsOf(std::vector<BinIndex> const& bins) {
  Cuts cuts;
  cuts.ptr = {0};
  for (BinIndex const b : bins) cuts.ptr.push_back(cuts.ptr.back() + b);
  cuts.min_values.resize(bins.size());
  cuts.values.resize(cuts.ptr.back());
  return cuts;
}

constexpr std::size_t kPlaces = 1 << 20;

TEST(WarpGroupsTest, EveryFeatureIsLookedAtOnce) {
  std::vector<BinIndex> bins;
  for (std::uint32_t f = 0; f < 3000; ++f) {
    bins.push_back(f < 1000 ? 1 + f * 2654435761U % 256 : f < 2000 ? f % 4 : 256);  // some features have no bins
  }
  Cuts const cuts = CutsOf(bins);
  FeatureIndex next = 0;
  for (WarpGroup const& group : MakeWarpGroups(cuts, kPlaces)) {
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
  EXPECT_EQ(MakeWarpGroups(CutsOf(std::vector<BinIndex>(640, 2)), kPlaces).size(), 10U);  // each has 64 features
  EXPECT_EQ(MakeWarpGroups(CutsOf(std::vector<BinIndex>(640, 9)), kPlaces).size(), 20U);  // a feature takes two lanes
  EXPECT_EQ(MakeWarpGroups(CutsOf(std::vector<BinIndex>(640, 256)), kPlaces).size(), 320U);
}

/// The blocks that look at a child have places for candidates beside each other, and no more than there are.
TEST(WarpGroupsTest, BlocksOfAChildHavePlaces) {
  std::uint32_t most = 0;
  for (std::uint32_t const groups : {1U, 7U, 8U, 9U, 17U, 100U, 264U, 265U, 2500U}) {
    std::size_t places = 1;
    while (MakeWarpGroups(CutsOf(std::vector<BinIndex>(2 * groups, 256)), places).empty()) ++places;
    for (std::uint32_t const children : {1U, 2U, 6U, 64U, 254U}) {
      for (std::uint32_t const most_blocks : {1U, 2U, 80U, 263U, 264U}) {
        WarpGroupRuns const runs{groups, children, most_blocks};
        ASSERT_EQ(runs.Begin(0), 0U);
        ASSERT_EQ(runs.Begin(runs.blocks), groups * children);
        std::vector<std::uint32_t> blocks_of(children);
        for (std::uint32_t b = 0; b < runs.blocks; ++b) {
          std::uint32_t const begin = runs.Begin(b), end = runs.Begin(b + 1);
          ASSERT_GE(end - begin, std::min(kWarpRun, groups * children));
          ASSERT_EQ(runs.BlockOf(begin), b);
          ASSERT_EQ(runs.BlockOf(end - 1), b);
          for (std::uint32_t child = begin / groups; child <= (end - 1) / groups; ++child) ++blocks_of[child];
        }
        for (std::uint32_t child = 0; child < children; ++child) {
          std::uint32_t const first = runs.BlockOf(child * groups), last = runs.BlockOf(child * groups + groups - 1);
          ASSERT_EQ(last - first + 1, blocks_of[child]);
          ASSERT_LE(blocks_of[child], places);
          most = std::max(most, blocks_of[child]);
        }
      }
    }
  }
  EXPECT_GT(most, 100U);
}

/// Each group would have one feature, but candidates have one place for each sixteen features: more blocks than places.
TEST(WarpGroupsTest, NoneWhereCandidatesHaveNoPlace) {
  std::vector<BinIndex> bins;
  for (int i = 0; i < 136; ++i) bins.insert(bins.end(), {64, 1});
  EXPECT_EQ(MakeWarpGroups(CutsOf(bins), 35).size(), 272U);
  EXPECT_EQ(MakeWarpGroups(CutsOf(bins), 34).size(), 0U);
  EXPECT_EQ(MakeWarpGroups(CutsOf(bins), bins.size() / 16).size(), 0U);
}

TEST(WarpGroupsTest, NoneWhereBlocksLook) {
  std::vector<BinIndex> const bins(100, 256);
  EXPECT_FALSE(MakeWarpGroups(CutsOf(bins), kPlaces).empty());
  Cuts categories = CutsOf(bins);
  categories.categorical.resize(bins.size());
  EXPECT_TRUE(MakeWarpGroups(categories, kPlaces).empty());
  std::vector<BinIndex> one_too_many = bins;
  one_too_many[50] = 257;
  EXPECT_TRUE(MakeWarpGroups(CutsOf(one_too_many), kPlaces).empty());
}

}  // namespace
}  // namespace xgbgpu::cuda
