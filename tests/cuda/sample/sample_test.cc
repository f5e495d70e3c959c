// Trees on samples, host = CUDA: rows that are moved, margins that advance while rows walk to their leaves, samples
// that are larger than their room, and the walk of all rows to their leaves.
#include "sample/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "sample/sample_ops.h"
#include "sample/sample_policy.h"
#include "support/dataset_forms.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "trees_host/hist_host.h"

namespace xgbgpu {
namespace {

using testing::Bits;
using testing::TreeCase;

constexpr int kThreads = 4;

/// Both backends on one matrix.
class Pair {
 public:
  explicit Pair(TreeCase const& c)
      : data_{testing::MakeDataset(c)},
        host_{MakeHostTreeBuilder(testing::BinsOf(*data_), kThreads)},
        cuda_{std::make_unique<CudaTreeBuilder>(CopyMatrixToDevice(testing::BinsOf(*data_), 0, kThreads), kThreads)} {}

  /// Grows a tree in both and compares all results.
  void Compare(TreeCase const& c, TreeKey key) {
    Tree const& expected = tree_ = host_->Grow(c.params, c.gradients, key);
    ASSERT_EQ(cuda_->Grow(c.params, c.gradients, key), expected);
    std::size_t const rows = c.values.rows;
    constexpr std::size_t kStride = 3;
    std::vector<float> host_margins(rows * kStride, 0.25f), margins(host_margins);
    host_->AddLeafValues(expected.leaf_value, host_margins.data(), kStride);
    DeviceBuffer<float> on_device{&arena_, "margins", margins.size()};
    CopyToDevice(on_device.data(), margins.data(), margins.size(), cuda_->stream(), "margins");
    cuda_->AddLeafValuesOnDevice(expected.leaf_value, on_device.data(), kStride);
    CopyToHost(margins.data(), on_device.data(), margins.size(), cuda_->stream(), "margins");
    cuda_->stream().Wait("margins");
    EXPECT_EQ(Bits(margins), Bits(host_margins));
    std::vector<NodeIndex> positions(rows), host_positions(rows);
    std::vector<std::uint8_t> out(rows), host_out(rows);
    cuda_->LeafPositions(positions, out);
    host_->LeafPositions(host_positions, host_out);
    EXPECT_EQ(positions, host_positions);
    EXPECT_EQ(out, host_out);
  }
  /// Returns the tree that was compared last.
  Tree const& tree() const { return tree_; }

