// driver: whole trees equal those of the reference, bit for bit.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "driver/backend.h"
#include "exact/sorted_matrix.h"
#include "reference/tree.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::DataShape;
using testing::Grow;
using testing::GrowReference;
using testing::TreeCase;

struct WholeTreeCase {
  char const* name;
  DataShape shape;
  void (*set)(TreeCase*);
};

void PrintTo(WholeTreeCase const& c, std::ostream* os) { *os << c.name; }

void Defaults(TreeCase*) {}

class WholeTreeTest : public ::testing::TestWithParam<std::tuple<BackendKind, WholeTreeCase>> {};

TEST_P(WholeTreeTest, EqualsTheReference) {
  auto const [kind, whole_tree] = GetParam();
  XGBGPU_SKIP_UNLESS_HERE(kind);
  auto c = testing::RandomCase(whole_tree.shape, 131);
  c.max_bin = 32;
  whole_tree.set(&c);
  for (GrowPolicy policy : testing::kPolicies) {
    testing::SetPolicy(&c.params, policy);
    Tree const expected = GrowReference(c);
    Tree const tree = Grow(c, {kind});
    ASSERT_EQ(tree, expected) << testing::NameOf(policy);
    for (int threads : c.values.rows < 100000 ? std::vector<int>{1, 3, 7} : std::vector<int>{3}) {
      EXPECT_EQ(Grow(c, {kind, threads, 100}), tree) << threads << " threads, batches of 100 rows";
    }
  }
}

constexpr DataShape kPlain{1500, 7};
constexpr DataShape kMissingSome{1500, 7, 0.2, 30};
constexpr DataShape kSparse{1500, 25, 0.9};
constexpr DataShape kNarrow{(std::size_t{1} << 18) + 77, 3, 0.1};

