// Forests on raw values: the device's margins and leaves equal the host's, bit for bit.
#include "predict/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <tuple>
#include <utility>

#include "predict/forest_cuda.h"
#include "predict/forest_policy.h"
#include "predict/level_forest_cuda.h"
#include "predict/predictor_cuda.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "user_arrays/array_case.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

constexpr std::uint32_t kOutputs = 3;

enum class Where { kStaged, kTiles, kSparse };  // how the kernel reads rows

struct CudaForestCase {
  char const* name;
  DataShape shape;
  FeatureIndex tested;              ///< features that trees test
  std::vector<std::size_t> leaves;  ///< leaves of each tree
  bool dense;
  Where where;
  std::uint32_t outputs{kOutputs};
  bool stored_nans{false};
  std::uint32_t levels{0};  ///< categories of features 0, 3, 6 …; 0: they are numbers
  int twins{0};             ///< trees with the splits of each tree, behind it
};

void PrintTo(CudaForestCase const& c, std::ostream* os) { *os << c.name; }

std::vector<std::size_t> Equal(std::size_t trees, std::size_t leaves) {
  return std::vector<std::size_t>(trees, leaves);
}

std::vector<CudaForestCase> Cases() {
  std::vector<std::size_t> const mixed{1, 3, 1000, 5, 40000, 200, 200, 2, 256, 256, 256, 256, 1, 70000, 1, 1, 9};
  return {
      {"OneValue", {1, 1}, 1, {2}, true, Where::kStaged},
      {"OneTree", {5000, 28}, 28, {256}, true, Where::kStaged, 1},
      {"OneTreeManyRows", {200000, 28, 0.1}, 28, {256}, true, Where::kStaged, 1},
      {"FortyTreesManyRows", {200000, 7}, 7, Equal(40, 256), true, Where::kStaged, 1},
      {"Stumps", {1000, 5, 0.2}, 5, Equal(100, 2), true, Where::kStaged},
      {"Leaves", {1000, 5, 0.2}, 5, Equal(70, 1), true, Where::kStaged},
      {"ThirtyOneRows", {31, 6, 0.2}, 6, Equal(20, 60), true, Where::kStaged},
      {"ThirtyThreeRows", {33, 6, 0.2}, 6, Equal(20, 60), true, Where::kStaged},
      {"FiveTrees", {3001, 54}, 54, Equal(5, 256), true, Where::kStaged},
      {"MixedTrees", {2500, 12, 0.1, 50}, 12, mixed, true, Where::kStaged},
      {"StoredNaN", {2500, 12, 0.4}, 12, mixed, true, Where::kStaged, kOutputs, true},
      {"BeyondTheData", {2000, 5, 0.1}, 9, mixed, true, Where::kStaged},
      {"BeyondTheTrees", {2000, 50, 0.1}, 4, mixed, true, Where::kStaged},
      {"NothingStored", {400, 3, 1.0}, 3, Equal(9, 8), true, Where::kStaged},
      {"WideStaged", {3000, 380}, 380, Equal(50, 100), true, Where::kStaged},
      {"WideOneTree", {3000, 500, 0.1}, 510, {300}, true, Where::kTiles},
      {"Wide", {300, 3000, 0.2}, 3000, mixed, true, Where::kTiles},
      {"VeryWide", {33, 70000, 0.3}, 70010, Equal(6, 500), true, Where::kTiles},
      {"SparseStaged", {3000, 60, 0.9}, 60, mixed, false, Where::kStaged},
      {"SparseStoredNaN", {3000, 60, 0.95}, 60, mixed, false, Where::kStaged, kOutputs, true},
      {"Sparse", {2000, 3000, 0.97}, 3000, mixed, false, Where::kSparse},
      {"SparseBeyondTheData", {2000, 3000, 0.97}, 3100, mixed, false, Where::kSparse},
      {"SparseOneTree", {3000, 300, 0.95}, 300, {300}, false, Where::kSparse},
      {"VerySparse", {500, 70000, 0.999}, 70000, Equal(6, 500), false, Where::kSparse},
      {"CategoricalStump", {40, 1}, 1, {2}, true, Where::kStaged, 1, false, 3},
      {"FewCategories", {2500, 12, 0.1}, 12, mixed, true, Where::kStaged, kOutputs, false, 5},
      {"ManyCategories", {2500, 12, 0.1}, 12, Equal(40, 200), true, Where::kStaged, kOutputs, false, 1300},
      {"CategoriesManyRows", {200000, 7}, 7, Equal(40, 256), true, Where::kStaged, 1, false, 100},
      {"CategoriesStoredNaN", {2500, 12, 0.4}, 12, mixed, true, Where::kStaged, kOutputs, true, 40},
      {"CategoriesBeyondTheData", {2000, 5, 0.1}, 9, mixed, true, Where::kStaged, kOutputs, false, 40},
      {"CategoriesWide", {300, 3000, 0.2}, 3000, mixed, true, Where::kTiles, kOutputs, false, 64},
      {"CategoriesVeryWide", {33, 70000, 0.3}, 70010, Equal(6, 500), true, Where::kTiles, kOutputs, false, 33},
      {"CategoriesSparseStaged", {3000, 60, 0.9}, 60, mixed, false, Where::kStaged, kOutputs, false, 40},
      {"CategoriesSparse", {2000, 3000, 0.97}, 3100, mixed, false, Where::kSparse, kOutputs, false, 40},
      {"Twins", {2500, 12, 0.1, 50}, 12, mixed, true, Where::kStaged, kOutputs, false, 0, 2},
      {"ManyTwins", {2000, 5, 0.1}, 9, Equal(9, 60), true, Where::kStaged, 16, false, 0, 15},
      {"TwinsOfCategories", {2500, 12, 0.1}, 12, mixed, true, Where::kStaged, kOutputs, false, 5, 3},
      {"TwinsSparse", {2000, 3000, 0.97}, 3100, mixed, false, Where::kSparse, kOutputs, false, 40, 1},
  };
}