 private:
  std::shared_ptr<Dataset const> data_;
  std::unique_ptr<TreeBuilder> host_;
  std::unique_ptr<CudaTreeBuilder> cuda_;
  DeviceArena arena_{"The test"};
  Tree tree_;
};

TrainParams Params(SamplingMethod method, float subsample) {
  TrainParams params;
  params.sampling_method = method;
  params.subsample = method == SamplingMethod::kGoss ? 1.0f : subsample;
  params.max_depth = 8;
  return params;
}

struct Shape {
  char const* name;
  testing::DataShape data;
  int max_bin;
  std::size_t levels{0};  ///< categories of two columns; 0: there are none
};

class SampleShapeTest : public ::testing::TestWithParam<Shape> {};

TEST_P(SampleShapeTest, SameTreesMarginsAndLeaves) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase c = testing::RandomCase(GetParam().data, 31);
  c.max_bin = GetParam().max_bin;
  for (std::size_t feature : {0U, 4U}) {
    if (GetParam().levels != 0) testing::AddCategories(&c, feature, GetParam().levels);
  }
  Pair pair{c};
  std::uint32_t iteration = 0;
  for (auto method : {SamplingMethod::kUniform, SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
    for (float subsample : {0.1f, 0.6f, 0.95f}) {
      for (int depth : {1, 6, 9}) {
        SCOPED_TRACE(static_cast<int>(method) * 1000 + depth);
        c.params = Params(method, subsample);
        c.params.max_depth = depth;
        ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
        c.params.grow_policy = GrowPolicy::kLossGuide;  // cut out of the whole tree
        c.params.max_leaves = depth < 9 ? 5 * depth : 150;
        ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
        c.params.max_depth = 0;  // with an order
        ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
        c.params = TrainParams{};  // a tree on all rows comes in between
        c.params.max_depth = depth;
        if (depth == 6) {
          ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
        }
      }
    }
  }
}

// Shapes have records of 32, 16, 8 and 4 bytes, symbols of two bytes, several tiles, more tiles than paths are used
// for, sparse data, and categories.
INSTANTIATE_TEST_SUITE_P(
    Shapes, SampleShapeTest,
    ::testing::Values(Shape{"Record32", {300000, 28, 0.05, 60}, 256}, Shape{"Record16", {70001, 13, 0.0, 40}, 64},
                      Shape{"Record8", {20003, 6, 0.1}, 256}, Shape{"OneColumn", {5000, 1}, 256},
                      Shape{"TwoBytes", {20000, 10, 0.1}, 1000}, Shape{"TwoTiles", {30000, 50, 0.1, 100}, 128},
                      Shape{"ManyTiles", {4000, 300, 0.1}, 64}, Shape{"Sparse", {20000, 20, 0.9}, 64},
                      Shape{"ThreeRows", {3, 4}, 256}, Shape{"Categories", {70001, 13, 0.1, 40}, 64, 50},
                      Shape{"ManyCategories", {20000, 10, 0.1}, 64, 700},
                      Shape{"FourCategories", {70001, 13, 0.1, 40}, 64, 4},
                      Shape{"CategoriesOfTwoTiles", {30000, 50, 0.1, 100}, 128, 100},
                      Shape{"SparseCategories", {20000, 20, 0.9}, 64, 30}),
    [](auto const& c) { return std::string{c.param.name}; });

/// Compares trees on all rows, and on a sample, through which every row walks when they are finished.
void CompareWalks(Pair* pair, TreeCase* c, std::uint32_t* iteration) {
  for (float subsample : {1.0f, 0.9f}) {
    c->params.subsample = subsample;
    ASSERT_NO_FATAL_FAILURE(pair->Compare(*c, {(*iteration)++, 0}));
  }
}

// Symbols have one byte or two; values may be missing; there are one tile or two, and rows that do not fill a block.
TEST(WalkTest, MatricesOfEveryLayout) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  std::uint32_t iteration = 0;
  for (std::size_t rows : {1U, 31U, 256U, 257U, 2303U}) {
    for (std::size_t columns : {1U, 4U, 8U, 9U, 16U, 17U, 32U, 33U}) {
      for (int max_bin : {255, 256, 257}) {
        for (double missing : {0.0, 0.3}) {
          SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(columns) + " columns, " +
                       std::to_string(max_bin) + " bins" + (missing != 0 ? ", missing values" : ""));
          TreeCase c = testing::RandomCase({rows, columns, missing}, 35);
          c.max_bin = max_bin;
          c.params.max_depth = 7;
          c.params.min_child_weight = 0;
          Pair pair{c};
          ASSERT_NO_FATAL_FAILURE(CompareWalks(&pair, &c, &iteration));
        }
      }
    }
  }
}

// Rows of large matrices are moved. In some layouts they walk from the node where they were then, else from the root.
TEST(WalkTest, RowsThatWereMoved) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (Shape const& shape :
       {Shape{"bytes", {280000, 28, 0.1, 60}, 256}, Shape{"two bytes", {280000, 10, 0.1}, 500},
        Shape{"two tiles", {140000, 50, 0.1, 100}, 128}, Shape{"categories", {280000, 28, 0.1, 60}, 256, 50}}) {
    SCOPED_TRACE(shape.name);
    TreeCase c = testing::RandomCase(shape.data, 37);
    c.max_bin = shape.max_bin;
    for (std::size_t feature : {0U, 4U}) {
      if (shape.levels != 0) testing::AddCategories(&c, feature, shape.levels);
    }
    Pair pair{c};
    std::uint32_t iteration = 0;
    for (int depth : {4, 5, 8, 12}) {  // rows are moved never, once, and more than once
      SCOPED_TRACE(depth);
      c.params = TrainParams{};
      c.params.max_depth = depth;
      ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
    }
    c.params.max_depth = 0;
    c.params.max_leaves = 100;
    c.params.grow_policy = GrowPolicy::kLossGuide;
    ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
    c.params = Params(SamplingMethod::kUniform, 0.5f);
    ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
    c.params = TrainParams{};  // rows are in leaves before the first move
    c.params.max_depth = 8;
    c.params.min_child_weight = 10000;
    ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
    EXPECT_GT(pair.tree().size(), 1U);
  }
}

