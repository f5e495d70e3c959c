// driver: trees of vectors equal those of the reference, bit for bit, in core, in pages and in shards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collective/in_process.h"
#include "exact/sorted_matrix.h"
#include "gradient/gradient.h"
#include "reference/vector_tree.h"
#include "sample/sample.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/paged.h"
#include "support/shards.h"
#include "trees_host/exact_host.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;
using testing::TreeCase;
using testing::WhatIsWrong;

/// Gradients of several outputs beside a case, whose own gradients are unused.
struct VectorCase {
  TreeCase of;
  std::vector<std::vector<GradientPair>> gradients;  ///< [outputs][rows]

  std::uint32_t outputs() const { return static_cast<std::uint32_t>(gradients.size()); }
  /// [rows, outputs]
  std::vector<GradientPair> RowMajor() const {
    std::vector<GradientPair> all;
    for (std::size_t r = 0; r < of.values.rows; ++r) {
      for (auto const& output : gradients) all.push_back(output[r]);
    }
    return all;
  }
};

VectorCase MakeCase(testing::DataShape const& shape, std::uint32_t outputs, std::uint64_t seed = 77) {
  VectorCase c{testing::RandomCase(shape, seed), {}};
  c.of.max_bin = 16;
  for (std::uint32_t k = 0; k < outputs; ++k) {
    c.gradients.push_back(testing::RandomGradients(c.of.values, seed + 10 + k));
    // Outputs have units of their own.
    for (GradientPair& g : c.gradients.back())
      g.grad *= static_cast<float>(k + 1), g.hess *= 1.0f + 0.3f * static_cast<float>(k);
    // With many rows no hessian vanishes, so the format is narrow.
    if (shape.rows >= kNarrowMinRows) {
      for (GradientPair& g : c.gradients.back()) g.hess = std::max(g.hess, 0.01f);
    }
  }
  return c;
}

/// Makes the last two features categorical, with effects of their own on the outputs.
void AddCategories(VectorCase* c, std::size_t levels) {
  std::size_t const features = c->of.values.features;
  testing::AddCategories(&c->of, features - 1, 3);
  testing::AddCategories(&c->of, features - 2, levels);
  for (std::size_t r = 0; r < c->of.values.rows; ++r) {
    float const category = c->of.values(r, features - 2);
    if (std::isnan(category)) continue;
    for (std::size_t k = 0; k < c->gradients.size(); ++k) {
      c->gradients[k][r].grad += 0.4f * static_cast<float>((static_cast<std::size_t>(category) * (k + 3)) % 5) - 0.8f;
    }
  }
}

VectorTree Grow(VectorCase const& c, int threads = 2) {
  return Trainer{testing::MakeDataset(c.of, {BackendKind::kHost, threads}), BackendKind::kHost, threads}.GrowVectors(
      c.of.params, c.RowMajor(), c.outputs(), c.of.key);
}

VectorTree GrowReference(VectorCase const& c) {
  TrainParams const& p = c.of.params;
  Cuts const cuts = reference::MakeCuts(c.of.values, c.of.weights, c.of.max_bin, c.of.categorical);
  std::uint32_t const tree = TreeNumber(c.of.key);
  std::vector<reference::FixedPoint> gradients;
  std::vector<RowIndex> rows;
  for (auto const& of_output : c.gradients) {
    auto const sample = reference::SampleRows(of_output, p, tree);
    rows = sample.rows;
    gradients.push_back(reference::Quantise(sample.gradients, rows.size(), p.min_child_weight, p.seed, tree));
  }
  FeatureSampler const sampler{p, static_cast<FeatureIndex>(c.of.values.features), tree};
  return reference::GrowVectorTree(reference::MakeBins(c.of.values, cuts), cuts, gradients, p, rows,
                                   [&](int depth, NodeIndex node) { return sampler.Node(depth, node); });
}

struct NamedCase {
  char const* name;
  testing::DataShape shape;
  std::uint32_t outputs;
  void (*set)(TrainParams*);
  std::size_t levels{0};  ///< the last two features have this number of categories, and 3
};
void PrintTo(NamedCase const& c, std::ostream* os) { *os << c.name; }

constexpr testing::DataShape kPlain{400, 5}, kMissing{400, 5, 0.2, 30}, kSparse{400, 12, 0.9};