class CudaForestTest : public ::testing::TestWithParam<CudaForestCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    CudaForestCase const& c = GetParam();
    Random random{71};
    auto const values = RandomForestValues(c.shape, c.levels, 72);
    for (std::size_t i = 0; i < c.leaves.size(); ++i) {
      auto const output = static_cast<std::uint32_t>(i * i % c.outputs);
      // If there are several trees, the first and every seventh after it split on numbers only.
      std::uint32_t const levels = i % 7 == 0 && c.leaves.size() > 1 ? 0 : c.levels;
      GivenTree tree = RandomTree({c.leaves[i], c.tested, output, i % 4 == 3, levels}, values, &random);
      if (i % 5 == 4) tree.weight = 0.7f;
      tree.AddTo(&forest_);
      for (int twin = 0; twin < c.twins; ++twin) {
        tree.output = (tree.output + 1) % c.outputs;
        for (std::size_t n = 0; n < tree.size(); ++n) {
          if (tree.left[n] == kNoNode) tree.value[n] = random.Between(-1, 1);
        }
        tree.AddTo(&forest_);
        ASSERT_TRUE(forest_.tree(forest_.trees() - 1).twin());
      }
    }
    source_ = std::make_unique<MemorySource>(values, c.shape.rows / 3 + 1);
    for (auto& row : source_->data()) {
      if (c.stored_nans && row.size() > 1) row[row.size() / 2].value = reference::kMissing;
    }
  }
  std::uint64_t rows() const { return source_->rows(); }

  Forest forest_;
  std::unique_ptr<MemorySource> source_;
};

