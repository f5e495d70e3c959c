// Symmetric trees, host = CUDA, where the device has ways of its own: categories, many bins, many nodes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

class CudaSymmetricTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  /// Compares trees, leaves and margins of some trees of a training. Returns the number of leaves.
  static std::size_t Compare(TreeCase c) {
    c.params.grow_policy = GrowPolicy::kSymmetric;
    Trainer host{MakeDataset(c, {BackendKind::kHost}), BackendKind::kHost, 2};
    Trainer cuda{MakeDataset(c, {BackendKind::kCuda}), BackendKind::kCuda, 2};
    std::size_t leaves = 0;
    for (std::uint32_t t = 0; t < 3; ++t) {
      Tree const expected = host.Grow(c.params, c.gradients, {t, 0});
      EXPECT_EQ(cuda.Grow(c.params, c.gradients, {t, 0}), expected) << "tree " << t;
      std::vector<NodeIndex> of_host(c.values.rows), of_cuda(c.values.rows);
      host.LeafPositions(of_host, {});
      cuda.LeafPositions(of_cuda, {});
      EXPECT_EQ(of_cuda, of_host) << "tree " << t;
      leaves += expected.Leaves();
    }
    return leaves;
  }
};

TEST_F(CudaSymmetricTest, Categories) {
  for (double missing : {0.0, 0.2, 0.9}) {
    for (std::uint32_t onehot : {4U, 1000U}) {
      for (int threshold : {64, 3}) {
        SCOPED_TRACE(std::to_string(missing) + ", " + std::to_string(onehot) + ", " + std::to_string(threshold));
        TreeCase c = RandomCase({4000, 9, missing}, 301);
        for (std::size_t feature : {0U, 3U, 4U}) AddCategories(&c, feature, 3 + 150 * feature);
        c.params.max_cat_to_onehot = onehot;
        c.params.max_cat_threshold = threshold;
        EXPECT_GT(Compare(c), 20U);
        c.params.subsample = 0.5f;
        c.params.monotone_constraints = {0, 1, -1};
        EXPECT_GT(Compare(c), 20U);
      }
    }
  }
}

TEST_F(CudaSymmetricTest, MoreCategoriesThanABlockHasThreads) {
  TreeCase c = RandomCase({20000, 3, 0.1}, 302);
  AddCategories(&c, 1, 5000);
  c.params.max_depth = 5;
  EXPECT_GT(Compare(c), 20U);
}

// The gains of fewer nodes than a level has fit the room for them.
TEST_F(CudaSymmetricTest, ManyBinsAndManyNodes) {
  TreeCase c = RandomCase({30000, 60, 0.05}, 303);
  c.max_bin = 2000;
  c.params.max_depth = 8;
  EXPECT_GT(Compare(c), 300U);
}

TEST_F(CudaSymmetricTest, EveryWayToRegularise) {
  for (int turn = 0; turn < 32; ++turn) {
    SCOPED_TRACE(turn);
    TreeCase c = RandomCase({3000, 7, turn % 2 == 0 ? 0.0 : 0.2}, 304);
    c.max_bin = 40;
    c.params.max_depth = 9;
    c.params.min_child_weight = turn % 3 == 0 ? 30.0f : 0.5f;
    if (turn % 4 >= 2) c.params.reg_alpha = 2.0f;
    if (turn % 8 >= 4) c.params.max_delta_step = 0.2f;
    if (turn % 16 >= 8) c.params.min_split_loss = 1.0f;
    if (turn >= 16) c.params.monotone_constraints = {1, -1, 0, 1};
    if (turn % 5 == 0) c.params.reg_lambda = 0.0f;
    if (turn % 7 == 0) c.params.colsample_bynode = 0.5f;
    Compare(c);
  }
}

// The features of levels come from the host, and what interaction constraints leave of them is found on the device.
TEST_F(CudaSymmetricTest, FeaturesOfLevels) {
  for (int turn = 0; turn < 16; ++turn) {
    SCOPED_TRACE(turn);
    TreeCase c = RandomCase({4000, 40, turn % 2 == 0 ? 0.0 : 0.3}, 307);
    c.max_bin = 64;
    c.params.max_depth = 7;
    if (turn % 4 >= 2) c.params.colsample_bytree = 0.6f;
    if (turn % 8 >= 4) c.params.colsample_bylevel = 0.5f;
    if (turn >= 8) c.params.interaction_constraints = {{0, 1, 2, 3, 20, 21}, {3, 4, 5, 6, 30}, {10, 11, 12}};
    EXPECT_GT(Compare(c), 10U);
  }
}

// Weak levels are cut off by the host, after rows have been told their nodes: by lists and by paths, all or a sample.
TEST_F(CudaSymmetricTest, CutLevels) {
  for (double missing : {0.0, 0.9}) {
    for (float subsample : {1.0f, 0.4f}) {
      for (float gamma : {0.5f, 5.0f, 1e6f}) {
        SCOPED_TRACE(std::to_string(missing) + ", " + std::to_string(subsample) + ", " + std::to_string(gamma));
        TreeCase c = RandomCase({20000, 12, missing}, 308);
        c.params.max_depth = 8;
        c.params.subsample = subsample;
        c.params.min_split_loss = gamma;
        std::size_t const leaves = Compare(c);
        EXPECT_GE(leaves, 3U);
        EXPECT_LT(leaves, 3U << 8);
      }
    }
  }
}

// Children without rows, whose parents have the fewest that can be divided.
TEST_F(CudaSymmetricTest, MoreLeavesThanRows) {
  TreeCase c = RandomCase({40, 6, 0.2}, 309);
  c.params.max_depth = 12;
  c.params.reg_lambda = 0.01f;
  c.params.min_child_weight = 0.0f;
  EXPECT_GT(Compare(c), 3 * 40U);
}

TEST_F(CudaSymmetricTest, OtherTreesInBetween) {
  TreeCase c = RandomCase({5000, 8, 0.1}, 305);
  Trainer cuda{MakeDataset(c, {BackendKind::kCuda}), BackendKind::kCuda, 2};
  for (int turn = 0; turn < 12; ++turn) {
    c.params.max_depth = 3 + turn % 5;
    SetPolicy(&c.params, kPolicies[turn % 3]);
    EXPECT_EQ(cuda.Grow(c.params, c.gradients, {}), Grow(c, {BackendKind::kHost})) << "turn " << turn;
  }
}

TEST_F(CudaSymmetricTest, SixteenLevels) {
  TreeCase c = RandomCase({60000, 5, 0.1}, 306);
  c.max_bin = 32;
  c.params.max_depth = 16;
  c.params.reg_lambda = 0.01f;
  c.params.min_child_weight = 0.05f;
  EXPECT_GT(Compare(c), 10000U);
}

}  // namespace
}  // namespace xgbgpu::testing