// Trees go from a single root to more nodes, and deeper ones, than a block keeps in shared memory.
TEST(WalkTest, TreesOfEverySize) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr std::size_t kNearNodes = 1024;
  for (int max_bin : {64, 500}) {  // symbols of one byte or two
    TreeCase c = testing::RandomCase({60000, 16, 0.2}, 36);
    c.max_bin = max_bin;
    Pair pair{c};
    std::uint32_t iteration = 0;
    c.params.min_split_loss = 1e30f;
    ASSERT_NO_FATAL_FAILURE(CompareWalks(&pair, &c, &iteration));
    EXPECT_EQ(pair.tree().size(), 1U);
    bool way_of_missing[2] = {false, false};
    for (int depth = 1; depth <= 13; ++depth) {
      SCOPED_TRACE(depth);
      c.params = TrainParams{};
      c.params.max_depth = depth;
      c.params.min_child_weight = 0;
      ASSERT_NO_FATAL_FAILURE(CompareWalks(&pair, &c, &iteration));
      Tree const& tree = pair.tree();
      EXPECT_EQ(tree.size() > kNearNodes, depth > 9);
      for (std::size_t n = 0; n < tree.size(); ++n) {
        if (!tree.IsLeaf(static_cast<NodeIndex>(n))) way_of_missing[tree.default_left[n] != 0 ? 1 : 0] = true;
      }
    }
    EXPECT_TRUE(way_of_missing[0] && way_of_missing[1]);
    c.params.grow_policy = GrowPolicy::kLossGuide;
    c.params.max_depth = 0;
    for (int leaves : {2, 3, 400, 1000, 1024}) {
      SCOPED_TRACE(std::to_string(leaves) + " leaves");
      c.params.max_leaves = leaves;
      ASSERT_NO_FATAL_FAILURE(CompareWalks(&pair, &c, &iteration));
    }
  }
}

// A kernel chooses sets of features. There are more features than its block has threads, keys that tie, and samples
// that change from tree to tree, which the recorded tree must notice.
TEST(FeatureSetTest, SameTreesForEveryWayToSampleFeatures) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  float const infinite = std::numeric_limits<float>::infinity();
  for (std::size_t columns : {1U, 2U, 28U, 32U, 257U, 600U}) {
    TreeCase c = testing::RandomCase({columns > 100 ? 3000U : 20000U, columns, 0.1}, 34);
    c.max_bin = 64;
    Pair pair{c};
    std::uint32_t iteration = 0;
    for (float bytree : {1.0f, 0.8f}) {
      for (float bylevel : {1.0f, 0.7f}) {
        for (float bynode : {1.0f, 0.5f, 0.99999994f}) {
          for (int weights = 0; weights < 3; ++weights) {
            SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(iteration));
            c.params = TrainParams{};
            c.params.max_depth = 4 + static_cast<int>(iteration % 3);
            c.params.grow_policy = iteration % 4 == 3 ? GrowPolicy::kLossGuide : GrowPolicy::kDepthWise;
            c.params.max_leaves = iteration % 8 == 3 ? 11 : 0;
            c.params.colsample_bytree = bytree;
            c.params.colsample_bylevel = bylevel;
            c.params.colsample_bynode = bynode;
            for (std::size_t f = 0; weights > 0 && f < columns; ++f) {
              c.params.feature_weights.push_back(weights == 1 ? static_cast<float>(f % 3) : f % 2 ? infinite : 1.0f);
            }
            ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
          }
        }
      }
    }
  }
}

TEST(SampleWorkspaceTest, ASampleLargerThanExpectedIsGrownAgain) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr std::size_t kRows = 1000;
  TreeCase c = testing::RandomCase({kRows, 5}, 32);
  c.params = Params(SamplingMethod::kUniform, 0.1f);
  Pair pair{c};
  std::uint32_t const room = SampleCapacity(MakeSampleTarget(c.params, kRows).expected, kRows);
  std::vector<RowRecord> rows(kRows);
  std::vector<std::size_t> counts(host::SampleChunks(kRows));
  int found = 0;
  for (std::uint32_t iteration = 0; iteration < 60000 && found < 2; ++iteration) {
    for (std::uint32_t index = 0; index < 20 && found < 2; ++index) {
      RandomStream const draws{0, RandomPurpose::kRowSample, TreeNumber({iteration, index}), 0};
      if (host::SampleRows(draws, 0.1f, kRows, counts, rows, 1) <= room) continue;
      ++found;
      ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration, index}));
      ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration + 1, index}));  // the room is as usual again
    }
  }
  EXPECT_EQ(found, 2);
}