template <typename T>
std::vector<T> ToHost(DeviceBuffer<T> const& from) {
  std::vector<T> to(from.size());
  CheckCuda(cudaDeviceSynchronize(), "waiting");
  CheckCuda(cudaMemcpy(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "reading back");
  return to;
}

TEST_P(CudaForestTest, MarginsAndLeavesEqualTheHosts) {
  CudaForestCase const& c = GetParam();
  DeviceArena arena{"The test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  cuda::RawMatrix const matrix{*source_, &arena, stream, 3};
  ASSERT_EQ(matrix.dense(), c.dense);
  cuda::DeviceForest device{&arena};
  std::size_t const trees = forest_.trees();
  device.Append(forest_, 0, trees, stream);
  device.SetWeights(forest_.weights(), stream);
  // A GPU with less shared memory reads more rows from device memory.
  ForestPlan const plan = MakeForestPlan({rows(), std::max(1U, device.features()), trees, device.words(0, trees),
                                          limits.processors, limits.block_bytes, limits.processor_bytes});
  if (limits.block_bytes >= 227 << 10) {
    EXPECT_EQ(plan.staged, c.where == Where::kStaged);
  }

  for (auto const& [first, last] : {std::pair{std::size_t{0}, trees}, std::pair{trees / 3, trees - trees / 4},
                                    std::pair{trees - 1, trees}, std::pair{trees / 2, trees / 2}}) {
    auto expected = RandomMargins(rows() * c.outputs, 73);
    for (bool const by_output : {true, false}) {
      auto const start = RandomMargins(rows() * c.outputs, 74);
      auto margins = Upload(&arena, "margins", start.data(), start.size());
      auto const view = [&](float* data) {
        return by_output ? OutputMajor(data, rows(), c.outputs) : RowMajor(data, rows(), c.outputs);
      };
      expected = start;
      host::PredictMargins(*source_, forest_, first, last, view(expected.data()), 2);
      cuda::PredictMargins(matrix, device, first, last, view(margins.data()), limits, stream);
      stream.Wait("predicting");
      ASSERT_EQ(Bits(ToHost(margins)), Bits(expected)) << first << " to " << last;
    }
    std::vector<float> leaves(rows() * (last - first));
    host::PredictLeaves(*source_, forest_, first, last, leaves.data(), 2);
    DeviceBuffer<float> out{&arena, "leaves", leaves.size()};
    cuda::PredictLeaves(matrix, device, first, last, out.data(), limits, stream);
    stream.Wait("predicting");
    ASSERT_EQ(ToHost(out), leaves) << first << " to " << last;
  }
}

TEST_P(CudaForestTest, StreamedRowsGiveTheHostsMargins) {
  CudaForestCase const& c = GetParam();
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  device.Append(forest_, 0, forest_.trees(), stream);
  device.SetWeights(forest_.weights(), stream);
  for (bool const by_output : {true, false}) {
    auto expected = RandomMargins(rows() * c.outputs, 75);
    auto margins = expected;
    auto const view = [&](std::vector<float>& m) {
      return by_output ? OutputMajor(m.data(), rows(), c.outputs) : RowMajor(m.data(), rows(), c.outputs);
    };
    host::PredictMargins(*source_, forest_, 0, forest_.trees(), view(expected), 2);
    cuda::PredictMarginsStreamed(*source_, &device, 0, forest_.trees(), view(margins), 0, 3);
    ASSERT_EQ(Bits(margins), Bits(expected));
  }
}

TEST_P(CudaForestTest, StreamedRowsGiveTheHostsLeaves) {
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  std::size_t const trees = forest_.trees();
  device.Append(forest_, 0, trees, stream);
  for (std::size_t const first : {std::size_t{0}, trees / 3, trees}) {
    std::vector<float> expected(rows() * (trees - first)), leaves(expected.size());
    host::PredictLeaves(*source_, forest_, first, trees, expected.data(), 2);
    cuda::PredictLeavesStreamed(*source_, &device, first, trees, leaves.data(), 0, 3);
    ASSERT_EQ(leaves, expected) << "from tree " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CudaForestTest, ::testing::ValuesIn(Cases()),
                         [](auto const& c) { return c.param.name; });

struct CudaLevelCase {
  char const* name;
  DataShape shape;
  FeatureIndex tested;      ///< features that trees test
  std::vector<int> levels;  ///< of each tree, at most
  bool dense;
  Where where;  ///< with all trees
  std::uint32_t outputs{kOutputs};
  std::uint32_t categories{0};
  bool stored_nans{false};
};

void PrintTo(CudaLevelCase const& c, std::ostream* os) { *os << c.name; }

std::vector<CudaLevelCase> LevelCases() {
  auto const equal = [](std::size_t trees, int levels) { return std::vector<int>(trees, levels); };
  std::vector<int> every, mixed;
  for (int levels = 0; levels <= LevelForest::kMostLevels; ++levels) every.push_back(levels);
  for (int i = 0; i < 120; ++i) mixed.push_back(i % 40 == 39 ? 13 : i * i % 11);
  std::vector<int> const small(every.begin(), every.begin() + 9);
  return {
      {"OneValue", {1, 1}, 1, {1}, true, Where::kStaged, 1},
      {"OneTree", {5000, 28, 0.1}, 28, {8}, true, Where::kStaged, 1},
      {"EveryDepth", {3001, 28, 0.1}, 28, every, true, Where::kStaged},
      {"MixedDepths", {2500, 12, 0.1, 50}, 12, mixed, true, Where::kStaged},
      {"ManyRows", {200000, 28, 0.1}, 28, equal(40, 8), true, Where::kStaged, 1},
      {"ManyTrees", {3000, 28}, 28, equal(300, 8), true, Where::kStaged, 1},
      {"Classes", {3000, 28}, 28, equal(100, 6), true, Where::kStaged, 7},
      {"Leaves", {1000, 5, 0.2}, 5, equal(70, 0), true, Where::kStaged},
      {"Stumps", {1000, 5, 0.2}, 5, equal(100, 1), true, Where::kStaged},
      {"ThirtyOneRows", {31, 6, 0.2}, 6, equal(20, 6), true, Where::kStaged},
      {"ThirtyThreeRows", {33, 6, 0.2}, 6, equal(20, 6), true, Where::kStaged},
      {"BeyondTheData", {2002, 5, 0.1}, 9, every, true, Where::kStaged},
      {"BeyondTheTrees", {2003, 50, 0.1}, 4, every, true, Where::kStaged},
      {"NothingStored", {400, 3, 1.0}, 3, small, true, Where::kStaged},
      {"StoredNaN", {2500, 12, 0.4}, 12, every, true, Where::kStaged, kOutputs, 0, true},
      {"Wide", {301, 3000, 0.2}, 3000, equal(150, 8), true, Where::kTiles},
      {"VeryWide", {33, 70000, 0.3}, 70010, equal(150, 8), true, Where::kTiles},
      {"SparseStaged", {3001, 60, 0.9}, 60, every, false, Where::kStaged},
      {"SparseStoredNaN", {3000, 60, 0.95}, 60, every, false, Where::kStaged, kOutputs, 0, true},
      {"SparseFewOfMany", {2000, 3000, 0.97}, 3000, small, false, Where::kStaged},
      {"Sparse", {2001, 3000, 0.97}, 3100, equal(150, 8), false, Where::kSparse},
      {"Categories", {2500, 12, 0.1}, 12, every, true, Where::kStaged, kOutputs, 40},
      {"ManyCategories", {2500, 12, 0.1}, 12, equal(40, 8), true, Where::kStaged, kOutputs, 1300},
      {"CategoriesWide", {300, 3000, 0.2}, 3000, equal(150, 8), true, Where::kTiles, kOutputs, 33},
      {"CategoriesSparseStaged", {3000, 60, 0.9}, 60, every, false, Where::kStaged, kOutputs, 40},
      {"CategoriesSparse", {2000, 3000, 0.97}, 3100, equal(150, 8), false, Where::kSparse, kOutputs, 33},
  };
}

class CudaLevelForestTest : public ::testing::TestWithParam<CudaLevelCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    CudaLevelCase const& c = GetParam();
    Random random{90};
    source_ = std::make_unique<MemorySource>(RandomForestValues(c.shape, c.categories, 91), c.shape.rows / 3 + 1);
    for (auto& row : source_->data()) {
      if (c.stored_nans && row.size() > 1) row[row.size() / 2].value = reference::kMissing;
    }
    for (int const levels : c.levels) {
      SymmetricTree({levels, c.tested, c.outputs, c.categories}, &random).AddTo(&forest_);
    }
    levels_ = LevelForest::Of(forest_);
    ASSERT_TRUE(levels_);
  }
  std::uint64_t rows() const { return source_->rows(); }
  OutputView<float> View(bool by_output, float* data) const {
    std::uint32_t const outputs = GetParam().outputs;
    return by_output ? OutputMajor(data, rows(), outputs) : RowMajor(data, rows(), outputs);
  }

  Forest forest_;
  std::optional<LevelForest> levels_;
  std::unique_ptr<MemorySource> source_;
};

TEST_P(CudaLevelForestTest, EqualsTheWalkThroughTrees) {
  CudaLevelCase const& c = GetParam();
  DeviceArena arena{"The test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  cuda::RawMatrix const matrix{*source_, &arena, stream, 3};
  ASSERT_EQ(matrix.dense(), c.dense);
  std::size_t const trees = forest_.trees();
  cuda::DeviceForest walked{&arena};
  walked.Append(forest_, 0, trees, stream);
  walked.SetWeights(forest_.weights(), stream);
  cuda::DeviceLevelForest const device{*levels_, &arena};
  ASSERT_EQ(device.trees(), trees);
  ForestPlan const plan =
      MakeForestPlan({rows(), static_cast<std::uint32_t>(device.columns()), trees, device.words(0, trees),
                      limits.processors, limits.block_bytes, limits.processor_bytes},
                     kLevelForestPolicy);
  if (limits.block_bytes >= 227 << 10) {
    EXPECT_EQ(plan.staged, c.where == Where::kStaged);
  }

  // One tree reads few of the columns, and reads them where they lie.
  for (auto const& [first, last] : {std::pair{std::size_t{0}, trees}, std::pair{trees / 3, trees - trees / 4},
                                    std::pair{trees - 1, trees}, std::pair{trees / 2, trees / 2}}) {
    for (bool const by_output : {true, false}) {
      auto const start = RandomMargins(rows() * c.outputs, 92);
      auto expected = start, on_host = start;
      host::PredictMargins(*source_, forest_, first, last, View(by_output, expected.data()), 2);
      levels_->PredictMargins(*source_, first, last, View(by_output, on_host.data()), 2);
      ASSERT_EQ(Bits(on_host), Bits(expected)) << first << " to " << last;
      auto const by_walk = Upload(&arena, "margins", start.data(), start.size());
      cuda::PredictMargins(matrix, walked, first, last, View(by_output, by_walk.data()), limits, stream);
      auto const by_level = Upload(&arena, "margins", start.data(), start.size());
      cuda::PredictMargins(matrix.view(), device, first, last, View(by_output, by_level.data()), limits, stream);
      stream.Wait("predicting");
      ASSERT_EQ(Bits(ToHost(by_walk)), Bits(expected)) << first << " to " << last;
      ASSERT_EQ(Bits(ToHost(by_level)), Bits(expected)) << first << " to " << last;
    }
  }
}

TEST_P(CudaLevelForestTest, StreamedRowsGiveTheHostsMargins) {
  DeviceArena arena{"The test"};
  cuda::DeviceLevelForest const device{*levels_, &arena};
  for (bool const by_output : {true, false}) {
    auto expected = RandomMargins(rows() * GetParam().outputs, 93);
    auto margins = expected;
    host::PredictMargins(*source_, forest_, 0, forest_.trees(), View(by_output, expected.data()), 2);
    cuda::PredictMarginsStreamed(*source_, &device, 0, forest_.trees(), View(by_output, margins.data()), 0, 3);
    ASSERT_EQ(Bits(margins), Bits(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CudaLevelForestTest, ::testing::ValuesIn(LevelCases()),
                         [](auto const& c) { return c.param.name; });

// Whoever predicts gives a forest, and does not know what its trees are.
TEST(CudaPredictorTest, TakesForestsOfAnyTrees) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  auto const values = RandomForestValues({20000, 9, 0.1}, 20, 94);
  MemorySource const source{values, 7000};
  Random random{95};
  std::vector<GivenTree> trees;
  for (int i = 0; i < 30; ++i) {
    trees.push_back(SymmetricTree({i % 10, 9, kOutputs, i % 2 == 0 ? 0U : 20U}, &random));
  }
  auto const compare = [&] {
    Forest const forest = MakeForest(trees);
    auto const predictor = cuda::MakePredictor(forest, 0);
    ASSERT_EQ(predictor->trees(), trees.size());
    for (auto const& [first, last] : {std::pair<std::size_t, std::size_t>{0, 30}, {4, 25}, {29, 30}}) {
      auto expected = RandomMargins(20000 * kOutputs, 96);
      auto margins = expected;
      host::PredictMargins(source, forest, first, last, RowMajor(expected.data(), 20000, kOutputs), 2);
      predictor->PredictMargins(source, first, last, RowMajor(margins.data(), 20000, kOutputs), 3);
      EXPECT_TRUE(Bits(margins) == Bits(expected)) << first << " to " << last;
      std::vector<float> leaves(20000 * (last - first)), expected_leaves(leaves.size());
      host::PredictLeaves(source, forest, first, last, expected_leaves.data(), 2);
      predictor->PredictLeaves(source, first, last, leaves.data(), 3);
      EXPECT_TRUE(leaves == expected_leaves) << first << " to " << last;
    }
  };
  compare();
  trees[17] = RandomTree({200, 9, 1}, values, &random);
  compare();
}

TEST(CudaPredictorTest, SymmetricTreesRefuseWhatIsNotThere) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"The test"};
  Stream const stream;
  Random random{97};
  GivenTree tree = SymmetricTree({3, 4}, &random);
  tree.output = 1;
  auto const levels = LevelForest::Of(MakeForest({tree, tree}));
  ASSERT_TRUE(levels);
  cuda::DeviceLevelForest const device{*levels, &arena};
  MemorySource const source{RandomValues({40, 4}, 98)};
  cuda::RawMatrix const matrix{source, &arena, stream, 2};
  std::vector<float> margins(80);
  auto const predict = [&](std::size_t last, std::uint64_t rows, std::uint32_t outputs) {
    cuda::PredictMargins(matrix.view(), device, 0, last, RowMajor(margins.data(), rows, outputs), CurrentDeviceLimits(),
                         stream);
  };
  auto const streamed = [&](std::size_t last, std::uint64_t rows, std::uint32_t outputs) {
    cuda::PredictMarginsStreamed(source, &device, 0, last, RowMajor(margins.data(), rows, outputs), 0, 2);
  };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(3, 40, 2); }, {"Trees 0 to 3"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(2, 39, 2); }, {"39 rows", "have 40"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(2, 40, 1); }, {"1 outputs", "are for 2"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { streamed(3, 40, 2); }, {"Trees 0 to 3"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { streamed(2, 41, 2); }, {"41 rows", "have 40"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { streamed(2, 40, 1); }, {"1 outputs", "are for 2"}), "");
  MemorySource const empty{std::vector<std::vector<Entry>>{}, 3};
  cuda::PredictMarginsStreamed(empty, &device, 0, 2, RowMajor<float>(nullptr, 0, 2), 0, 1);
}

class CudaForestGrowthTest : public ::testing::Test {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    Random random{76};
    for (std::uint32_t i = 0; i < 30; ++i) {
      GivenTree const tree = RandomTree({i % 7 == 6 ? 40000U : 20 + i, 5, i % kOutputs}, values_, &random);
      tree.AddTo(&forest_);
      if (i < 5 || i % 4 == 0) {
        tree.AddTo(&categorical_);
      } else {
        RandomTree({20 + i, 5, i % kOutputs, false, 50}, values_, &random).AddTo(&categorical_);
      }
    }
  }

  reference::Values values_{RandomForestValues({700, 5, 0.1}, 50, 77)};
  MemorySource source_{values_};
  Forest forest_;
  Forest categorical_;  ///< trees from number 5 on split on categories
};

// A training does this: it adds one tree, and advances the margins of all rows by it.
TEST_F(CudaForestGrowthTest, TreesMayBeAddedOneByOne) {
  DeviceArena arena{"The test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  cuda::RawMatrix const matrix{source_, &arena, stream, 2};
  cuda::DeviceForest device{&arena};
  auto expected = RandomMargins(700 * kOutputs, 78);
  auto const margins = Upload(&arena, "margins", expected.data(), expected.size());
  for (Forest const* const forest : {&forest_, &categorical_, &forest_}) {
    for (std::size_t t = 0; t < forest->trees(); ++t) {
      device.Append(*forest, t, t + 1, stream);
      ASSERT_EQ(device.trees(), t + 1);
      ASSERT_EQ(device.categorical(), forest == &categorical_ && t >= 5);
      cuda::PredictMargins(matrix, device, t, t + 1, OutputMajor(margins.data(), 700, kOutputs), limits, stream);
    }
    host::PredictMargins(source_, *forest, 0, forest->trees(), OutputMajor(expected.data(), 700, kOutputs), 2);
    stream.Wait("predicting");
    ASSERT_EQ(Bits(ToHost(margins)), Bits(expected));
    std::size_t const bytes = device.bytes();
    device.Clear();
    EXPECT_EQ(device.trees(), 0U);
    EXPECT_EQ(device.bytes(), bytes);
  }
}

// The host may have no trees any more but those added since.
TEST_F(CudaForestGrowthTest, TreesMayComeFromSeveralForests) {
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  Forest later;
  Random random{79};
  GivenTree tree = RandomTree({30, 8, 1}, values_, &random);
  tree.AddTo(&later);
  tree.output = 2;
  tree.AddTo(&later);
  ASSERT_TRUE(later.tree(1).twin());  // not of the tree before it on the device
  device.Append(forest_, 10, 14, stream);
  device.Append(later, 1, 2, stream);
  device.Append(forest_, 3, 3, stream);
  ASSERT_EQ(device.trees(), 5U);
  auto expected = RandomMargins(700 * kOutputs, 80);
  auto margins = expected;
  host::PredictMargins(source_, forest_, 10, 14, RowMajor(expected.data(), 700, kOutputs), 2);
  host::PredictMargins(source_, later, 1, 2, RowMajor(expected.data(), 700, kOutputs), 2);
  cuda::PredictMarginsStreamed(source_, &device, 0, 5, RowMajor(margins.data(), 700, kOutputs), 0, 2);
  EXPECT_EQ(Bits(margins), Bits(expected));
}

TEST_F(CudaForestGrowthTest, TreesWithSetsMayFollowOthers) {
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  auto expected = RandomMargins(700 * kOutputs, 87);
  auto margins = expected;
  for (auto const& [forest, first, last] :
       {std::tuple{&forest_, 3, 9}, std::tuple{&categorical_, 2, 7}, std::tuple{&forest_, 0, 4},
        std::tuple{&categorical_, 0, 5}, std::tuple{&categorical_, 9, 30}, std::tuple{&categorical_, 6, 8}}) {
    device.Append(*forest, static_cast<std::size_t>(first), static_cast<std::size_t>(last), stream);
    host::PredictMargins(source_, *forest, static_cast<std::size_t>(first), static_cast<std::size_t>(last),
                         RowMajor(expected.data(), 700, kOutputs), 2);
  }
  ASSERT_EQ(device.trees(), 43U);
  cuda::PredictMarginsStreamed(source_, &device, 0, 43, RowMajor(margins.data(), 700, kOutputs), 0, 2);
  EXPECT_EQ(Bits(margins), Bits(expected));
}

// In a training with DART the weights of old trees change with every new one.
TEST_F(CudaForestGrowthTest, WeightsMayChange) {
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  for (std::size_t const trees : {std::size_t{10}, std::size_t{30}}) {
    device.Append(forest_, device.trees(), trees, stream);
    for (bool const weighted : {false, true, true}) {
      for (std::size_t t = 0; weighted && t < trees; ++t) {
        forest_.SetWeight(t, t % 3 == 0 ? 0.0f : forest_.weights()[t] * 0.9f);
      }
      if (weighted) device.SetWeights(forest_.weights().subspan(0, trees), stream);
      auto expected = RandomMargins(700 * kOutputs, 81);
      auto margins = expected;
      host::PredictMargins(source_, forest_, 0, trees, RowMajor(expected.data(), 700, kOutputs), 2);
      cuda::PredictMarginsStreamed(source_, &device, 0, trees, RowMajor(margins.data(), 700, kOutputs), 0, 2);
      ASSERT_EQ(Bits(margins), Bits(expected)) << trees << " trees" << (weighted ? ", weighted" : "");
    }
    for (std::size_t t = 0; t < trees; ++t) forest_.SetWeight(t, 1.0f);
  }
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { device.SetWeights(forest_.weights().subspan(0, 29), stream); },
                                         {"29 weights for 30 trees"}),
            "");
}

