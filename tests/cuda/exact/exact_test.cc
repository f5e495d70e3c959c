// Exact trees on a device are those of the host, bit for bit.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "exact/exact_memory.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "trees_cuda/equality_case.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::testing {
namespace {

/// Returns the cases of the histogram method, with the growth that exact trees have.
std::vector<EqualityCase> ExactCases() {
  std::vector<EqualityCase> cases = EqualityCases();
  for (EqualityCase& c : cases) {
    c.params.grow_policy = GrowPolicy::kDepthWise;
    c.params.max_leaves = 0;
    c.params.sampling_method = SamplingMethod::kUniform;
    if (c.params.max_depth == 0) c.params.max_depth = 9;
    if (c.number % 3 == 0) c.params.min_split_loss = 0.5f;
  }
  return cases;
}

struct Grown {
  std::vector<Tree> trees;
  std::vector<NodeIndex> positions;
  std::vector<std::uint8_t> sampled_out;
  std::vector<float> margins;
};

Grown Train(EqualityCase const& c, CaseRows const& rows, Place place) {
  Trainer trainer{Dataset::BuildSorted(rows, 2, place), place.backend, 2};
  CaseLoss const loss{c, rows};
  Grown grown;
  grown.margins.assign(c.rows * c.stride, 0.0f);
  grown.positions.resize(c.rows);
  grown.sampled_out.resize(c.rows);
  for (std::uint32_t round = 0; round < 3; ++round) {
    grown.trees.push_back(trainer.Grow(c.params, loss.Gradients(grown.margins), {round, 0}));
    trainer.AddLeafValues(grown.trees.back().leaf_value, grown.margins.data(), c.stride);
    trainer.LeafPositions(grown.positions, grown.sampled_out);
  }
  return grown;
}

class CudaExactTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaExactTest, SameTreesAsOnTheHost) {
  EqualityCase const& c = GetParam();
  CaseRows const rows{c};
  Grown const host = Train(c, rows, {BackendKind::kHost, 0}), device = Train(c, rows, {BackendKind::kCuda, 0});
  for (std::size_t t = 0; t < host.trees.size(); ++t) ASSERT_EQ(device.trees[t], host.trees[t]) << "tree " << t;
  EXPECT_EQ(device.positions, host.positions);
  EXPECT_EQ(device.sampled_out, host.sampled_out);
  EXPECT_EQ(device.margins, host.margins);
}

INSTANTIATE_TEST_SUITE_P(HostAndCuda, CudaExactTest, ::testing::ValuesIn(ExactCases()),
                         [](auto const& c) { return NameOf(c.param); });

class CudaExact : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

EqualityCase Case(RowIndex rows, FeatureIndex columns, double density, Values values, Loss loss) {
  TrainParams params;
  params.max_depth = 12;
  params.seed = 3;
  return {900, rows, columns, density, values, 256, loss, params, 1, {}};
}

void ExpectSame(EqualityCase const& c) {
  CaseRows const rows{c};
  Grown const host = Train(c, rows, {BackendKind::kHost, 0}), device = Train(c, rows, {BackendKind::kCuda, 0});
  EXPECT_GT(host.trees[0].size(), 1U);
  EXPECT_EQ(device.trees, host.trees);
  EXPECT_EQ(device.margins, host.margins);
}

