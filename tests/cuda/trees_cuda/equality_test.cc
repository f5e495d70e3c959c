// Whole models, host = CUDA, bit for bit, over a generated matrix of parameters × data shapes.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "partition/partition_policy.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/equality_case.h"

namespace xgbgpu::testing {
namespace {

using testing::Bits;
/// Counts what has been compared, for the last line of this program.
struct Tally {
  int cases{0}, grown{0}, trees{0};
  std::size_t leaves{0};
};

/// One backend's side of a training.
struct Side {
  std::unique_ptr<TreeBuilder> builder;
  Tree tree{};
  std::vector<float> margins{};
  std::vector<NodeIndex> positions{};
  std::vector<std::uint8_t> sampled_out{};

  void GrowOne(EqualityCase const& c, std::vector<GradientPair> const& gradients, TreeKey key) {
    margins.resize(c.rows * c.stride);
    positions.resize(c.rows);
    sampled_out.resize(c.rows);
    tree = builder->Grow(c.params, gradients, key);
    builder->LeafPositions(positions, sampled_out);
    builder->AddLeafValues(tree.leaf_value, margins.data(), c.stride);
  }
};

int DepthOf(Tree const& tree) {
  std::vector<int> depth(tree.size());
  for (std::size_t n = 1; n < tree.size(); ++n) depth[n] = depth[static_cast<std::size_t>(tree.parent[n])] + 1;
  return *std::max_element(depth.begin(), depth.end());
}

bool HasCopiedColumns(MemoryReport const& report) {
  return std::any_of(report.parts.begin(), report.parts.end(),
                     [](auto const& part) { return part.name == "copied columns" && part.bytes > 0; });
}

class EqualityTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  static void TearDownTestSuite() {
    std::printf("host = CUDA: %d of %zu cases compared, %d with splits, %d trees, %zu leaves\n", tally_.cases,
                EqualityCases().size(), tally_.grown, tally_.trees, tally_.leaves);
    RecordProperty("cases", tally_.cases);
    RecordProperty("trees", tally_.trees);
    // Trees without a split prove little.
    if (static_cast<std::size_t>(tally_.cases) == EqualityCases().size()) {
      EXPECT_GE(2 * tally_.grown, tally_.cases);
    }
  }

  static Tally tally_;
};

Tally EqualityTest::tally_;

TEST_P(EqualityTest, SameModel) {
  EqualityCase const& c = GetParam();
  int const threads = omp_get_max_threads();
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  CaseLoss const loss{c, rows};
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, threads)};
  host.margins.resize(c.rows * c.stride);
  bool grown = false;
  for (std::uint32_t t = 0; t < 3; ++t) {
    auto const gradients = loss.Gradients(host.margins);
    host.GrowOne(c, gradients, {t / 2, t % 2});
    cuda.GrowOne(c, gradients, {t / 2, t % 2});
    ASSERT_EQ(cuda.tree, host.tree) << "tree " << t;
    ASSERT_EQ(cuda.positions, host.positions) << "tree " << t;
    ASSERT_EQ(cuda.sampled_out, host.sampled_out) << "tree " << t;
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins)) << "tree " << t;
    grown = grown || host.tree.size() > 1;
    ++tally_.trees;
    tally_.leaves += host.tree.Leaves();
  }
  if (c.variants.find("columns") != std::string::npos) {
    EXPECT_TRUE(HasCopiedColumns(cuda.builder->memory()));
  }
  ++tally_.cases;
  tally_.grown += grown ? 1 : 0;
}

// What a tree leaves behind in a builder (buffers, formats, ways of growing) must not change the next tree, of other
// parameters and other gradients.
TEST(EqualitySequenceTest, OneBuilderManySettings) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const threads = omp_get_max_threads();
  auto const cases = EqualityCases();
  for (int const shape : {0, 1, 2}) {
    EqualityCase data = cases[0];
    data.rows = shape == 1 ? 70000 : 3000;
    data.columns = shape == 2 ? 60 : 13;
    data.density = shape == 2 ? 0.1 : 0.95;
    data.max_bin = 64;
    data.stride = 1;
    CaseRows const rows{data};
    auto const matrix = HostMatrix(rows, data.max_bin, threads);
    Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
    Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, threads)};
    host.margins.resize(data.rows);
    for (std::size_t i = 0; i < 40; ++i) {
      EqualityCase c = cases[i];
      c.rows = data.rows;
      c.stride = 1;
      c.params.feature_weights.clear();
      if (!c.params.monotone_constraints.empty()) SetDirections(&c.params, data.columns);
      if (!c.params.interaction_constraints.empty()) SetInteractions(&c.params, data.columns);
      auto const gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(data.rows, 0.01f * static_cast<float>(i)));
      host.GrowOne(c, gradients, {7, 3});
      cuda.GrowOne(c, gradients, {7, 3});
      ASSERT_EQ(cuda.tree, host.tree) << "shape " << shape << ", settings of " << NameOf(c);
      ASSERT_EQ(cuda.positions, host.positions) << "shape " << shape << ", settings of " << NameOf(c);
      ASSERT_EQ(Bits(cuda.margins), Bits(host.margins)) << "shape " << shape << ", settings of " << NameOf(c);
    }
  }
}