TEST_F(CudaForestGrowthTest, RefusesWhatIsNotThere) {
  DeviceArena arena{"The test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  cuda::RawMatrix const matrix{source_, &arena, stream, 2};
  cuda::DeviceForest device{&arena};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { device.Append(forest_, 29, 31, stream); }, {"Trees 29 to 31"}), "");
  EXPECT_EQ(device.trees(), 0U);
  device.Append(forest_, 0, 30, stream);
  std::vector<float> margins(700 * kOutputs);
  auto const predict = [&](std::size_t last, std::uint64_t rows, std::uint32_t outputs) {
    cuda::PredictMargins(matrix, device, 0, last, RowMajor(margins.data(), rows, outputs), limits, stream);
  };
  auto const streamed = [&](std::size_t last, std::uint64_t rows, std::uint32_t outputs) {
    cuda::PredictMarginsStreamed(source_, &device, 0, last, RowMajor(margins.data(), rows, outputs), 0, 2);
  };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(31, 700, 3); }, {"Trees 0 to 31"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(30, 699, 3); }, {"699 rows", "have 700"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { predict(30, 700, 2); }, {"2 outputs", "are for 3"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { streamed(31, 700, 3); }, {"Trees 0 to 31"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { streamed(30, 701, 3); }, {"701 rows", "have 700"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { streamed(30, 700, 1); }, {"1 outputs", "are for 3"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] { cuda::PredictLeaves(matrix, device, 5, 31, margins.data(), limits, stream); }, {"Trees 5 to 31"}),
            "");
  for (FeatureIndex const features : {2U, 40U}) {  // dense data, sparse data
    MemorySource const bad{{{{0, 1.0f}}, {{0, 1.0f}, {features, 1.0f}}}, features};
    std::vector<std::string> const parts{"Row 1", "feature " + std::to_string(features)};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { cuda::RawMatrix(bad, &arena, stream, 2); }, parts), "");
    EXPECT_EQ(
        WhatIsWrong<InvalidArgument>(
            [&] { cuda::PredictMarginsStreamed(bad, &device, 0, 30, RowMajor(margins.data(), 2, kOutputs), 0, 2); },
            parts),
        "");
  }
}

