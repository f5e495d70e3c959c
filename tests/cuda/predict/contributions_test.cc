// Contributions of features: the device's equal the host's, bit for bit.
#include "predict/contributions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "predict/contributions_cuda.h"
#include "predict/predictor.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

struct CudaContributionsCase {
  char const* name;
  DataShape shape;
  FeatureIndex tested;              ///< features that trees test
  std::vector<std::size_t> leaves;  ///< leaves of each tree
  std::uint32_t outputs{1};
  bool chains{false};
  bool staged{true};  ///< sums are in shared memory
  bool stored_nans{false};
  std::uint32_t levels{0};  ///< categories of features 0, 3, 6 …; 0: they are numbers
};

void PrintTo(CudaContributionsCase const& c, std::ostream* os) { *os << c.name; }

std::vector<CudaContributionsCase> Cases() {
  std::vector<std::size_t> const mixed{1, 3, 300, 5, 2, 64, 64, 200, 1, 1, 9};
  return {
      {"OneValue", {1, 1}, 1, {2}},
      {"Leaf", {40, 3}, 3, {1}},
      {"Stumps", {1000, 5, 0.2}, 5, std::vector<std::size_t>(100, 2)},
      {"ThirtyOneRows", {31, 6, 0.2}, 6, mixed},
      {"ThirtyThreeRows", {33, 6, 0.2}, 6, mixed, 2},
      {"OneTree", {5000, 28}, 28, {64}},
      {"ManyRows", {200000, 28, 0.1}, 28, {64, 64}},
      {"ManyOutputs", {700, 12, 0.1}, 12, mixed, 7},
      {"StoredNaN", {2500, 12, 0.4}, 12, mixed, 2, false, true, true},
      {"BeyondTheData", {2000, 5, 0.1}, 9, mixed, 2},
      {"BeyondTheTrees", {2000, 50, 0.1}, 4, mixed, 2},
      {"NothingStored", {400, 3, 1.0}, 3, mixed},
      {"DeepChains", {300, 90, 0.1}, 90, {61, 61, 40}, 2, true},
      {"LongerThanAChunk", {200, 400, 0.1}, 400, {120, 9, 120}, 1, true},
      {"SmallBlocks", {1000, 800, 0.3}, 800, mixed, 2},
      {"Wide", {300, 3000, 0.2}, 3000, mixed, 2, false, false},
      {"VeryWide", {33, 70000, 0.9}, 70010, {20, 300, 4}, 2, false, false},
      {"Sparse", {3000, 60, 0.95}, 60, mixed, 3},
      {"CategoricalStump", {40, 1}, 1, {2}, 1, false, true, false, 3},
      {"FewCategories", {2500, 6, 0.1}, 6, mixed, 2, false, true, false, 5},
      {"ManyCategories", {2500, 12, 0.1}, 12, mixed, 2, false, true, false, 1300},
      {"CategoriesManyRows", {200000, 7, 0.1}, 7, {64, 64}, 1, false, true, false, 100},
      {"CategoriesStoredNaN", {2500, 12, 0.4}, 12, mixed, 2, false, true, true, 40},
      {"CategoriesBeyondTheData", {2000, 5, 0.1}, 9, mixed, 2, false, true, false, 40},
      {"CategoriesInDeepChains", {300, 90, 0.1}, 90, {61, 61, 40}, 2, true, true, false, 3},
      {"CategoriesLongerThanAChunk", {200, 400, 0.1}, 400, {120, 9, 120}, 1, true, true, false, 40},
      {"CategoriesWide", {300, 3000, 0.2}, 3000, mixed, 2, false, false, false, 40},
      {"CategoriesVeryWide", {33, 70000, 0.9}, 70010, {20, 300, 4}, 2, false, false, false, 40},
  };
}

class CudaContributionsTest : public ::testing::TestWithParam<CudaContributionsCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    CudaContributionsCase const& c = GetParam();
    Random random{71};
    auto const values = RandomForestValues(c.shape, c.levels, 72);
    std::vector<GivenTree> trees;
    for (std::size_t i = 0; i < c.leaves.size(); ++i) {
      auto const output = static_cast<std::uint32_t>(i * i % c.outputs);
      std::uint32_t const levels = i == 0 && c.leaves.size() > 1 ? 0 : c.levels;
      trees.push_back(RandomTree({c.leaves[i], c.tested, output, c.chains, levels}, values, &random));
      if (i % 5 == 4) trees.back().weight = 0.7f;
    }
    forest_ = MakePathForest(trees, &random);
    source_ = std::make_unique<MemorySource>(values, c.shape.rows / 3 + 1);
    for (auto& row : source_->data()) {
      if (c.stored_nans && row.size() > 1) row[row.size() / 2].value = reference::kMissing;
    }
    features_ = std::max(c.tested, source_->features());
  }
  std::vector<float> Empty() const {
    return std::vector<float>(source_->rows() * GetParam().outputs * (std::size_t{features_} + 1), -77.0f);
  }
  ContributionsView View(std::vector<float>* out) const {
    return {out->data(), source_->rows(), GetParam().outputs, features_};
  }

  PathForest forest_;
  std::unique_ptr<MemorySource> source_;
  FeatureIndex features_{0};
};

