// Slots of a symmetric tree's levels. No two nodes of a level share a slot. The sibling of a built child gets the slot of
// its parent. A level without room is an error. No device is needed.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/data.h"
#include "trees_cuda/level_slots_cuda.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {
namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint64_t kBytes = 1000;

/// A symmetric tree of three levels on one feature, whose nodes are divided in halves, or into all and nothing.
class LevelSlotsTest : public ::testing::Test {
 protected:
  LevelSlotsTest() : features_{train_, 1, 0}, constraints_{train_, 1} {
    train_.grow_policy = GrowPolicy::kSymmetric;
    train_.max_depth = 3;
    GradientSum const root{64, 64};
    tree_.Begin(train_, {&params_, 1}, features_, constraints_, {&root, 1});
    slots_.Begin(tree_, kSlots, kBytes);
  }

  /// Divides the last level: each node sends `share` of its rows left. Returns the families.
  std::vector<Family> Divide(double share, bool is_last = false) {
    std::vector<NodeIndex> const parents = tree_.active();
    std::vector<GradientSum> lefts;
    for (NodeIndex const n : parents) {
      auto const hess = static_cast<std::int64_t>(share * static_cast<double>(tree_.level_node(n)->total.hess));
      lefts.push_back({hess / 2, hess});
    }
    tree_.Divide({1.0, 0, 1, false, false}, lefts);
    return slots_.Plan(tree_, parents, is_last);
  }

  TrainParams train_;
  SplitParams params_{train_, GradientFormat{}};
  FeatureSampler features_;
  Constraints constraints_;
  SymmetricTree tree_;
  LevelSlots slots_;
};

TEST_F(LevelSlotsTest, NodesOfALevelHaveSlotsOfTheirOwn) {
  EXPECT_EQ(slots_.of_nodes(), std::vector<std::int32_t>{0});
  for (int level = 0; level < 2; ++level) {
    std::vector<std::int32_t> const before = slots_.of_nodes();
    std::vector<Family> const families = Divide(0.25);
    ASSERT_EQ(families.size(), before.size());
    std::set<std::int32_t> used;
    for (std::size_t f = 0; f < families.size(); ++f) {
      EXPECT_EQ(families[f].left_is_built, 1);  // the lighter side
      EXPECT_EQ(families[f].sibling_slot, before[f]);
      used.insert({families[f].built_slot, families[f].sibling_slot});
    }
    EXPECT_EQ(used.size(), 2 * families.size());
    EXPECT_EQ(slots_.of_nodes().size(), tree_.active().size());
  }
}

TEST_F(LevelSlotsTest, ChildrenWithoutRowsGiveTheirsBack) {
  Divide(0.5);
  std::vector<Family> const families = Divide(0.0);
  EXPECT_EQ(families.size(), 2U);
  EXPECT_EQ(slots_.of_nodes(), (std::vector<std::int32_t>{families[0].sibling_slot, families[1].sibling_slot}));
  EXPECT_EQ(Divide(0.5).size(), 2U);  // with two slots that were free again
}

TEST_F(LevelSlotsTest, ALevelWithoutRoomIsAnError) {
  Divide(0.5);
  Divide(0.5);
  EXPECT_EQ(testing::WhatIsWrong<OutOfDeviceMemory>(
                [&] { Divide(0.5); }, {"grow_policy is 'symmetric'", "level 3", "needs 8000 bytes", "room for 4000"}),
            "");
}

TEST_F(LevelSlotsTest, TheLastDivisionTakesNone) {
  Divide(0.5);
  Divide(0.5);
  for (Family const& family : Divide(0.5, true)) {
    EXPECT_EQ(family.built_slot, 0);
    EXPECT_EQ(family.sibling_slot, 0);
  }
}

TEST(LevelSlotsOfTreesTest, AreTwiceTheNodesOfTheLastLevelButOneOrTheRows) {
  EXPECT_EQ(LevelSlots::Wanted(1, 1000), 1U);
  EXPECT_EQ(LevelSlots::Wanted(2, 1000), 2U);
  EXPECT_EQ(LevelSlots::Wanted(6, 1000), 32U);
  EXPECT_EQ(LevelSlots::Wanted(16, 1000), 2000U);
}

}  // namespace
}  // namespace xgbgpu::cuda