TEST_F(CudaForestGrowthTest, AForestThatFindsNoMemoryIsAsBefore) {
  Stream const stream;
  DeviceArena arena{"Predicting on the GPU"};
  for (std::int64_t n = 0; n < 5; ++n) {  // trees, nodes, their numbers; words of sets, first words of trees
    cuda::DeviceForest device{&arena};
    device.Append(categorical_, 0, 3, stream);
    FailDeviceAllocation(n);
    EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { device.Append(categorical_, 3, 30, stream); },
                                             {"Predicting on the GPU", "bytes of GPU memory for trees"}),
              "")
        << n;
    FailDeviceAllocation(-1);
    EXPECT_EQ(device.trees(), 3U);
    EXPECT_FALSE(device.categorical());
    auto expected = RandomMargins(700 * kOutputs, 86);
    auto margins = expected;
    device.Append(categorical_, 3, 30, stream);
    host::PredictMargins(source_, categorical_, 0, 30, RowMajor(expected.data(), 700, kOutputs), 2);
    cuda::PredictMarginsStreamed(source_, &device, 0, 30, RowMajor(margins.data(), 700, kOutputs), 0, 2);
    EXPECT_EQ(Bits(margins), Bits(expected)) << n;
  }
}

TEST(CudaRawMatrixTest, TakesTheMemoryItSays) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  Stream const stream;
  for (double const missing : {0.0, 0.95}) {
    DeviceArena arena{"The test"};
    MemorySource source{RandomValues({3333, 40, missing}, 81), 1000};
    std::uint64_t values = 0;
    for (auto const& row : source.data()) values += row.size();
    cuda::RawMatrix const matrix{source, &arena, stream, 2};
    EXPECT_EQ(matrix.dense(), missing == 0.0);
    EXPECT_EQ(matrix.bytes(), cuda::RawMatrix::Bytes(3333, 40, values));
    EXPECT_EQ(arena.bytes(), matrix.bytes());
  }
}