TEST(SampleWorkspaceTest, MovedGradientsOfALargerSampleGetRoom) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase c = testing::RandomCase({300000, 5}, 35);
  for (std::size_t row = 0; row < c.gradients.size(); row += 500) c.gradients[row].grad *= 1e4f;  // the wide format
  Pair pair{c};
  std::uint32_t iteration = 0;
  for (float subsample : {0.1f, 0.5f, 0.1f, 0.9f}) {  // samples of fewer than kNarrowMinRows rows, and of more
    c.params = Params(SamplingMethod::kUniform, subsample);
    c.params.max_depth = 10;
    ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
  }
}

// Keys are counted near the largest of the tree before. They may be elsewhere, over many octaves, or zero.
TEST(SampleKeyTest, OfAnyMagnitude) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase c = testing::RandomCase({70001, 9, 0.1}, 38);
  auto const gradients = c.gradients;
  testing::Random random{39};
  Pair pair{c};
  std::uint32_t iteration = 0;
  for (auto method : {SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
    c.params = Params(method, 0.2f);
    for (double decades : {0.0, 3.0, 25.0}) {
      for (double largest : {0.0, -12.0, 9.0}) {
        SCOPED_TRACE(std::to_string(decades) + " decades up to 10^" + std::to_string(largest));
        for (std::size_t row = 0; row < gradients.size(); ++row) {
          double const factor = row % 10 == 3 ? 0 : std::pow(10.0, largest - decades * random.Uniform());
          c.gradients[row] = {static_cast<float>(factor * static_cast<double>(gradients[row].grad)),
                              static_cast<float>(factor * static_cast<double>(gradients[row].hess))};
        }
        ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
        c.gradients.assign(gradients.size(), gradients[7]);  // all alike
        ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
      }
    }
  }
}

// Gradients are quantised while rows are drawn, as if their maxima were like those of the tree before. They are; or one
// of them is not; or the format is the other one.
TEST(SampleFormatTest, MaximaLikeThoseOfTheTreeBeforeOrNot) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase c = testing::RandomCase({150000, 6, 0.1}, 40);
  auto const gradients = c.gradients;
  Pair pair{c};
  struct Step {
    float grad, hess;
    bool towers;
  };
  std::uint32_t iteration = 0;
  for (auto method : {SamplingMethod::kUniform, SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
    c.params = Params(method, 0.7f);
    if (method == SamplingMethod::kGoss) c.params.top_rate = 0.5f, c.params.other_rate = 0.2f;
    for (Step const step :
         {Step{1, 1, false}, Step{1, 1, false}, Step{4, 1, false}, Step{4, 0.25f, false}, Step{4, 0.25f, true},
          Step{4, 0.25f, true}, Step{1e-30f, 1e-30f, false}, Step{0, 1, false}, Step{0, 1, false}, Step{1, 1, false}}) {
      SCOPED_TRACE("tree " + std::to_string(iteration));
      for (std::size_t row = 0; row < gradients.size(); ++row) {
        c.gradients[row] = {gradients[row].grad * step.grad, gradients[row].hess * step.hess};
        if (step.towers && row % 5000 == 0) c.gradients[row].grad *= 1e3f;
      }
      ASSERT_NO_FATAL_FAILURE(pair.Compare(c, {iteration++, 0}));
    }
  }
}

TEST(SampleWorkspaceTest, GradientsThatAreNotFiniteAreNamedInTheSampleOrOutside) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase c = testing::RandomCase({5000, 5}, 33);
  auto const data = testing::MakeDataset(c);
  CudaTreeBuilder cuda{CopyMatrixToDevice(testing::BinsOf(*data), 0, kThreads), kThreads};
  for (auto method : {SamplingMethod::kUniform, SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
    c.params = Params(method, 0.01f);
    for (std::size_t row : {0U, 1234U, 4999U}) {
      auto gradients = c.gradients;
      gradients[row].grad = std::numeric_limits<float>::quiet_NaN();
      auto const grow = [&] { cuda.Grow(c.params, gradients, {0, 0}); };
      EXPECT_EQ(testing::WhatIsWrong<InvalidArgument>(grow, {"row " + std::to_string(row), "nan"}), "");
    }
    EXPECT_NO_THROW(cuda.Grow(c.params, c.gradients, {0, 0}));
  }
}

}  // namespace
}  // namespace xgbgpu
