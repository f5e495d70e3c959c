// driver: whole trees equal those of the reference, bit for bit.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "reference/tree.h"
#include "support/data.h"
#include "support/grow.h"

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

std::string NameOfCase(::testing::TestParamInfo<WholeTreeCase> const& c) { return c.param.name; }

void Defaults(TreeCase*) {}

class WholeTreeTest : public ::testing::TestWithParam<WholeTreeCase> {};

TEST_P(WholeTreeTest, EqualsTheReference) {
  auto c = testing::RandomCase(GetParam().shape, 131);
  c.max_bin = 32;
  GetParam().set(&c);
  for (GrowPolicy policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
    c.params.grow_policy = policy;
    Tree const expected = GrowReference(c);
    Tree const tree = Grow(c);
    ASSERT_EQ(tree, expected) << (policy == GrowPolicy::kDepthWise ? "depth-wise" : "loss-guided");
    for (int threads : c.values.rows < 100000 ? std::vector<int>{1, 3, 7} : std::vector<int>{3}) {
      EXPECT_EQ(Grow(c, {BackendKind::kHost, threads, 100}), tree) << threads << " threads, batches of 100 rows";
    }
  }
}

constexpr DataShape kPlain{1500, 7};
constexpr DataShape kMissingSome{1500, 7, 0.2, 30};
constexpr DataShape kSparse{1500, 25, 0.9};
constexpr DataShape kNarrow{(std::size_t{1} << 18) + 77, 3, 0.1};

INSTANTIATE_TEST_SUITE_P(
    Cases, WholeTreeTest,
    ::testing::Values(
        WholeTreeCase{"Plain", kPlain, Defaults}, WholeTreeCase{"Missing", kMissingSome, Defaults},
        WholeTreeCase{"Sparse", kSparse, Defaults},
        WholeTreeCase{"Shallow", kPlain, [](TreeCase* c) { c->params.max_depth = 1; }},
        WholeTreeCase{"NoDepthLimit", kPlain, [](TreeCase* c) { c->params.max_depth = 0; }},
        WholeTreeCase{"NoDepthLimitLeaves", kMissingSome,
                      [](TreeCase* c) {
                        c->params.max_depth = 0;
                        c->params.max_leaves = 21;
                      }},
        WholeTreeCase{"DepthAndLeaves", kMissingSome, [](TreeCase* c) { c->params.max_leaves = 11; }},
        WholeTreeCase{"OneLeaf", kPlain, [](TreeCase* c) { c->params.max_leaves = 1; }},
        WholeTreeCase{"Gamma", kMissingSome, [](TreeCase* c) { c->params.min_split_loss = 0.8f; }},
        WholeTreeCase{"GammaTooLarge", kPlain, [](TreeCase* c) { c->params.min_split_loss = 1e6f; }},
        WholeTreeCase{"NoLambda", kSparse, [](TreeCase* c) { c->params.reg_lambda = 0; }},
        WholeTreeCase{"Alpha", kMissingSome, [](TreeCase* c) { c->params.reg_alpha = 2.5f; }},
        WholeTreeCase{"MaxDeltaStep", kMissingSome, [](TreeCase* c) { c->params.max_delta_step = 0.1f; }},
        WholeTreeCase{"AlphaAndMaxDeltaStep", kSparse,
                      [](TreeCase* c) {
                        c->params.reg_alpha = 1;
                        c->params.max_delta_step = 0.2f;
                      }},
        WholeTreeCase{"MinChildWeight", kMissingSome, [](TreeCase* c) { c->params.min_child_weight = 40; }},
        WholeTreeCase{"NoMinChildWeight", kSparse, [](TreeCase* c) { c->params.min_child_weight = 0; }},
        WholeTreeCase{"LearningRate", kPlain, [](TreeCase* c) { c->params.learning_rate = 0.037f; }},
        WholeTreeCase{"Subsample", kMissingSome,
                      [](TreeCase* c) {
                        c->params.subsample = 0.4f;
                        c->params.seed = 5;
                        c->key = {3, 2};
                      }},
        WholeTreeCase{"NobodySampled", {20, 3}, [](TreeCase* c) { c->params.subsample = 1e-9f; }},
        WholeTreeCase{"ColsampleByTree", kSparse, [](TreeCase* c) { c->params.colsample_bytree = 0.5f; }},
        WholeTreeCase{"ColsampleByLevel", kPlain, [](TreeCase* c) { c->params.colsample_bylevel = 0.5f; }},
        WholeTreeCase{"ColsampleByNode", kMissingSome, [](TreeCase* c) { c->params.colsample_bynode = 0.4f; }},
        WholeTreeCase{"ColsampleAll", kSparse,
                      [](TreeCase* c) {
                        c->params.colsample_bytree = 0.8f;
                        c->params.colsample_bylevel = 0.8f;
                        c->params.colsample_bynode = 0.6f;
                        c->params.subsample = 0.7f;
                        c->params.feature_weights.assign(25, 1.0f);
                        c->params.feature_weights[4] = 20.0f;
                      }},
        WholeTreeCase{"OneRow", {1, 3}, Defaults},
        WholeTreeCase{"TwoRows", {2, 1}, [](TreeCase* c) { c->params.min_child_weight = 0; }},
        WholeTreeCase{"OneColumn", {800, 1, 0.1}, Defaults},
        WholeTreeCase{"TwoBins", kPlain, [](TreeCase* c) { c->max_bin = 2; }},
        WholeTreeCase{"TwoByteBins", {1500, 3, 0.1}, [](TreeCase* c) { c->max_bin = 900; }},
        WholeTreeCase{"FewValues", {1500, 5, 0.1, 3}, Defaults},
        WholeTreeCase{"NarrowFormat", kNarrow, [](TreeCase* c) { c->params.max_depth = 4; }},
        WholeTreeCase{"NegativeHessians", kMissingSome,
                      [](TreeCase* c) {
                        for (std::size_t r = 0; r < c->gradients.size(); r += 3) c->gradients[r].hess *= -1;
                      }},
        WholeTreeCase{"ZeroGradients", kPlain,
                      [](TreeCase* c) { c->gradients.assign(c->gradients.size(), {0.0f, 0.0f}); }},
        WholeTreeCase{"ConstantAndEmptyColumns", kMissingSome,
                      [](TreeCase* c) {
                        for (std::size_t r = 0; r < c->values.rows; ++r) {
                          c->values(r, 0) = 2.0f;
                          c->values(r, 1) = reference::kMissing;
                          if (r % 5 == 0) c->values(r, 2) = reference::kMissing;
                        }
                      }},
        WholeTreeCase{"NoValuesAtAll", {30, 2, 1.0}, Defaults},
        WholeTreeCase{"QuantileWeights", {3000, 4},
                      [](TreeCase* c) {
                        for (std::size_t r = 0; r < c->values.rows; ++r) {
                          c->weights.push_back(static_cast<float>(r % 5) * 0.25f);
                        }
                      }}),
    NameOfCase);