class CudaArrayForestTest : public ::testing::TestWithParam<ArrayCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaArrayForestTest, RowsOfArraysEqualThoseOfEntries) {
  ArrayCase const& c = GetParam();
  CaseArray array{c};
  reference::Values values{c.rows, c.features};  // thresholds are among them
  array.on_host().ForEachBatch([&](RowBatch const& batch) {
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
      values.at[batch.first_row * c.features + i] = batch.entries[i].value;
    }
  });
  Forest forest;
  Random random{88};
  for (std::uint32_t i = 0; i < 6; ++i) RandomTree({64, c.features, i % 2}, values, &random).AddTo(&forest);
  auto expected = RandomMargins(c.rows * 2, 89);
  auto const start = expected;
  host::PredictMargins(array.on_host(), forest, 0, 6, RowMajor(expected.data(), c.rows, 2), 2);
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  device.Append(forest, 0, 6, stream);
  std::vector<int> places{kHostMemory, 0};
  if (CudaDeviceCount() > 1) places.push_back(1);
  for (int const place : places) {
    DeviceArraySource const copy = array.on_device(std::max(place, 0));
    RowSource const& source = place == kHostMemory ? static_cast<RowSource const&>(array.on_host()) : copy;
    auto streamed = start;
    cuda::PredictMarginsStreamed(source, &device, 0, 6, RowMajor(streamed.data(), c.rows, 2), 0, 2);
    EXPECT_TRUE(Bits(streamed) == Bits(expected)) << place;
    auto const margins = Upload(&arena, "margins", start.data(), start.size());
    cuda::RawMatrix const matrix{source, &arena, stream, 3};
    EXPECT_TRUE(matrix.dense());
    cuda::PredictMargins(matrix, device, 0, 6, RowMajor(margins.data(), c.rows, 2), CurrentDeviceLimits(), stream);
    stream.Wait("predicting");
    EXPECT_TRUE(Bits(ToHost(margins)) == Bits(expected)) << place;
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, CudaArrayForestTest, ::testing::ValuesIn(ArrayCases()), ArrayCaseName{});

