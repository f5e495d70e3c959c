// categories: bins, splits and whole trees equal those of the reference, bit for bit, on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "quantile/quantile.h"
#include "reference/tree.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::AddCategories;
using testing::DataShape;
using testing::Grow;
using testing::GrowReference;
using testing::MemorySource;
using testing::TreeCase;
using testing::WhatIsWrong;

struct CategoryCase {
  char const* name;
  DataShape shape;
  std::vector<std::size_t> levels;  ///< categories of each of the first features
  void (*set)(TreeCase*);
};

void PrintTo(CategoryCase const& c, std::ostream* os) { *os << c.name; }

void Defaults(TreeCase*) {}
void OneByOne(TreeCase* c) { c->params.max_cat_to_onehot = 1000000; }

TreeCase MakeCase(CategoryCase const& c) {
  TreeCase tree_case = testing::RandomCase(c.shape, 171);
  tree_case.max_bin = 32;
  for (std::size_t f = 0; f < c.levels.size(); ++f) AddCategories(&tree_case, f, c.levels[f]);
  c.set(&tree_case);
  return tree_case;
}

std::size_t CategorySplits(Tree const& tree) {
  std::size_t splits = 0;
  for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) splits += !tree.RightCategories(n).empty();
  return splits;
}

class CategoryTreeTest : public ::testing::TestWithParam<std::tuple<BackendKind, CategoryCase>> {};

TEST_P(CategoryTreeTest, EqualsTheReference) {
  auto const [kind, category_case] = GetParam();
  XGBGPU_SKIP_UNLESS_HERE(kind);
  TreeCase c = MakeCase(category_case);
  for (GrowPolicy policy : testing::kPolicies) {
    testing::SetPolicy(&c.params, policy);
    Tree const expected = GrowReference(c);
    Tree const tree = Grow(c, {kind});
    ASSERT_EQ(tree, expected) << testing::NameOf(policy);
    // A split that takes one of 700 categories out is never the best for all nodes of a level.
    bool const says_little = policy == GrowPolicy::kSymmetric && c.params.max_cat_threshold == 2;
    EXPECT_TRUE(CategorySplits(tree) > 0 || says_little);
    if (c.values.rows > 100000) continue;
    for (int threads : {1, 3}) {
      EXPECT_EQ(Grow(c, {kind, threads, 100}), tree) << threads << " threads, batches of 100 rows";
    }
  }
}

TEST_P(CategoryTreeTest, RowsAreWhereTheirValuesSay) {
  auto const [kind, category_case] = GetParam();
  XGBGPU_SKIP_UNLESS_HERE(kind);
  TreeCase c = MakeCase(category_case);
  bool const is_goss = c.params.sampling_method == SamplingMethod::kGoss;  // goss has rates of its own
  for (float subsample : is_goss ? std::vector<float>{1.0f} : std::vector<float>{1.0f, 0.6f, 0.2f}) {
    c.params.subsample = subsample;
    Trainer trainer{testing::MakeDataset(c, {kind}), kind, 2};
    Tree const tree = trainer.Grow(c.params, c.gradients, {});
    std::vector<NodeIndex> positions(c.values.rows);
    trainer.LeafPositions(positions, {});
    for (std::size_t r = 0; r < c.values.rows; ++r) {
      ASSERT_EQ(positions[r], reference::FindLeaf(tree, c.values, r)) << "row " << r << ", subsample " << subsample;
    }
  }
}

class CategorySequenceTest : public ::testing::TestWithParam<BackendKind> {};