constexpr NamedCase kCases[] = {
    {"Plain", kPlain, 3, [](TrainParams*) {}},
    {"Missing", kMissing, 2, [](TrainParams*) {}},
    {"Sparse", kSparse, 3, [](TrainParams*) {}},
    {"OneOutput", kMissing, 1, [](TrainParams*) {}},
    {"ManyOutputs", kPlain, 9, [](TrainParams* p) { p->max_depth = 3; }},
    {"MaxLeaves", kMissing, 3,
     [](TrainParams* p) { p->max_leaves = p->grow_policy == GrowPolicy::kSymmetric ? 8 : 11; }},
    {"NoDepthLimit", kMissing, 2,
     [](TrainParams* p) {
       p->max_depth = 0;
       p->min_child_weight = 20;
       if (p->grow_policy == GrowPolicy::kSymmetric) p->max_leaves = 16;
     }},
    {"OneLeaf", kPlain, 3, [](TrainParams* p) { p->min_child_weight = 1e6f; }},
    {"MinChildWeight", kMissing, 3, [](TrainParams* p) { p->min_child_weight = 30; }},
    {"NoMinChildWeightNoLambda", kSparse, 2,
     [](TrainParams* p) {
       p->min_child_weight = 0;
       p->reg_lambda = 0;
     }},
    {"Gamma", kMissing, 3, [](TrainParams* p) { p->min_split_loss = 8; }},
    {"Alpha", kMissing, 3, [](TrainParams* p) { p->reg_alpha = 4; }},
    {"MaxDeltaStep", kMissing, 3, [](TrainParams* p) { p->max_delta_step = 0.1f; }},
    {"AlphaAndMaxDeltaStep", kMissing, 3,
     [](TrainParams* p) {
       p->reg_alpha = 2;
       p->max_delta_step = 0.1f;
     }},
    {"LearningRate", kPlain, 2, [](TrainParams* p) { p->learning_rate = 0.037f; }},
    {"Subsample", kMissing, 3, [](TrainParams* p) { p->subsample = 0.5f; }},
    {"NobodySampled", {20, 3}, 2, [](TrainParams* p) { p->subsample = 1e-9f; }},
    {"Columns", kSparse, 2,
     [](TrainParams* p) {
       p->colsample_bytree = 0.7f;
       p->colsample_bylevel = 0.8f;
       p->colsample_bynode = 0.7f;
     }},
    {"Monotone", kMissing, 3,
     [](TrainParams* p) {
       p->monotone_constraints = {1, -1, 0, 1, -1};
     }},
    {"MonotoneAlpha", kPlain, 2,
     [](TrainParams* p) {
       p->monotone_constraints = {1, -1};
       p->reg_alpha = 2;
       p->max_delta_step = 0.3f;
     }},
    {"Categories", kMissing, 3, [](TrainParams*) {}, 40},
    {"FewCategories", kMissing, 2, [](TrainParams* p) { p->max_cat_to_onehot = 10; }, 7},
    {"CategoryThreshold", kPlain, 3,
     [](TrainParams* p) {
       p->max_cat_threshold = 5;
       p->monotone_constraints = {1, 0, 0, 1, -1};
       p->subsample = 0.8f;
     },
     20},
    {"Narrow", {70000, 2, 0.1, 30}, 2, [](TrainParams* p) { p->max_depth = 2; }},
    {"NarrowSubsample",
     {140000, 2},
     3,
     [](TrainParams* p) {
       p->max_depth = 2;
       p->subsample = 0.5f;
     }},
    {"Interactions", kMissing, 3,
     [](TrainParams* p) {
       p->interaction_constraints = {{0, 1}, {1, 2, 3}};
     }},
};

class VectorTreeTest : public ::testing::TestWithParam<std::tuple<GrowPolicy, NamedCase>> {
 protected:
  static VectorCase Case() {
    auto const& [policy, named] = GetParam();
    VectorCase c = MakeCase(named.shape, named.outputs);
    c.of.params.grow_policy = policy;
    named.set(&c.of.params);
    if (named.levels != 0) AddCategories(&c, named.levels);
    c.of.params.seed = 5;
    c.of.key = {3, 2};
    return c;
  }
};

TEST_P(VectorTreeTest, EqualsTheReference) {
  VectorCase const c = Case();
  VectorTree const tree = Grow(c);
  ASSERT_EQ(tree, GrowReference(c));
  EXPECT_EQ(tree.shape.category_ptr.empty(), c.of.categorical.empty());
  for (int const threads : {1, 3, 7}) EXPECT_EQ(Grow(c, threads), tree) << threads << " threads";
}