// There are more pieces than the three that are on their way at a time, and the batch is larger than all three.
TEST(CudaForestStreamTest, PiecesFollowEachOther) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"The test"};
  Stream const stream;
  Random random{82};
  for (double const missing : {0.0, 0.93}) {
    FeatureIndex const features = missing == 0.0 ? 12 : 200;
    std::size_t const rows = missing == 0.0 ? 1000000 : 300000;
    MemorySource const source{RandomValues({rows, features, missing}, 83)};
    Forest forest;
    for (std::uint32_t i = 0; i < 8; ++i) RandomTree({64, features, i % 2}, {0, 0}, &random).AddTo(&forest);
    cuda::DeviceForest device{&arena};
    device.Append(forest, 0, 8, stream);
    auto expected = RandomMargins(rows * 2, 84);
    auto streamed = expected;
    auto const margins = Upload(&arena, "margins", expected.data(), expected.size());
    host::PredictMargins(source, forest, 0, 8, RowMajor(expected.data(), rows, 2), 2);
    cuda::PredictMarginsStreamed(source, &device, 0, 8, RowMajor(streamed.data(), rows, 2), 0, 2);
    EXPECT_TRUE(Bits(streamed) == Bits(expected)) << missing;
    cuda::RawMatrix const matrix{source, &arena, stream, 2};
    cuda::PredictMargins(matrix, device, 0, 8, RowMajor(margins.data(), rows, 2), CurrentDeviceLimits(), stream);
    stream.Wait("predicting");
    EXPECT_TRUE(Bits(ToHost(margins)) == Bits(expected)) << missing;
  }
}