constexpr WholeTreeCase kWholeTreeCases[] = {
    {"Plain", kPlain, Defaults},
    {"Missing", kMissingSome, Defaults},
    {"Sparse", kSparse, Defaults},
    {"Shallow", kPlain, [](TreeCase* c) { c->params.max_depth = 1; }},
    {"NoDepthLimit", kPlain, [](TreeCase* c) { c->params.max_depth = 0; }},
    {"NoDepthLimitLeaves", kMissingSome,
     [](TreeCase* c) {
       c->params.max_depth = 0;
       c->params.max_leaves = 21;
     }},
    {"DepthAndLeaves", kMissingSome, [](TreeCase* c) { c->params.max_leaves = 11; }},
    {"OneLeaf", kPlain, [](TreeCase* c) { c->params.max_leaves = 1; }},
    {"Gamma", kMissingSome, [](TreeCase* c) { c->params.min_split_loss = 0.8f; }},
    {"GammaTooLarge", kPlain, [](TreeCase* c) { c->params.min_split_loss = 1e6f; }},
    {"NoLambda", kSparse, [](TreeCase* c) { c->params.reg_lambda = 0; }},
    {"Alpha", kMissingSome, [](TreeCase* c) { c->params.reg_alpha = 2.5f; }},
    {"MaxDeltaStep", kMissingSome, [](TreeCase* c) { c->params.max_delta_step = 0.1f; }},
    {"AlphaAndMaxDeltaStep", kSparse,
     [](TreeCase* c) {
       c->params.reg_alpha = 1;
       c->params.max_delta_step = 0.2f;
     }},
    {"MinChildWeight", kMissingSome, [](TreeCase* c) { c->params.min_child_weight = 40; }},
    {"NoMinChildWeight", kSparse, [](TreeCase* c) { c->params.min_child_weight = 0; }},
    {"LearningRate", kPlain, [](TreeCase* c) { c->params.learning_rate = 0.037f; }},
    {"Subsample", kMissingSome,
     [](TreeCase* c) {
       c->params.subsample = 0.4f;
       c->params.seed = 5;
       c->key = {3, 2};
     }},
    {"GradientBased", kMissingSome,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.3f;
       c->key = {3, 2};
     }},
    {"GradientBasedManyZeros", kSparse,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.2f;
       for (std::size_t r = 0; r < c->gradients.size(); ++r) {
         if (r % 8 != 0) c->gradients[r] = {0.0f, 0.0f};
       }
     }},
    {"GradientBasedNarrow", kNarrow,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.95f;
       c->params.max_depth = 4;
     }},
    {"Goss", kMissingSome, [](TreeCase* c) { c->params.sampling_method = SamplingMethod::kGoss; }},
    {"GossLargeRates", kSparse,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGoss;
       c->params.top_rate = 0.5f;
       c->params.other_rate = 0.5f;
     }},
    {"GossOfOneRow", {1, 3}, [](TreeCase* c) { c->params.sampling_method = SamplingMethod::kGoss; }},
    {"NobodySampled", {20, 3}, [](TreeCase* c) { c->params.subsample = 1e-9f; }},
    {"ColsampleByTree", kSparse, [](TreeCase* c) { c->params.colsample_bytree = 0.5f; }},
    {"ColsampleByLevel", kPlain, [](TreeCase* c) { c->params.colsample_bylevel = 0.5f; }},
    {"ColsampleByNode", kMissingSome, [](TreeCase* c) { c->params.colsample_bynode = 0.4f; }},
    {"ColsampleAll", kSparse,
     [](TreeCase* c) {
       c->params.colsample_bytree = 0.8f;
       c->params.colsample_bylevel = 0.8f;
       c->params.colsample_bynode = 0.6f;
       c->params.subsample = 0.7f;
       c->params.feature_weights.assign(25, 1.0f);
       c->params.feature_weights[4] = 20.0f;
     }},
    {"OneRow", {1, 3}, Defaults},
    {"TwoRows", {2, 1}, [](TreeCase* c) { c->params.min_child_weight = 0; }},
    {"OneColumn", {800, 1, 0.1}, Defaults},
    {"TwoBins", kPlain, [](TreeCase* c) { c->max_bin = 2; }},
    {"TwoByteBins", {1500, 3, 0.1}, [](TreeCase* c) { c->max_bin = 900; }},
    {"FewValues", {1500, 5, 0.1, 3}, Defaults},
    {"NarrowFormat", kNarrow, [](TreeCase* c) { c->params.max_depth = 4; }},
    {"NegativeHessians", kMissingSome,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->gradients.size(); r += 3) c->gradients[r].hess *= -1;
     }},
    {"ZeroGradients", kPlain,
     [](TreeCase* c) {
       c->gradients.assign(c->gradients.size(), {0.0f, 0.0f});
     }},
    {"ConstantAndEmptyColumns", kMissingSome,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->values.rows; ++r) {
         c->values(r, 0) = 2.0f;
         c->values(r, 1) = reference::kMissing;
         if (r % 5 == 0) c->values(r, 2) = reference::kMissing;
       }
     }},
    {"NoValuesAtAll", {30, 2, 1.0}, Defaults},
    {"QuantileWeights", {3000, 4}, [](TreeCase* c) {
       for (std::size_t r = 0; r < c->values.rows; ++r) {
         c->weights.push_back(static_cast<float>(r % 5) * 0.25f);
       }
     }}};

INSTANTIATE_TEST_SUITE_P(Cases, WholeTreeTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kBackends),
                                            ::testing::ValuesIn(kWholeTreeCases)),
                         [](auto const& c) {
                           return testing::NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name;
                         });

class WholeTreeShapeTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
  static Tree Grow(TreeCase const& c) { return testing::Grow(c, {GetParam()}); }
};

TEST_P(WholeTreeShapeTest, TheCasesAboveDoWhatTheirNamesSay) {
  auto c = testing::RandomCase(kMissingSome, 131);
  c.max_bin = 32;
  EXPECT_GT(Grow(c).Leaves(), 30U);
  c.params.max_leaves = 11;
  EXPECT_EQ(Grow(c).Leaves(), 11U);
  c.params.min_split_loss = 1e6f;
  EXPECT_EQ(Grow(c).Leaves(), 1U);
}

TEST_P(WholeTreeShapeTest, MaximumNumberOfBins) {
  TreeCase c = testing::RandomCase({70000, 2}, 132);
  for (std::size_t r = 0; r < c.values.rows; ++r) c.values(r, 0) = static_cast<float>(r * 7919 % c.values.rows);
  c.values(9, 1) = reference::kMissing;
  c.max_bin = 65535;
  c.params.max_depth = 4;
  EXPECT_EQ(Grow(c), GrowReference(c));
}