TEST_P(VectorTreeTest, IsTheSameInPagesAndShards) {
  VectorCase const c = Case();
  VectorTree const expected = Grow(c);
  std::size_t const rows = c.of.values.rows;
  auto const data = testing::MakeDataset(c.of);
  MemorySource source{c.of.values, 100};
  source.SetCategorical(c.of.categorical);
  for (std::size_t const histograms : {0U, 40U}) {
    auto const paged = testing::MakePaged(source, data->cuts(), 4);
    std::size_t const bytes = histograms * paged->whole().cells() * sizeof(GradientSum);
    auto const builder = MakeHostTreeBuilder(*paged, Shard::Whole(rows), 2, bytes);
    EXPECT_EQ(builder->GrowVectors(c.of.params, c.RowMajor(), c.outputs(), c.of.key), expected) << histograms;
  }
  auto const first = testing::Boundaries(rows, 3);
  std::vector<GradientPair> const gradients = c.RowMajor();
  RunShards(3, [&](Collective& collective) {
    auto const s = static_cast<std::size_t>(collective.shard());
    TreeCase const own = testing::Slice(c.of, first[s], first[s + 1]);
    Place place;
    place.shards = &collective;
    MemorySource of_rows{own.values};
    of_rows.SetCategorical(own.categorical);
    auto const of_shard = Dataset::Build(of_rows, {}, own.max_bin, 2, place);
    auto const builder = MakeHostTreeBuilder(testing::BinsOf(*of_shard), Shard::Place(&collective, own.values.rows), 2);
    Span<GradientPair const> const slice{gradients.data() + first[s] * c.outputs(), own.values.rows * c.outputs()};
    EXPECT_EQ(builder->GrowVectors(own.params, slice, c.outputs(), own.key), expected);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Cases, VectorTreeTest,
    ::testing::Combine(::testing::Values(GrowPolicy::kDepthWise, GrowPolicy::kLossGuide, GrowPolicy::kSymmetric),
                       ::testing::ValuesIn(kCases)),
    [](auto const& c) { return testing::NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name; });

TEST(VectorTreesTest, OfOneOutputAreOrdinaryTrees) {
  for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide, GrowPolicy::kSymmetric}) {
    VectorCase c = MakeCase({1500, 7, 0.2, 30}, 1);
    c.of.gradients = c.gradients[0];
    c.of.params.grow_policy = policy;
    c.of.params.subsample = 0.8f;
    c.of.params.colsample_bynode = 0.8f;
    c.of.params.reg_alpha = 0.5f;
    c.of.params.interaction_constraints = {{0, 1, 2}, {2, 3, 4, 5, 6}};
    c.of.params.regularisation = Regularisation::kOf3_4;
    VectorTree const vectors = Grow(c);
    Tree one = vectors.shape;
    one.weight = vectors.weight;
    one.leaf_value = vectors.leaf_value;
    EXPECT_GE(one.Leaves(), 8U);
    EXPECT_EQ(one, testing::Grow(c.of));
  }
}

TEST(VectorTreesTest, OneOutputOfHeavyTailsMakesAllWide) {
  VectorCase const narrow = MakeCase({70000, 2, 0.0, 30}, 2);
  VectorCase wide = narrow;
  wide.gradients[1][7].grad = 3e9f;
  auto const root_of = [](VectorCase const& c) { return Grow(c).weight[0]; };
  EXPECT_NE(root_of(narrow), root_of(wide));
  double grad = 0, hess = 0;
  for (GradientPair const& g : wide.gradients[0]) {
    grad += static_cast<double>(g.grad);
    hess += static_cast<double>(g.hess);
  }
  EXPECT_FLOAT_EQ(root_of(wide), static_cast<float>(-grad / (hess + 1)));
}

TEST(VectorTreesTest, PermutedOutputsPermuteLeaves) {
  VectorCase const c = MakeCase(kMissing, 4);
  VectorTree const tree = Grow(c);
  std::vector<std::size_t> const order{2, 0, 3, 1};
  VectorCase permuted = c;
  for (std::size_t k = 0; k < order.size(); ++k) permuted.gradients[k] = c.gradients[order[k]];
  VectorTree const found = Grow(permuted);
  // Gains are sums of doubles in the order of outputs, rounded to float once: no rounding differs in this case.
  EXPECT_EQ(found.shape, tree.shape);
  for (std::uint32_t k = 0; k < 4; ++k) {
    EXPECT_EQ(found.LeafValues(k), tree.LeafValues(static_cast<std::uint32_t>(order[k]))) << k;
  }
}