// If bins do not fit the second-level cache, rows of two siblings are divided and summed together (PartitionPolicy).
TEST(EqualitySequenceTest, BinsBeyondTheCache) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const threads = omp_get_max_threads();
  EqualityCase data{993, 1'400'000, 20, 0.95, Values::kContinuous, 64, Loss::kLogistic, {}, 1, {}};
  ASSERT_GT(data.rows * 32, PartitionPolicy{}.cached_bytes);  // a record is a sector
  CaseRows const rows{data};
  auto const matrix = HostMatrix(rows, data.max_bin, threads);
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, threads)};
  struct Setting {
    GrowPolicy policy;
    int max_depth, max_leaves;
    Loss loss;
    float subsample;
    bool constrained;
  };
  std::uint32_t tree = 0;
  for (Setting const& setting : {Setting{GrowPolicy::kDepthWise, 10, 0, Loss::kLogistic, 1.0f, false},
                                 Setting{GrowPolicy::kDepthWise, 12, 300, Loss::kHeavyTail, 1.0f, false},
                                 Setting{GrowPolicy::kLossGuide, 0, 64, Loss::kLogistic, 1.0f, false},
                                 Setting{GrowPolicy::kLossGuide, 0, 40, Loss::kHeavyTail, 0.98f, false},
                                 Setting{GrowPolicy::kDepthWise, 7, 0, Loss::kLogistic, 0.98f, true},
                                 Setting{GrowPolicy::kDepthWise, 3, 0, Loss::kConstant, 1.0f, false}}) {
    SCOPED_TRACE("tree " + std::to_string(tree));
    EqualityCase c = data;
    c.loss = setting.loss;
    c.params.grow_policy = setting.policy;
    c.params.max_depth = setting.max_depth;
    c.params.max_leaves = setting.max_leaves;
    c.params.subsample = setting.subsample;
    if (setting.constrained) SetDirections(&c.params, c.columns);
    auto const gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(data.rows));
    host.GrowOne(c, gradients, {tree, 0});
    cuda.GrowOne(c, gradients, {tree, 0});
    if (setting.loss != Loss::kConstant) {
      EXPECT_GT(DepthOf(host.tree), 3);
    }
    ASSERT_EQ(cuda.tree, host.tree);
    ASSERT_EQ(cuda.positions, host.positions);
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins));
    ++tree;
  }
}

/// Makes rows of as many kinds as columns. A split divides one kind from the rest, so trees are chains.
MemorySource RowsOfKinds(FeatureIndex kinds, std::size_t rows, bool dense) {
  std::vector<std::vector<Entry>> entries(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (FeatureIndex f = 0; f < kinds; ++f) {
      if (dense || f == r % kinds) entries[r].push_back({f, f == r % kinds ? 1.0f : 0.0f});
    }
  }
  return {std::move(entries), kinds};
}

struct Chain {
  FeatureIndex kinds;
  int deeper_than;
};

class EqualityChainTest : public ::testing::TestWithParam<GrowPolicy> {};

