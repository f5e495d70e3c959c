// predict: leaves of quantised rows equal a recursive walk over the raw values; leaf values are added once.
#include "predict/predict.h"

#include <gtest/gtest.h>

#include "reference/tree.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/layouts.h"

namespace xgbgpu {
namespace {

using testing::LayoutCase;

class PredictTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(PredictTest, LeavesEqualTheRecursiveWalk) {
  auto c = testing::RandomCase(GetParam().shape, 111);
  c.max_bin = GetParam().max_bin;
  auto const data = testing::MakeDataset(c);
  Tree const tree = testing::Grow(c);
  ASSERT_GT(tree.Leaves(), 10U);
  for (int threads : {1, 2, 3, 7}) {
    std::vector<NodeIndex> positions(c.values.rows, host::kUnknownLeaf);
    positions[3] = 12345;  // this leaf is known, and not touched
    host::FindLeaves(testing::BinsOf(*data), tree, positions, threads);
    EXPECT_EQ(positions[3], 12345);
    for (std::size_t r = 0; r < c.values.rows; ++r) {
      if (r == 3) continue;
      ASSERT_EQ(positions[r], ~reference::FindLeaf(tree, c.values, r)) << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PredictTest, ::testing::ValuesIn(testing::kLayoutCases), testing::LayoutName{});

TEST(AddLeafValuesTest, OneAdditionPerRowAtItsStride) {
  std::vector<NodeIndex> positions;
  for (int r = 0; r < 40000; ++r) positions.push_back(r % 2 == 0 ? r % 3 : ~(r % 3));  // in and out of the sample
  std::vector<float> const values{0.1f, -0.2f, 0.7f};
  for (std::size_t stride : {std::size_t{1}, std::size_t{3}}) {
    for (int threads : {1, 3}) {
      std::vector<float> margins(positions.size() * stride, 0.3f);
      host::AddLeafValues(positions, values, margins.data(), stride, threads);
      for (std::size_t i = 0; i < margins.size(); ++i) {
        float const expected = i % stride == 0 ? 0.3f + values[i / stride % 3] : 0.3f;
        ASSERT_EQ(margins[i], expected) << i;
      }
    }
  }
}

}  // namespace
}  // namespace xgbgpu