TEST(CudaForestStreamTest, ARowMayBeLongerThanAPiece) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr FeatureIndex kFeatures = 2500000;  // 10 MB of floats a row
  DeviceArena arena{"The test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  Random random{85};
  Forest forest;
  for (int i = 0; i < 3; ++i) RandomTree({2000, kFeatures}, {0, 0}, &random).AddTo(&forest);
  cuda::DeviceForest device{&arena};
  device.Append(forest, 0, 3, stream);
  for (FeatureIndex const step : {1U, 2U, 5U}) {
    std::vector<std::vector<Entry>> rows(4);
    for (auto& row : rows) {
      for (FeatureIndex f = 0; f < kFeatures; f += step) row.push_back({f, random.Between(-1, 1)});
    }
    rows[1].clear();
    MemorySource const source{rows, kFeatures};
    std::vector<float> expected(4), streamed(4);
    DeviceBuffer<float> const margins{&arena, "margins", 4};
    FillBytes(margins.data(), 0, 4, stream, "clearing margins");
    host::PredictMargins(source, forest, 0, 3, RowMajor(expected.data(), 4, 1), 2);
    cuda::PredictMarginsStreamed(source, &device, 0, 3, RowMajor(streamed.data(), 4, 1), 0, 2);
    EXPECT_EQ(Bits(streamed), Bits(expected)) << step;
    cuda::RawMatrix const matrix{source, &arena, stream, 2};
    EXPECT_EQ(matrix.dense(), step <= 2);  // one of the four rows is empty
    cuda::PredictMargins(matrix, device, 0, 3, RowMajor(margins.data(), 4, 1), limits, stream);
    stream.Wait("predicting");
    EXPECT_EQ(Bits(ToHost(margins)), Bits(expected)) << step;
  }
}

TEST(CudaForestStreamTest, NothingIsNothing) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"The test"};
  Stream const stream;
  cuda::DeviceForest device{&arena};
  MemorySource const empty{std::vector<std::vector<Entry>>{}, 3};
  cuda::PredictMarginsStreamed(empty, &device, 0, 0, RowMajor<float>(nullptr, 0, 1), 0, 1);
  GivenTree leaf;
  leaf.value[0] = 0.5f;
  device.Append(MakeForest({leaf}), 0, 1, stream);
  cuda::PredictMarginsStreamed(empty, &device, 0, 1, RowMajor<float>(nullptr, 0, 1), 0, 1);
  cuda::RawMatrix const matrix{empty, &arena, stream, 1};
  cuda::PredictMargins(matrix, device, 0, 1, RowMajor<float>(nullptr, 0, 1), CurrentDeviceLimits(), stream);
  EXPECT_EQ(matrix.rows(), 0U);
  // A row without features has a leaf, too.
  MemorySource const no_features{std::vector<std::vector<Entry>>(40), 0};
  std::vector<float> margins(40, 1.0f);
  cuda::PredictMarginsStreamed(no_features, &device, 0, 1, RowMajor(margins.data(), 40, 1), 0, 2);
  EXPECT_EQ(margins, std::vector<float>(40, 1.5f));
}

}  // namespace
}  // namespace xgbgpu::testing