// Trees are deeper than a recorded tree, than the deepest that is recorded, and than any that is device-driven
// (GrowthPolicy).
TEST_P(EqualityChainTest, ToAnyDepth) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const threads = omp_get_max_threads();
  constexpr std::pair<int, int> kDepthsAndLeaves[] = {{0, 100}, {0, 100}, {0, 100}, {25, 100}, {0, 19}, {0, 100}};
  for (Chain const chain : {Chain{20, 16}, Chain{32, 24}, Chain{62, 40}}) {
    for (std::size_t rows : {3000U, 140000U}) {  // the latter are moved if they go by paths
      for (bool dense : {true, false}) {
        auto const matrix = HostMatrix(RowsOfKinds(chain.kinds, rows, dense), 64, threads);
        Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
        Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, threads)};
        EqualityCase c{990, static_cast<RowIndex>(rows), chain.kinds, 1, Values::kFew, 64, Loss::kHeavyTail, {}, 1, {}};
        c.params.grow_policy = GetParam();
        host.margins.resize(rows);
        for (std::uint32_t t = 0; t < 12; ++t) {
          SCOPED_TRACE(std::to_string(chain.kinds) + " kinds, " + std::to_string(rows) + " rows, " +
                       (dense ? "dense" : "sparse") + ", tree " + std::to_string(t));
          std::tie(c.params.max_depth, c.params.max_leaves) = kDepthsAndLeaves[t / 2];
          c.params.subsample = t % 2 == 0 ? 1.0f : 0.8f;
          std::vector<GradientPair> gradients;
          for (std::size_t r = 0; r < rows; ++r) {
            gradients.push_back({host.margins[r] - std::pow(1.1f, static_cast<float>(r % chain.kinds)), 1.0f});
          }
          host.GrowOne(c, gradients, {t, 0});
          cuda.GrowOne(c, gradients, {t, 0});
          int const limit = c.params.max_leaves == 19 ? 17 : c.params.max_depth == 25 ? 24 : chain.deeper_than;
          EXPECT_GT(DepthOf(host.tree), std::min(limit, chain.deeper_than));
          ASSERT_EQ(cuda.tree, host.tree);
          ASSERT_EQ(cuda.positions, host.positions);
          ASSERT_EQ(cuda.sampled_out, host.sampled_out);
          ASSERT_EQ(Bits(cuda.margins), Bits(host.margins));
        }
      }
    }
  }
}

/// After many shallow trees few levels are enqueued at once. A deeper tree, the first of the wide format, finds out
/// after these levels that moved gradients have no room.
TEST_P(EqualityChainTest, RoomIsMissingBehindTheEnqueuedLevels) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const threads = omp_get_max_threads();
  constexpr std::uint32_t kKinds = 20, kRows = 70000, kShallow = 40;
  auto const matrix = HostMatrix(RowsOfKinds(kKinds, kRows, true), 64, threads);
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, threads)};
  EqualityCase c{991, kRows, kKinds, 1, Values::kFew, 64, Loss::kHeavyTail, {}, 1, {}};
  c.params.grow_policy = GetParam();
  c.params.max_depth = 0;
  c.params.max_leaves = 16;
  for (std::uint32_t t = 0; t <= kShallow; ++t) {
    SCOPED_TRACE("tree " + std::to_string(t));
    std::vector<GradientPair> gradients;
    for (std::uint32_t r = 0; r < kRows; ++r) {
      std::uint32_t const kind = r % kKinds;
      float const shallow = kind < 2 ? 2.0f + static_cast<float>(kind) : 0.0f;
      gradients.push_back({t < kShallow ? shallow : std::pow(1.1f, static_cast<float>(kind)), 1.0f});
    }
    if (t == kShallow) gradients[0].grad = 1e4f;
    host.GrowOne(c, gradients, {t, 0});
    cuda.GrowOne(c, gradients, {t, 0});
    if (t < kShallow) {
      EXPECT_LT(DepthOf(host.tree), 4);
    } else {
      EXPECT_GT(DepthOf(host.tree), 10);
    }
    ASSERT_EQ(cuda.tree, host.tree);
    ASSERT_EQ(cuda.positions, host.positions);
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins));
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, EqualityChainTest, ::testing::Values(GrowPolicy::kLossGuide, GrowPolicy::kDepthWise),
                         [](auto const& c) { return c.param == GrowPolicy::kLossGuide ? "LossGuide" : "DepthWise"; });

/// These settings give trees that differ only in having an order.
TEST(EqualityShapeTest, AnOrderOfNothingAndNoOrder) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  auto const matrix = HostMatrix(RowsOfKinds(5, 3000, true), 64, 2);
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, 2)};
  Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, 2)};
  EqualityCase c{992, 3000, 5, 1, Values::kFew, 64, Loss::kHeavyTail, {}, 1, {}};
  c.params.max_depth = 1;
  std::vector<GradientPair> gradients;
  for (std::size_t r = 0; r < 3000; ++r) gradients.push_back({static_cast<float>(r % 5), 1.0f});
  for (int const max_leaves : {1, 0, 1, 2}) {
    c.params.max_leaves = max_leaves;
    for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
      c.params.grow_policy = policy;
      host.GrowOne(c, gradients, {0, 0});
      cuda.GrowOne(c, gradients, {0, 0});
      EXPECT_EQ(host.tree.size(), max_leaves == 1 ? 1U : 3U);
      ASSERT_EQ(cuda.tree, host.tree) << max_leaves << " leaves";
    }
  }
}