TEST_P(CudaContributionsTest, EqualTheHosts) {
  std::size_t const trees = forest_.trees();
  for (bool const approximate : {false, true}) {
    using Range = std::pair<std::size_t, std::size_t>;
    for (auto const& [first, last] : {Range{0, trees}, Range{trees / 2, trees}, Range{trees, trees}, Range{0, 1}}) {
      auto expected = Empty(), got = Empty();
      host::PredictContributions(*source_, forest_, first, last, approximate, View(&expected), 3);
      cuda::PredictContributionsStreamed(*source_, forest_, first, last, approximate, View(&got), 0, 3);
      ASSERT_EQ(Bits(got), Bits(expected))
          << (approximate ? "approximate, " : "exact, ") << "trees " << first << " to " << last;
    }
  }
}

TEST_P(CudaContributionsTest, SumsAreWhereTheCaseWantsThem) {
  CudaContributionsCase const& c = GetParam();
  auto const plan = cuda::PlanContributions(source_->rows(), c.outputs, forest_.features(), CurrentDeviceLimits());
  EXPECT_EQ(plan.scratch == 0, c.staged);
  EXPECT_LE(plan.bytes, CurrentDeviceLimits().block_bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaContributionsTest, ::testing::ValuesIn(Cases()),
                         [](auto const& c) { return c.param.name; });

TEST(CudaContributionsPlanTest, ScratchHasATileForEveryWarp) {
  DeviceLimits const limits{0, 132, 232448, 233472, true};  // those of an H200
  EXPECT_EQ(cuda::PlanContributions(1000, 3, 28, limits).block_rows, 128U);
  EXPECT_EQ(cuda::PlanContributions(1000, 3, 28, limits).bytes, (16U << 10) + 128 * 28 * 8);
  EXPECT_EQ(cuda::PlanContributions(1000, 3, 800, limits).block_rows, 32U);
  EXPECT_EQ(cuda::PlanContributions(1000, 3, 800, limits).scratch, 0U);
  EXPECT_EQ(cuda::PlanContributions(1000, 3, 3000, limits).scratch, 1024U * 3 * 3000);
}

TEST(CudaContributionsErrorTest, RefusesWhatTheHostRefuses) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  Random random{5};
  MemorySource const source{RandomValues({4, 3}, 1)};
  GivenTree const tree = RandomTree({8, 3}, RandomValues({4, 3}, 1), &random);
  PathForest const forest = MakePathForest({tree}, &random);
  std::vector<float> out(4 * 4);
  auto const wrong = [&](RowSource const& rows, std::size_t last, ContributionsView const& view,
                         std::vector<std::string> const& parts) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] { cuda::PredictContributionsStreamed(rows, forest, 0, last, false, view, 0, 2); }, parts),
              "");
  };
  wrong(source, 2, {out.data(), 4, 1, 3}, {"Trees 0 to 2", "of a forest of 1"});
  wrong(source, 1, {out.data(), 3, 1, 3}, {"3 rows", "data have 4"});
  wrong(source, 1, {out.data(), 4, 0, 3}, {"0 outputs", "are for 1"});
  wrong(source, 1, {out.data(), 4, 1, 2}, {"2 features", "data have 3"});
  wrong(MemorySource{{{{5, 1.0f}}}, 1}, 1, {out.data(), 1, 1, 3}, {"Row 0", "feature 5", "0 to 2"});
}

TEST(CudaContributionsErrorTest, NoRowsAndNoFeaturesAreNothing) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  GivenTree leaf;
  leaf.value[0] = 0.5f;
  PathForest forest;
  leaf.AddTo(&forest, {1.0f});
  MemorySource const empty{std::vector<std::vector<Entry>>{}, 3};
  cuda::PredictContributionsStreamed(empty, forest, 0, 1, false, {nullptr, 0, 1, 3}, 0, 1);
  MemorySource const no_features{std::vector<std::vector<Entry>>(40), 0};
  for (bool const approximate : {false, true}) {
    std::vector<float> out(40);
    cuda::PredictContributionsStreamed(no_features, forest, 0, 1, approximate, {out.data(), 40, 1, 0}, 0, 2);
    EXPECT_EQ(out, std::vector<float>(40, 0.5f));
  }
}

}  // namespace
}  // namespace xgbgpu::testing
