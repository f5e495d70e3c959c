// Interactions of features: the device's equal the host's, bit for bit.
#include "predict/interactions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "predict/interactions_cuda.h"
#include "predict/predictor.h"
#include "support/covered_trees.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

struct CudaInteractionsCase {
  char const* name;
  DataShape shape;
  FeatureIndex tested;              ///< features that trees test
  std::vector<std::size_t> leaves;  ///< leaves of each tree
  std::uint32_t outputs{1};
  bool chains{false};
  bool stored_nans{false};
  std::uint32_t levels{0};  ///< categories of features 0, 3, 6 …; 0: they are numbers
};

void PrintTo(CudaInteractionsCase const& c, std::ostream* os) { *os << c.name; }

std::vector<CudaInteractionsCase> Cases() {
  std::vector<std::size_t> const mixed{1, 3, 300, 5, 2, 64, 64, 200, 1, 1, 9};
  return {
      {"OneValue", {1, 1}, 1, {2}},
      {"Leaf", {40, 3}, 3, {1}},
      {"Stumps", {1000, 5, 0.2}, 5, std::vector<std::size_t>(100, 2)},
      {"OneRow", {1, 6}, 6, mixed, 2},
      {"ThirtyOneRows", {31, 6, 0.2}, 6, mixed},
      {"ThirtyThreeRows", {33, 6, 0.2}, 6, mixed, 2},
      {"SixtyFiveRows", {65, 6, 0.2}, 6, mixed, 2},
      {"ManyRows", {30000, 28, 0.1}, 28, {64, 64}},  // takes several blocks
      {"ManyOutputs", {700, 12, 0.1}, 12, mixed, 7},
      {"StoredNaN", {2500, 12, 0.4}, 12, mixed, 2, false, true},
      {"BeyondTheData", {2000, 5, 0.1}, 9, mixed, 2},
      {"BeyondTheTrees", {2000, 50, 0.1}, 4, mixed, 2},
      {"NothingStored", {400, 3, 1.0}, 3, mixed},
      {"DeepChains", {300, 90, 0.1}, 90, {61, 61, 40}, 2, true},
      {"LongerThanAChunk", {70, 150, 0.1}, 150, {120, 9, 120}, 1, true},
      {"OneRowABlock", {3, 2900, 0.3}, 2900, {60, 60}},
      {"Sparse", {3000, 60, 0.95}, 60, mixed, 2},
      {"FewCategories", {2500, 6, 0.1}, 6, mixed, 2, false, false, 5},
      {"ManyCategories", {2500, 12, 0.1}, 12, mixed, 2, false, true, 1300},
      {"CategoriesBeyondTheData", {2000, 5, 0.1}, 9, mixed, 2, false, false, 40},
      {"CategoriesInDeepChains", {300, 90, 0.1}, 90, {61, 61, 40}, 2, true, false, 3},
      {"CategoriesLongerThanAChunk", {70, 150, 0.1}, 150, {120, 9, 120}, 1, true, false, 40},
  };
}

class CudaInteractionsTest : public ::testing::TestWithParam<CudaInteractionsCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    CudaInteractionsCase const& c = GetParam();
    auto const values = RandomForestValues(c.shape, c.levels, 72);
    forest_ = RandomCoveredModel(c.leaves, c.tested, c.outputs, c.chains, values, 71, c.levels).Forest();
    source_ = std::make_unique<MemorySource>(values, c.shape.rows / 3 + 1);
    for (auto& row : source_->data()) {
      if (c.stored_nans && row.size() > 1) row[row.size() / 2].value = reference::kMissing;
    }
    features_ = std::max(c.tested, source_->features());
  }
  std::vector<float> Empty() const {
    std::size_t const columns = std::size_t{features_} + 1;
    return std::vector<float>(source_->rows() * GetParam().outputs * columns * columns, -77.0f);
  }
  InteractionsView View(std::vector<float>* out) const {
    return {out->data(), source_->rows(), GetParam().outputs, features_};
  }

  PathForest forest_;
  std::unique_ptr<MemorySource> source_;
  FeatureIndex features_{0};
};

TEST_P(CudaInteractionsTest, EqualTheHosts) {
  std::size_t const trees = forest_.trees();
  for (std::size_t const first : {std::size_t{0}, trees / 2, trees}) {
    auto expected = Empty(), got = Empty();
    host::PredictInteractions(*source_, forest_, first, trees, View(&expected), 3);
    cuda::PredictInteractionsStreamed(*source_, forest_, first, trees, View(&got), 0, 3);
    ASSERT_EQ(Bits(got), Bits(expected)) << "from tree " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaInteractionsTest, ::testing::ValuesIn(Cases()),
                         [](auto const& c) { return c.param.name; });

TEST(CudaInteractionsPlanTest, ScratchHasATileForEveryWarpOrTheRowsThatThereAre) {
  EXPECT_EQ(cuda::InteractionScratch(1, 2, 28), 2U * 406);
  EXPECT_EQ(cuda::InteractionScratch(31, 1, 3), 31U * 6);
  EXPECT_EQ(cuda::InteractionScratch(33, 1, 3), 64U * 6);
  EXPECT_EQ(cuda::InteractionScratch(0, 1, 3), 0U);
}

TEST(CudaInteractionsErrorTest, RefusesWhatTheHostRefuses) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  auto const values = RandomValues({4, 3}, 1);
  MemorySource const source{values};
  PathForest const forest = RandomCoveredModel({8}, 3, 1, false, values, 5).Forest();
  std::vector<float> out(4 * 4 * 4);
  auto const wrong = [&](RowSource const& rows, std::size_t last, InteractionsView const& view,
                         std::vector<std::string> const& parts) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] { cuda::PredictInteractionsStreamed(rows, forest, 0, last, view, 0, 2); }, parts),
              "");
  };
  wrong(source, 2, {out.data(), 4, 1, 3}, {"Trees 0 to 2", "of a forest of 1"});
  wrong(source, 1, {out.data(), 3, 1, 3}, {"3 rows", "data have 4"});
  wrong(source, 1, {out.data(), 4, 1, 2}, {"2 features", "data have 3"});
  wrong(MemorySource{{{{5, 1.0f}}}, 1}, 1, {out.data(), 1, 1, 3}, {"Row 0", "feature 5", "0 to 2"});
}

TEST(CudaInteractionsErrorTest, NoRowsAndNoFeaturesAreNothing) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  GivenTree leaf;
  leaf.value[0] = 0.5f;
  PathForest forest;
  leaf.AddTo(&forest, {1.0f});
  MemorySource const empty{std::vector<std::vector<Entry>>{}, 3};
  cuda::PredictInteractionsStreamed(empty, forest, 0, 1, {nullptr, 0, 1, 3}, 0, 1);
  MemorySource const no_features{std::vector<std::vector<Entry>>(40), 0};
  std::vector<float> out(40);
  cuda::PredictInteractionsStreamed(no_features, forest, 0, 1, {out.data(), 40, 1, 0}, 0, 2);
  EXPECT_EQ(out, std::vector<float>(40, 0.5f));
}

}  // namespace
}  // namespace xgbgpu::testing