// Shapes differ by little, but what is recorded for one is not good for another.
TEST(EqualityShapeTest, OpenAndClosedInTurn) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const threads = omp_get_max_threads();
  EqualityCase c{994, 20000, 7, 0.9, Values::kContinuous, 64, Loss::kLogistic, {}, 1, {}};
  c.params.min_child_weight = 0;
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  auto const gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(c.rows));
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeTreeBuilder(BackendKind::kCuda, *matrix, threads)};
  constexpr std::pair<int, int> kDepthsAndLeaves[] = {{0, 1000}, {0, 255}, {0, 256}, {0, 255}, {8, 0}, {6, 32},
                                                      {6, 0},    {6, 31},  {6, 64},  {0, 2},   {0, 3}, {0, 100000}};
  std::uint32_t tree = 0;
  for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
    for (auto const& [depth, leaves] : kDepthsAndLeaves) {
      c.params.grow_policy = policy;
      c.params.max_depth = depth;
      c.params.max_leaves = leaves;
      for (int repeat = 0; repeat < 2; ++repeat) {
        host.GrowOne(c, gradients, {tree, 0});
        cuda.GrowOne(c, gradients, {tree, 0});
        ASSERT_EQ(cuda.tree, host.tree) << "depth " << depth << ", " << leaves << " leaves";
        ASSERT_EQ(cuda.positions, host.positions);
        if (leaves != 0 && leaves <= (depth == 0 ? 256 : 32)) {
          EXPECT_EQ(host.tree.size(), 2U * static_cast<unsigned>(leaves) - 1);
        }
        ++tree;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(HostAndCuda, EqualityTest, ::testing::ValuesIn(EqualityCases()),
                         [](auto const& c) { return NameOf(c.param); });

TEST(EqualityDesignTest, HasEnoughCasesAndAllPairsOfWhatDecidesTheKernels) {
  auto const cases = EqualityCases();
  RecordProperty("cases", static_cast<int>(cases.size()));
  std::printf("The design has %zu cases\n", cases.size());
  EXPECT_GE(cases.size(), 300U);

  std::set<std::string> names;
  std::map<std::string, std::set<std::string>> seen;  // dimension → levels; pair of dimensions → pairs of levels
  for (EqualityCase const& c : cases) {
    names.insert(NameOf(c));
    std::vector<std::pair<std::string, std::string>> const levels{
        {"rows", std::to_string(c.rows)},
        {"density", std::to_string(c.density)},
        {"max_bin", std::to_string(c.max_bin)},
        {"policy", c.params.grow_policy == GrowPolicy::kDepthWise ? "depth" : "loss"},
        {"subsample", std::to_string(c.params.subsample)},
        {"loss", std::to_string(static_cast<int>(c.loss))},
        {"constraints",
         std::to_string(!c.params.monotone_constraints.empty() + !c.params.interaction_constraints.empty())},
        {"columns", c.columns < 33 ? "few" : "many"}};
    for (auto const& a : levels) {
      seen[a.first].insert(a.second);
      for (auto const& b : levels) {
        if (a.first < b.first) seen[a.first + " " + b.first].insert(a.second + " " + b.second);
      }
    }
  }
  EXPECT_EQ(names.size(), cases.size());
  // The corners have levels of their own (5 of rows, 1 of max_bin, 2 of density), which are in few pairs. All other
  // levels meet each other.
  std::map<std::string, std::size_t> const levels{{"rows", 6}, {"density", 4},   {"max_bin", 5}, {"policy", 2},
                                                  {"loss", 8}, {"subsample", 3}, {"columns", 2}, {"constraints", 3}};
  for (auto const& a : levels) {
    EXPECT_GE(seen[a.first].size(), a.second) << a.first;
    for (auto const& b : levels) {
      if (a.first < b.first) {
        EXPECT_GE(seen[a.first + " " + b.first].size(), a.second * b.second) << a.first << " and " << b.first;
      }
    }
  }
}

}  // namespace
}  // namespace xgbgpu::testing