TEST(WholeTreeShapeTest, TheCasesAboveDoWhatTheirNamesSay) {
  auto c = testing::RandomCase(kMissingSome, 131);
  c.max_bin = 32;
  EXPECT_GT(Grow(c).Leaves(), 30U);
  c.params.max_leaves = 11;
  EXPECT_EQ(Grow(c).Leaves(), 11U);
  c.params.min_split_loss = 1e6f;
  EXPECT_EQ(Grow(c).Leaves(), 1U);
}

TEST(WholeTreeShapeTest, MaximumNumberOfBins) {
  TreeCase c = testing::RandomCase({70000, 2}, 132);
  for (std::size_t r = 0; r < c.values.rows; ++r) c.values(r, 0) = static_cast<float>(r * 7919 % c.values.rows);
  c.values(9, 1) = reference::kMissing;
  c.max_bin = 65535;
  c.params.max_depth = 4;
  EXPECT_EQ(Grow(c), GrowReference(c));
}

TEST(WholeTreeShapeTest, AMillionSparseColumns) {
  // 100 rows, values in 300 columns out of 10^6: the tree of the 300 alone, with their numbers.
  constexpr FeatureIndex kColumns = 1000000, kStep = 3331;
  TreeCase c = testing::RandomCase({100, 300, 0.3}, 133);
  c.params.min_child_weight = 0.1f;
  testing::MemorySource source{c.values};
  for (auto& row : source.data()) {
    for (Entry& e : row) e.feature *= kStep;
  }
  auto const data = Dataset::Build(testing::MemorySource{source.data(), kColumns}, {}, c.max_bin, 2);
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
  Trainer trainer{data, BackendKind::kHost, 2};
  EXPECT_EQ(trainer.Grow(c.params, c.gradients, {}), expected);
}

TEST(WholeTreeShapeTest, LeavesAddUpToTheRoot) {
  // A hessian sum is an integer times a power of two, below 2^53 units here: exact in double, but rounded to float
  // once.
  auto const c = testing::RandomCase(kSparse, 134);
  Tree const tree = Grow(c);
  double sum = 0;
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) sum += static_cast<double>(tree.sum_hess[n]);
  }
  EXPECT_NEAR(sum, static_cast<double>(tree.sum_hess[0]), 2 * 0x1p-24 * static_cast<double>(tree.sum_hess[0]));
}

}  // namespace
}  // namespace xgbgpu