TEST_F(CudaExact, ColumnsOfManyTiles) { ExpectSame(Case(300'000, 5, 1.0, Values::kContinuous, Loss::kLogistic)); }
TEST_F(CudaExact, ColumnsOfManyTilesWithMissingValues) {
  ExpectSame(Case(300'000, 5, 0.7, Values::kContinuous, Loss::kLogistic));
}
TEST_F(CudaExact, ManyEqualValues) { ExpectSame(Case(200'000, 14, 0.9, Values::kFew, Loss::kLogistic)); }
TEST_F(CudaExact, OneRowTowers) { ExpectSame(Case(100'000, 9, 0.9, Values::kSkewed, Loss::kOneHuge)); }
TEST_F(CudaExact, WideAndSparse) { ExpectSame(Case(5'000, 3000, 0.02, Values::kContinuous, Loss::kLogistic)); }
TEST_F(CudaExact, SampledRows) {
  EqualityCase c = Case(150'000, 8, 0.8, Values::kContinuous, Loss::kLogistic);
  c.params.subsample = 0.3f;
  c.params.colsample_bynode = 0.6f;
  ExpectSame(c);
}
TEST_F(CudaExact, DeepTreesOfSmallLeaves) {
  EqualityCase c = Case(50'000, 6, 0.9, Values::kContinuous, Loss::kHeavyTail);
  c.params.max_depth = 24;
  c.params.min_child_weight = 0.0f;
  ExpectSame(c);
}

TEST_F(CudaExact, AGradientThatIsNoNumberIsNamed) {
  EqualityCase const c = Case(1000, 3, 1.0, Values::kContinuous, Loss::kLogistic);
  CaseRows const rows{c};
  Trainer trainer{Dataset::BuildSorted(rows, 2, {BackendKind::kCuda, 0}), BackendKind::kCuda, 2};
  std::vector<GradientPair> gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(1000));
  gradients[123].grad = std::numeric_limits<float>::quiet_NaN();
  try {
    trainer.Grow(c.params, gradients, {});
    FAIL() << "no error";
  } catch (InvalidArgument const& error) {
    EXPECT_NE(std::string{error.what()}.find("row 123"), std::string::npos) << error.what();
  }
  gradients[123].grad = 0.25f;
  EXPECT_GT(trainer.Grow(c.params, gradients, {}).size(), 1U);
}

/// Returns the largest number of nodes of a level. The last level does not count, because it is not searched.
std::uint64_t WidestLevel(Tree const& tree) {
  std::vector<std::size_t> depth(tree.size()), nodes;
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.parent[n] != kNoNode) depth[n] = depth[static_cast<std::size_t>(tree.parent[n])] + 1;
    nodes.resize(std::max(nodes.size(), depth[n] + 1));
    ++nodes[depth[n]];
  }
  nodes.pop_back();
  return nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end());
}

/// Returns the bytes that ExactDeviceBytes leaves out, for levels of at most so many nodes.
std::uint64_t ExactLevelBytes(std::uint64_t features, std::uint64_t nodes, std::uint64_t stored) {
  std::uint64_t const search = 24 * features * nodes;
  return 20 * features * nodes + (search > 4 * stored ? search : 0);
}

/// Expects that a tree's peak of memory is what messages say, to within a tenth. Returns the bytes for each value.
double ExpectPeakAsTold(EqualityCase const& c, CaseRows const& rows, std::vector<GradientPair> const& gradients) {
  Trainer trainer{Dataset::BuildSorted(rows, 2, {BackendKind::kCuda, 0}), BackendKind::kCuda, 2};
  Tree const tree = trainer.Grow(c.params, gradients, {});
  auto const stored = testing::SortedOf(trainer.data()).stored();
  auto const told =
      static_cast<double>(ExactDeviceBytes(c.rows, stored) + ExactLevelBytes(c.columns, WidestLevel(tree), stored));
  auto const peak = static_cast<double>(trainer.memory().peak_bytes);
  EXPECT_LT(peak, 1.1 * told);
  EXPECT_GT(peak, 0.9 * told);
  return peak / static_cast<double>(stored);
}

TEST_F(CudaExact, MemoryStaysBelowSixteenBytesAValueAndIsWhatMessagesSay) {
  EqualityCase c = Case(400'000, 28, 1.0, Values::kContinuous, Loss::kLogistic);
  c.params.max_depth = 6;
  CaseRows const rows{c};
  auto const gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(c.rows));
  EXPECT_LT(ExpectPeakAsTold(c, rows, gradients), 16.0);
}

/// There is nothing to learn, so the widest level has more than 6,000 nodes of some 16 rows.
TEST_F(CudaExact, MemoryStaysBelowSixteenBytesAValueInDeepTrees) {
  EqualityCase c = Case(100'000, 28, 1.0, Values::kFew, Loss::kLogistic);
  c.params.max_depth = 15;
  c.params.min_child_weight = 0.0f;
  Random random{1};
  std::vector<GradientPair> gradients;
  for (RowIndex r = 0; r < c.rows; ++r) gradients.push_back({random.Between(-1, 1), 1.0f});
  EXPECT_LT(ExpectPeakAsTold(c, CaseRows{c}, gradients), 16.0);
}

}  // namespace
}  // namespace xgbgpu::testing