TEST_P(WholeTreeShapeTest, AMillionSparseColumns) {
  // 100 rows have values in 300 of 10^6 columns. The tree is that of the 300 alone, with their numbers.
  constexpr FeatureIndex kColumns = 1000000, kStep = 3331;
  TreeCase c = testing::RandomCase({100, 300, 0.3}, 133);
  c.params.min_child_weight = 0.1f;
  testing::MemorySource source{c.values};
  for (auto& row : source.data()) {
    for (Entry& e : row) e.feature *= kStep;
  }
  auto const data = Dataset::Build(testing::MemorySource{source.data(), kColumns}, {}, c.max_bin, 2, {GetParam(), 0});
  EXPECT_EQ(data->features(), kColumns);
  Tree expected = GrowReference(c);
  ASSERT_GT(expected.Leaves(), 5U);
  Cuts const narrow_cuts = reference::MakeCuts(c.values, {}, c.max_bin);
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (expected.left[n] == kNoNode) continue;
    FeatureIndex const f = expected.feature[n];
    expected.split_bin[n] += data->cuts().ptr[f * kStep] - narrow_cuts.ptr[f];
    expected.feature[n] = f * kStep;
  }
  Trainer trainer{data, GetParam(), 2};
  EXPECT_EQ(trainer.Grow(c.params, c.gradients, {}), expected);
}

TEST_P(WholeTreeShapeTest, LeavesAddUpToTheRoot) {
  // A hessian sum is an integer times a power of two, below 2^53 units here. It is exact in double, and rounded to
  // float once.
  auto const c = testing::RandomCase(kSparse, 134);
  Tree const tree = Grow(c);
  double sum = 0;
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) sum += static_cast<double>(tree.sum_hess[n]);
  }
  EXPECT_NEAR(sum, static_cast<double>(tree.sum_hess[0]), 2 * 0x1p-24 * static_cast<double>(tree.sum_hess[0]));
}

INSTANTIATE_TEST_SUITE_P(Backends, WholeTreeShapeTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

// tests/cuda/failure_test.cc has the same for devices.
TEST(BuilderTest, RefusesWhatDoesNotFitItsRowsOrItsTree) {
  TreeCase const c = testing::RandomCase({200, 3}, 5);
  auto const data = testing::MakeDataset(c);
  auto const refused = [](auto&& call, std::vector<std::string> const& words) {
    return testing::WhatIsWrong<InvalidArgument>(call, words);
  };
  for (bool exact : {false, true}) {
    SCOPED_TRACE(exact);
    auto const builder = exact ? MakeHostExactBuilder(host::SortColumns(testing::MemorySource{c.values}, 2), 2)
                               : MakeHostTreeBuilder(data->matrix(), 2);
    std::vector<GradientPair> const few(5);
    std::vector<float> margins(200);
    std::vector<NodeIndex> positions(200);
    std::vector<std::uint8_t> sampled_out(200, 1);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, {}); }, {"LeafPositions: no tree has been grown"}), "");
    Tree const tree = builder->Grow(c.params, c.gradients, {});
    std::vector<float> const values(tree.size() + 1);
    EXPECT_EQ(refused([&] { builder->AddLeafValues(values, margins.data(), 1); },
                      {"AddLeafValues: array of " + std::to_string(tree.size() + 1), std::to_string(tree.size())}),
              "");
    builder->LeafPositions(positions, sampled_out);
    EXPECT_EQ(sampled_out, std::vector<std::uint8_t>(200));
    sampled_out.resize(3);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, sampled_out); }, {"array of 3", "200"}), "");
    positions.resize(199);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, {}); }, {"array of 199", "200"}), "");
    EXPECT_EQ(refused([&] { builder->Grow(c.params, few, {}); }, {"5 gradients", "200 rows"}), "");
    positions.resize(200);
    EXPECT_EQ(refused([&] { builder->LeafPositions(positions, {}); }, {"no tree"}), "");
  }
}

}  // namespace
}  // namespace xgbgpu