TEST(VectorTreesTest, LeavesAreKnownOfAllRows) {
  VectorCase c = MakeCase(kMissing, 3);
  c.of.params.subsample = 0.6f;
  Trainer trainer{testing::MakeDataset(c.of), BackendKind::kHost, 2};
  VectorTree const tree = trainer.GrowVectors(c.of.params, c.RowMajor(), 3, {});
  std::size_t const rows = c.of.values.rows;
  std::vector<NodeIndex> positions(rows);
  std::vector<std::uint8_t> sampled_out(rows);
  trainer.LeafPositions(positions, sampled_out);
  EXPECT_GT(std::accumulate(sampled_out.begin(), sampled_out.end(), 0), 100);
  std::vector<float> margins(rows * 3);
  for (std::uint32_t k = 0; k < 3; ++k) trainer.AddLeafValues(tree.LeafValues(k), margins.data() + k, 3);
  for (std::size_t r = 0; r < rows; ++r) {
    NodeIndex const leaf = reference::FindLeaf(tree.shape, c.of.values, r);
    ASSERT_EQ(positions[r], leaf) << r;
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(margins[r * 3 + k], tree.leaf_value[static_cast<std::size_t>(leaf) * 3 + k]) << r;
    }
  }
}

TEST(VectorTreesTest, TakeTurnsWithOrdinaryTrees) {
  VectorCase const c = MakeCase(kMissing, 2), wider = MakeCase(kMissing, 5);
  auto const data = testing::MakeDataset(c.of);
  Trainer trainer{data, BackendKind::kHost, 2};
  Tree const ordinary = trainer.Grow(c.of.params, c.of.gradients, {});
  VectorTree const two = trainer.GrowVectors(c.of.params, c.RowMajor(), 2, {});
  VectorTree const five = trainer.GrowVectors(wider.of.params, wider.RowMajor(), 5, {});
  EXPECT_EQ(two, Grow(c));
  EXPECT_EQ(five, Grow(wider));
  EXPECT_EQ(trainer.Grow(c.of.params, c.of.gradients, {}), ordinary);
  EXPECT_EQ(trainer.GrowVectors(c.of.params, c.RowMajor(), 2, {}), two);
}

TEST(VectorTreesTest, HeavyTailsOfOneOutputLeaveTheOthersTheirPrecision) {
  VectorCase c = MakeCase(kPlain, 2);
  VectorTree const calm = Grow(c);
  c.gradients[1][7].grad = 3e9f;
  c.of.params.max_depth = 1;
  VectorTree const tree = Grow(c);
  // The root's weight of the other output comes from the same integers.
  EXPECT_EQ(tree.weight[0], calm.weight[0]);
  EXPECT_NE(tree.weight[1], calm.weight[1]);
}

TEST(VectorTreesTest, RefuseWhatTheyDoNotHave) {
  VectorCase const c = MakeCase(kPlain, 2);
  auto const refused = [&](void (*set)(TreeCase*), std::vector<std::string> const& words) {
    VectorCase other = c;
    set(&other.of);
    return WhatIsWrong<Unsupported>([&] { Grow(other); }, words);
  };
  EXPECT_EQ(refused([](TreeCase* of) { of->params.sampling_method = SamplingMethod::kGoss; },
                    {"sampling_method is 'goss'", "uniform"}),
            "");
  EXPECT_EQ(refused(
                [](TreeCase* of) {
                  of->params.sampling_method = SamplingMethod::kGradientBased;
                  of->params.subsample = 0.5f;
                },
                {"sampling_method is 'gradient_based'", "uniform"}),
            "");
  Trainer trainer{testing::MakeDataset(c.of), BackendKind::kHost, 2};
  std::vector<GradientPair> gradients = c.RowMajor();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer.GrowVectors(c.of.params, gradients, 3, {}); },
                                         {"800 gradients of 3 outputs", "400 rows"}),
            "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer.GrowVectors(c.of.params, {}, 0, {}); }, {"0 outputs"}), "");
  auto const exact = MakeHostExactBuilder(host::SortColumns(MemorySource{c.of.values}, 2), 2);
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { exact->GrowVectors(c.of.params, gradients, 2, {}); },
                                     {"multi_output_tree", "trees by histograms on the host or on GPUs"}),
            "");
  gradients[31].hess = std::numeric_limits<float>::infinity();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer.GrowVectors(c.of.params, gradients, 2, {}); },
                                         {"Gradient of row 15", "inf"}),
            "");
}

}  // namespace
}  // namespace xgbgpu