// What a tree leaves behind in a trainer must not show in the next, of other parameters.
TEST_P(CategorySequenceTest, OneTrainerManySettings) {
  XGBGPU_SKIP_UNLESS_HERE(GetParam());
  for (double missing : {0.1, 0.9}) {
    TreeCase c = testing::RandomCase({3000, 20, missing}, 181);
    for (std::size_t f : {0U, 3U, 17U}) AddCategories(&c, f, 5 + 20 * f);
    auto const data = testing::MakeDataset(c, {GetParam()});
    Trainer trainer{data, GetParam(), 2};
    for (int i = 0; i < 24; ++i) {
      c.params.max_depth = i % 5 == 4 ? 0 : 2 + i % 7;
      c.params.max_leaves = c.params.max_depth == 0 ? 50 : 0;
      c.params.subsample = i % 4 == 3 ? 0.3f : 1.0f;
      c.params.colsample_bynode = i % 6 == 5 ? 0.5f : 1.0f;
      c.params.max_cat_to_onehot = i % 2 == 0 ? 4 : 200;
      c.params.max_cat_threshold = i % 8 < 4 ? 64 : 9;
      testing::SetPolicy(&c.params, testing::kPolicies[i % 3]);
      Tree const tree = trainer.Grow(c.params, c.gradients, {});
      ASSERT_EQ(tree, GrowReference(c)) << "tree " << i << ", missing " << missing;
      std::vector<NodeIndex> positions(c.values.rows);
      trainer.LeafPositions(positions, {});
      for (std::size_t r = 0; r < c.values.rows; ++r) {
        ASSERT_EQ(positions[r], reference::FindLeaf(tree, c.values, r)) << "tree " << i << ", row " << r;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, CategorySequenceTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

constexpr DataShape kPlain{1500, 5};
constexpr DataShape kMissingSome{1500, 5, 0.2};
constexpr DataShape kSparse{1500, 25, 0.9};

CategoryCase const kCases[] = {
    {"Few", kPlain, {3, 2}, Defaults},
    {"FewMissing", kMissingSome, {3, 2}, Defaults},
    {"Sorted", kPlain, {12, 40}, Defaults},
    {"SortedMissing", kMissingSome, {12, 40}, Defaults},
    {"SortedSparse", kSparse, {12, 40, 3}, Defaults},
    {"OneByOne", kPlain, {12, 40}, OneByOne},
    {"OneByOneMissing", kMissingSome, {12, 400}, OneByOne},
    {"OneByOneSparse", kSparse, {12, 40, 3}, OneByOne},
    {"AsManyAsTheLimit", kMissingSome, {6, 5, 4}, [](TreeCase* c) { c->params.max_cat_to_onehot = 5; }},
    {"SmallThreshold", kMissingSome, {30, 50}, [](TreeCase* c) { c->params.max_cat_threshold = 5; }},
    {"ThresholdTwo", kMissingSome, {30, 50}, [](TreeCase* c) { c->params.max_cat_threshold = 2; }},
    {"WordEnds", kMissingSome, {31, 32, 33, 64}, [](TreeCase* c) { c->params.max_depth = 3; }},
    {"Thousand",
     kMissingSome,
     {1000, 1000},
     [](TreeCase* c) {
       c->params.max_cat_threshold = 70000;
       c->params.max_depth = 4;
     }},
    {"MoreThanSharedMemory",
     {6000, 3, 0.1},
     {2100},
     [](TreeCase* c) {
       c->params.max_cat_threshold = 300;
       c->params.max_depth = 3;
       c->params.min_child_weight = 0;
     }},
    {"Most",
     {4000, 2, 0.1},
     {65535},
     [](TreeCase* c) {
       c->values(7, 0) = 65534;
       c->params.min_child_weight = 0;
       c->params.max_depth = 2;
       c->params.max_leaves = 4;
     }},
    // From 257 categories on, only the ends of the order are sorted (SortCategories in split/category_split_cuda.cuh).
    {"JustSortedWhole", kMissingSome, {256, 257}, Defaults},
    {"Ends", {3000, 3, 0.1}, {600, 2100}, Defaults},
    {"EndsOfOne", {3000, 3, 0.1}, {700}, [](TreeCase* c) { c->params.max_cat_threshold = 2; }},
    {"EndsOfMostSelected", {3000, 3, 0.1}, {700}, [](TreeCase* c) { c->params.max_cat_threshold = 129; }},
    {"EndsOfOneMore", {3000, 3, 0.1}, {700}, [](TreeCase* c) { c->params.max_cat_threshold = 130; }},
    {"EndsOfFewPresent", {250, 3, 0.1}, {5000}, [](TreeCase* c) { c->params.min_child_weight = 0; }},
    {"EndsOfTies",
     {4000, 3, 0.1},
     {1500, 2500},
     [](TreeCase* c) {
       for (GradientPair& g : c->gradients) g = {g.grad < -0.3f ? -1.0f : g.grad > 0.3f ? 1.0f : 0.0f, 1.0f};
       c->params.min_child_weight = 0;
     }},
    {"InTiles",
     {9000, 4, 0.1},
     {3000},
     [](TreeCase* c) {
       c->max_bin = 4000;
       c->params.max_depth = 4;
     }},
    {"NarrowInTiles", {(std::size_t{1} << 16) + 77, 3, 0.1}, {3000, 90}, [](TreeCase* c) { c->params.max_depth = 4; }},
    {"Deep",
     {3000, 4, 0.1},
     {20, 60},
     [](TreeCase* c) {
       c->params.max_depth = 10;
       c->params.min_child_weight = 0;
     }},
    {"NoDepthLimit",
     {3000, 4, 0.1},
     {20, 60},
     [](TreeCase* c) {
       c->params.max_depth = 0;
       c->params.max_leaves = 41;
     }},
    {"AlphaAndMaxDeltaStep",
     kMissingSome,
     {30, 50},
     [](TreeCase* c) {
       c->params.reg_alpha = 1;
       c->params.max_delta_step = 0.2f;
     }},
    {"NoLambda", kMissingSome, {30, 50}, [](TreeCase* c) { c->params.reg_lambda = 0; }},
    {"MinChildWeight", kMissingSome, {30, 50}, [](TreeCase* c) { c->params.min_child_weight = 25; }},
    {"MonotoneSorted",
     kMissingSome,
     {30, 50},
     [](TreeCase* c) {
       c->params.monotone_constraints = {1, 0, -1, 1, 0};
     }},
    {"MonotoneOneByOne",
     kMissingSome,
     {12, 9},
     [](TreeCase* c) {
       c->params.monotone_constraints = {-1, 1, 0, 0, 1};
       c->params.max_cat_to_onehot = 20;
     }},
    {"Interactions",
     kMissingSome,
     {30, 3},
     [](TreeCase* c) {
       c->params.interaction_constraints = {{0, 2}, {1, 2, 3}, {4}};
     }},
    {"NegativeHessians",
     kMissingSome,
     {30, 5},
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->gradients.size(); r += 3) c->gradients[r].hess *= -1;
     }},
    {"Subsample", kMissingSome, {30, 3}, [](TreeCase* c) { c->params.subsample = 0.4f; }},
    {"SampledByGradient",
     kMissingSome,
     {30, 3},
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.4f;
     }},
    {"Goss", kPlain, {30, 50, 3}, [](TreeCase* c) { c->params.sampling_method = SamplingMethod::kGoss; }},
    {"ColsampleByTree", kPlain, {30, 50, 3}, [](TreeCase* c) { c->params.colsample_bytree = 0.6f; }},
    {"ColsampleByLevel", kPlain, {30, 50, 3}, [](TreeCase* c) { c->params.colsample_bylevel = 0.5f; }},
    {"ColsampleByNode", kMissingSome, {30, 50, 3}, [](TreeCase* c) { c->params.colsample_bynode = 0.5f; }},
    {"ManyFeatures", {1500, 70, 0.05}, {3, 9, 40, 2, 300}, Defaults},
    {"NarrowFormat", {(std::size_t{1} << 16) + 77, 3, 0.1}, {8, 90}, [](TreeCase* c) { c->params.max_depth = 6; }},
    {"MovedRows",
     {(std::size_t{1} << 18) + 77, 30, 0.02},
     {8, 90},
     [](TreeCase* c) {
       c->params.max_depth = 7;
       c->params.colsample_bytree = 0.2f;  // only the first 6 of 30 features: the reference is slow
       c->params.feature_weights.assign(30, 0.0f);
       std::fill_n(c->params.feature_weights.begin(), 6, 1.0f);
     }},
};

INSTANTIATE_TEST_SUITE_P(Backends, CategoryTreeTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kBackends), ::testing::ValuesIn(kCases)),
                         [](auto const& c) {
                           return testing::NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name;
                         });

class CategoryCutsTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }

  std::shared_ptr<Dataset const> Build(reference::Values const& values) const {
    MemorySource source{values};
    source.SetCategorical({1, 0});
    return Dataset::Build(source, {}, 2, 2, {GetParam(), 0});
  }
};

TEST_P(CategoryCutsTest, ABinForEachCategory) {
  reference::Values values{4, 2};
  values.at = {0, 1.5f, 5.9f, -1, reference::kMissing, 7, 2, 3};
  auto const data = Build(values);
  Cuts const& cuts = data->cuts();
  EXPECT_TRUE(cuts.IsCategorical(0));
  EXPECT_FALSE(cuts.IsCategorical(1));
  EXPECT_EQ(cuts.ptr, (std::vector<BinIndex>{0, 6, 8}));  // max_bin does not matter; 5.9 is category 5
  EXPECT_EQ((std::vector<float>{cuts.values.begin(), cuts.values.begin() + 6}), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(cuts, reference::MakeCuts(values, {}, 2, {1, 0}));
}

TEST_P(CategoryCutsTest, AColumnWithoutValuesHasOneBin) {
  reference::Values values{3, 2};
  for (std::size_t r = 0; r < 3; ++r) values(r, 1) = static_cast<float>(r);
  EXPECT_EQ(Build(values)->cuts().bins(0), 1U);
}

TEST_P(CategoryCutsTest, RefusesWhatIsNoCategory) {
  for (float wrong : {-1.0f, -0.25f, 65535.0f, 1e30f}) {
    reference::Values values{4, 2};
    values.at = {0, 1, 2, 3, wrong, 7, 2, 3};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Build(values); },
                                           {"Category of row 2, feature 0 is", "allowed: 0 to 65534"}),
              "")
        << wrong;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, CategoryCutsTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

TEST(CategoryParamsTest, LimitsAreChecked) {
  TrainParams p;
  p.max_cat_to_onehot = 0;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { p.Validate(); }, {"max_cat_to_onehot is 0"}), "");
  p = TrainParams{};
  p.max_cat_threshold = -3;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { p.Validate(); }, {"max_cat_threshold is -3"}), "");
}

}  // namespace
}  // namespace xgbgpu
