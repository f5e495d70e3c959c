// predict: contributions are Shapley values, by their definition and by sums of long doubles; those of a row sum to its
// margin.
#include "predict/contributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>

#include "backend/backend.h"
#include "predict/predictor.h"
#include "predict/quadrature.h"
#include "support/covered_trees.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {
namespace {

using testing::CoveredTree;
using testing::GivenTree;
using testing::kUnit;
using testing::Mean;
using testing::MeanKnowing;
using testing::MemorySource;
using testing::Players;
using testing::Random;
using testing::WhatIsWrong;
using Model = testing::CoveredModel;

TEST(QuadratureTest, IntegratesPolynomials) {
  for (int const n : {1, 2, 3, 4, 5, 8, 16, 31, 64, 300}) {
    auto const nodes = GaussLegendre(n);
    ASSERT_EQ(nodes.size(), static_cast<std::size_t>(n));
    for (int degree = 0; degree < 2 * n; ++degree) {
      double sum = 0;
      for (QuadratureNode const& node : nodes) sum += node.weight * std::pow(node.at, degree);
      // Nodes are off by a few 2^-53. The derivative of the weights, about n^2, and the power t^degree enlarge that.
      double const bound = (n * n + 2.0 * degree + 16) * 0x1p-52;
      ASSERT_NEAR(sum, 1.0 / (degree + 1), bound) << n << " nodes, degree " << degree;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_GT(nodes[i].at, i == 0 ? 0.0 : nodes[i - 1].at);
      EXPECT_EQ(nodes[i].at, nodes[nodes.size() - 1 - i].rest);
      EXPECT_GT(nodes[i].weight, 0.0);
    }
  }
}

/// Returns Shapley values by their definition, a sum over all sets of `features` features.
std::vector<double> ShapleyByDefinition(CoveredTree const& t, reference::Values const& values, std::size_t row,
                                        std::uint32_t features) {
  std::vector<double> worth(std::size_t{1} << features), phi(features);
  for (std::uint32_t set = 0; set < worth.size(); ++set) worth[set] = MeanKnowing(t, values, row, set);
  for (std::uint32_t set = 0; set < worth.size(); ++set) {
    int size = 0;
    for (std::uint32_t i = 0; i < features; ++i) size += static_cast<int>(set >> i & 1);
    for (std::uint32_t i = 0; i < features; ++i) {
      if (set >> i & 1) continue;
      double const weight = std::tgamma(size + 1) * std::tgamma(features - size) / std::tgamma(features + 1);
      phi[i] += weight * (worth[set | 1U << i] - worth[set]);
    }
  }
  return phi;
}

/// The sums of one row, and how far floats may be from them.
struct Expected {
  std::vector<double> phi;
  std::vector<double> error;

  explicit Expected(std::size_t features) : phi(features), error(features) {}
};

/// Adds a path whose features are `players`.
void AddPathByHand(Players const& players, double value, Expected* to) {
  std::size_t const d = players.size();
  for (auto const& [feature, own] : players) {
    auto const sets = testing::SumsOverSets(players, {feature});
    long double sum = 0, choices = 1;  // (d - 1 choose s)
    for (std::size_t s = 0; s < d; ++s) {
      sum += sets[s] / choices / static_cast<long double>(d);
      choices = choices * static_cast<long double>(d - 1 - s) / static_cast<long double>(s + 1);
    }
    double const terms = std::abs(value) * static_cast<double>(sum);
    to->phi[feature] += value * static_cast<double>(sum) * (own.one - own.zero);
    // contributions.h derives the error. Below 2^-126 it is absolute: 2^-150 for each of at most 4 d products, enlarged
    // by 1 / min t, which is below 4 d^2.
    double const tiny = 16.0 * std::pow(static_cast<double>(d), 3.0) * 0x1p-150;
    to->error[feature] += (6.0 * static_cast<double>(d) + 12) * kUnit * terms * std::max(own.one, own.zero) + tiny;
  }
}

struct Shape {
  std::uint32_t outputs;
  FeatureIndex features;
};

std::vector<float> Predict(Model const& model, RowSource const& source, Shape const& shape, bool approximate = false,
                           int threads = 1, std::size_t first = 0) {
  std::vector<float> out(source.rows() * shape.outputs * (std::size_t{shape.features} + 1), -77.0f);
  host::PredictContributions(source, model.Forest(), first, model.trees.size(), approximate,
                             {out.data(), source.rows(), shape.outputs, shape.features}, threads);
  return out;
}

/// Returns the expected sums of an output, over trees `first` and later.
Expected SumByHand(Model const& model, std::size_t first, reference::Values const& values, std::size_t row,
                   std::uint32_t output, FeatureIndex features) {
  Expected sum{features};
  for (std::size_t t = first; t < model.trees.size(); ++t) {
    if (model.trees[t].tree.output != output) continue;
    testing::ForEachPath(model.trees[t], values, row,
                         [&](Players const& players, double value) { AddPathByHand(players, value, &sum); });
  }
  return sum;
}

void ExpectNear(std::vector<float> const& out, Model const& model, std::size_t first, reference::Values const& values,
                Shape const& shape) {
  std::size_t const columns = std::size_t{shape.features} + 1;
  for (std::size_t row = 0; row < values.rows; ++row) {
    for (std::uint32_t o = 0; o < shape.outputs; ++o) {
      float const* const got = out.data() + (row * shape.outputs + o) * columns;
      Expected const sum = SumByHand(model, first, values, row, o, shape.features);
      double margin = 0, mean = 0, total = 0, error = 0;
      for (FeatureIndex f = 0; f < shape.features; ++f) {
        double const bound = sum.error[f] + kUnit * std::abs(sum.phi[f]);  // with the last rounding
        ASSERT_NEAR(got[f], sum.phi[f], bound) << "row " << row << ", output " << o << ", feature " << f;
        total += got[f];
        error += bound;
      }
      for (std::size_t t = first; t < model.trees.size(); ++t) {
        CoveredTree const& tree = model.trees[t];
        if (tree.tree.output != o) continue;
        margin += tree.Leaf(static_cast<std::size_t>(tree.tree.Leaf(values, row)));
        mean += Mean(tree);
      }
      // The mean is a sum of doubles, rounded once. The second unit is for deep trees, whose sums are longer.
      ASSERT_NEAR(got[shape.features], mean, 2 * kUnit * (1 + std::abs(mean)));
      ASSERT_NEAR(total + got[shape.features], margin, error + 2 * kUnit * (1 + std::abs(mean)));
    }
  }
}

struct ShapCase {
  char const* name;
  testing::DataShape data;
  FeatureIndex tested;
  std::vector<std::size_t> leaves;
  std::uint32_t outputs{1};
  bool chains{false};
  std::uint32_t levels{0};  ///< categories of features 0, 3, 6 …; 0: they are numbers
};

void PrintTo(ShapCase const& c, std::ostream* os) { *os << c.name; }

class ContributionsTest : public ::testing::TestWithParam<ShapCase> {
 protected:
  reference::Values values_{testing::RandomForestValues(GetParam().data, GetParam().levels, 80)};
  Model model_{testing::RandomCoveredModel(GetParam().leaves, GetParam().tested, GetParam().outputs, GetParam().chains,
                                           values_, 81, GetParam().levels)};
  Shape shape_{GetParam().outputs, std::max(GetParam().tested, static_cast<FeatureIndex>(GetParam().data.features))};
};

TEST_P(ContributionsTest, AreShapleyValuesAndSumToMargins) {
  ExpectNear(Predict(model_, MemorySource{values_}, shape_), model_, 0, values_, shape_);
  std::size_t const half = model_.trees.size() / 2;
  ExpectNear(Predict(model_, MemorySource{values_, 5}, shape_, false, 2, half), model_, half, values_, shape_);
}

TEST_P(ContributionsTest, DoNotDependOnThreadsOrBatches) {
  for (bool const approximate : {false, true}) {
    auto const expected = testing::Bits(Predict(model_, MemorySource{values_}, shape_, approximate));
    for (int const threads : {2, 3, 7}) {
      MemorySource const source{values_, 3U + static_cast<std::size_t>(threads)};
      ASSERT_EQ(testing::Bits(Predict(model_, source, shape_, approximate, threads)), expected) << threads;
    }
  }
}

TEST_P(ContributionsTest, ApproximateOnesAreStepsBetweenMeans) {
  auto const out = Predict(model_, MemorySource{values_}, shape_, true);
  for (std::size_t row = 0; row < values_.rows; ++row) {
    for (std::uint32_t o = 0; o < shape_.outputs; ++o) {
      std::vector<double> sum(std::size_t{shape_.features} + 1);
      double error = kUnit;
      for (CoveredTree const& t : model_.trees) {
        if (t.tree.output != o) continue;
        sum.back() += Mean(t);
        for (std::size_t n = 0; t.tree.left[n] != kNoNode;) {
          auto const next =
              static_cast<std::size_t>(t.tree.GoesLeft(n, values_, row) ? t.tree.left[n] : t.tree.right[n]);
          // Leaves are within [-1, 1], and so are means. Each step has two, which are rounded to float.
          sum[t.tree.feature[n]] += MeanKnowing(t, values_, row, 0, next) - MeanKnowing(t, values_, row, 0, n);
          error += 2 * kUnit;
          n = next;
        }
      }
      for (std::size_t f = 0; f < sum.size(); ++f) {
        ASSERT_NEAR(out[(row * shape_.outputs + o) * sum.size() + f], sum[f], error + kUnit * std::abs(sum[f]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ContributionsTest,
    ::testing::Values(
        ShapCase{"Stumps", {40, 3, 0.2}, 3, {2, 2, 2, 2}}, ShapCase{"Leaves", {20, 3}, 3, {1, 1}},
        ShapCase{"LeafAmongTrees", {20, 3, 0.2}, 3, {9, 1, 9}}, ShapCase{"OneFeatureOften", {40, 1, 0.2}, 1, {30, 7}},
        ShapCase{"FewFeaturesOften", {40, 3, 0.2}, 3, {60, 64}}, ShapCase{"Wide", {33, 12, 0.3}, 12, {64, 64, 64}},
        ShapCase{"ManyOutputs", {18, 6, 0.1}, 6, {20, 30, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 5},
        ShapCase{"FeaturesBeyondTheData", {20, 4}, 7, {40, 40}},
        ShapCase{"FeaturesBeyondTheTrees", {20, 40}, 3, {40, 40}}, ShapCase{"NothingStored", {17, 4, 1.0}, 4, {20, 20}},
        ShapCase{"DeepChains", {19, 90, 0.1}, 90, {61, 61, 40}, 1, true},
        ShapCase{"DeepChainOfFewFeatures", {19, 5, 0.1}, 5, {61, 61}, 1, true},
        ShapCase{"LongerThanAChunk", {3, 400, 0.1}, 400, {120, 9, 120}, 1, true},
        ShapCase{"OneCategoricalFeatureOften", {60, 1, 0.1}, 1, {30, 7}, 1, false, 20},
        ShapCase{"FewCategoriesOften", {60, 4, 0.1}, 4, {60, 64}, 1, false, 5},
        ShapCase{"ManyCategories", {60, 7, 0.1}, 7, {40, 1, 40, 40}, 2, false, 1300},
        ShapCase{"CategoriesBeyondTheData", {40, 4}, 7, {40, 40}, 1, false, 40},
        ShapCase{"DeepChainsOfCategories", {19, 90, 0.1}, 90, {61, 61, 40}, 1, true, 3},
        ShapCase{"CategoriesLongerThanAChunk", {4, 400, 0.1}, 400, {120, 9, 120}, 1, true, 40}),
    [](auto const& c) { return c.param.name; });

class DefinitionTest : public ::testing::TestWithParam<int> {};

TEST_P(DefinitionTest, IsMet) {
  constexpr FeatureIndex kFeatures = 6;
  auto const seed = static_cast<std::uint64_t>(GetParam());
  std::uint32_t const levels = seed % 3 == 2 ? 4 : 0;
  auto const values = testing::RandomForestValues({12, kFeatures, 0.25}, levels, 90 + seed);
  Model const model =
      testing::RandomCoveredModel({2 + 3 * seed}, kFeatures, 1, seed % 2 == 1, values, 100 + seed, levels);
  auto const out = Predict(model, MemorySource{values}, {1, kFeatures});
  for (std::size_t row = 0; row < values.rows; ++row) {
    auto const phi = ShapleyByDefinition(model.trees[0], values, row, kFeatures);
    Expected const sum = SumByHand(model, 0, values, row, 0, kFeatures);
    for (FeatureIndex f = 0; f < kFeatures; ++f) {
      // There are 2^6 sets, each with a mean in [-1, 1] that is a sum of doubles: the error is far below 2^-40.
      EXPECT_NEAR(sum.phi[f], phi[f], 0x1p-40);
      EXPECT_NEAR(out[row * (kFeatures + 1) + f], phi[f], sum.error[f] + kUnit * std::abs(phi[f]) + 0x1p-40);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, DefinitionTest, ::testing::Range(0, 12));

/// Makes a tree whose leaf is 1 if feature 0 is below `threshold`, else 2.
CoveredTree Stump(float threshold, bool default_left, std::vector<float> covers = {4, 3, 1}) {
  GivenTree tree;
  tree.Resize(3);
  tree.left[0] = 1;
  tree.right[0] = 2;
  tree.value = {threshold, 1.0f, 2.0f};
  tree.default_left[0] = default_left ? 1 : 0;
  return {tree, std::move(covers)};
}

std::vector<float> OfOneValue(CoveredTree const& tree, std::vector<Entry> const& row, bool approximate) {
  return Predict({{tree}}, MemorySource{{row}, 1}, {1, 1}, approximate);
}

TEST(ContributionsSplitTest, ComparesAsForests) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (bool const approximate : {false, true}) {
    auto const expect = [&](CoveredTree const& tree, std::vector<Entry> const& row, float phi) {
      EXPECT_EQ(OfOneValue(tree, row, approximate), (std::vector<float>{phi, 1.25f}));
    };
    float const left = -0.25f, right = 0.75f;
    expect(Stump(0.5f, true), {{0, 0.5f}}, right);
    expect(Stump(0.5f, true), {{0, std::nextafter(0.5f, 0.0f)}}, left);
    expect(Stump(0.5f, true), {{0, kInf}}, right);
    expect(Stump(kInf, true), {{0, kInf}}, right);
    expect(Stump(-kInf, true), {{0, -kInf}}, right);
    expect(Stump(0.5f, false), {{0, -kInf}}, left);
    expect(Stump(nan, true), {{0, -kInf}}, right);
    expect(Stump(nan, true), {{0, kInf}}, right);
    for (bool const default_left : {false, true}) {
      expect(Stump(0.5f, default_left), {}, default_left ? left : right);
      expect(Stump(0.5f, default_left), {{0, nan}}, default_left ? left : right);
    }
    expect(Stump(0.5f, true), {{0, 0.0f}, {0, 1.0f}}, right);  // the last value of a feature counts
  }
}

TEST(ContributionsSplitTest, TakesCategoriesAsForests) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (bool const approximate : {false, true}) {
    for (bool const default_left : {false, true}) {
      CoveredTree stump = Stump(nan, default_left);
      stump.tree.categories = {{1, 40}, {}, {}};
      auto const expect = [&](std::vector<Entry> const& row, bool left) {
        EXPECT_EQ(OfOneValue(stump, row, approximate), (std::vector<float>{left ? -0.25f : 0.75f, 1.25f}));
      };
      for (float const x : {1.0f, 1.5f, 40.0f}) expect({{0, x}}, false);
      for (float const x : {0.0f, 2.0f, 41.0f, 64.0f, 1e7f, 16777216.0f, 1e20f, -1.0f, -0.5f}) expect({{0, x}}, true);
      expect({}, default_left);
      expect({{0, nan}}, default_left);
    }
  }
}

/// Makes a tree that tests feature 0 by `first`, then, on the left, by `second`. Its leaves, from left to right, are 1,
/// 2 and 4.
CoveredTree TwoTests(std::vector<std::uint32_t> first, std::vector<std::uint32_t> second, float threshold) {
  GivenTree tree;
  tree.Resize(5);
  tree.left = {1, 3, kNoNode, kNoNode, kNoNode};
  tree.right = {2, 4, kNoNode, kNoNode, kNoNode};
  tree.value = {threshold, threshold, 4.0f, 1.0f, 2.0f};
  tree.categories = {std::move(first), std::move(second), {}, {}, {}};
  return {tree, {8, 4, 4, 2, 2}};
}

TEST(ContributionsSplitTest, TestsOfOneFeatureAreOnePlayer) {
  // The only player gets all that the leaf has above the mean, which is 1/4 + 2/4 + 4/2.
  auto const expect = [&](CoveredTree const& tree, float x, float leaf) {
    for (bool const approximate : {false, true}) {
      EXPECT_EQ(OfOneValue(tree, {{0, x}}, approximate), (std::vector<float>{leaf - 2.75f, 2.75f})) << x;
    }
  };
  for (float const x : {0.0f, 4.0f, 90.0f, -1.0f, 1e9f}) expect(TwoTests({1, 2, 50}, {2, 3, 33}, 0), x, 1.0f);
  for (float const x : {3.0f, 33.0f}) expect(TwoTests({1, 2, 50}, {2, 3, 33}, 0), x, 2.0f);
  for (float const x : {1.0f, 2.0f, 50.0f}) expect(TwoTests({1, 2, 50}, {2, 3, 33}, 0), x, 4.0f);
  // A whole word of categories goes right. What is beyond the words goes left.
  std::vector<std::uint32_t> word(32);
  std::iota(word.begin(), word.end(), 32U);
  for (float const x : {32.0f, 40.0f, 63.0f}) expect(TwoTests(word, {1}, 0), x, 4.0f);
  for (float const x : {31.0f, 64.0f}) expect(TwoTests(word, {1}, 0), x, 1.0f);
  // No training makes such a tree, but a model may have it: one test is by category and one by number.
  for (float const x : {0.0f, -1.0f, 2.4f}) expect(TwoTests({1}, {}, 2.5f), x, 1.0f);
  for (float const x : {2.5f, 70.0f}) expect(TwoTests({1}, {}, 2.5f), x, 2.0f);
  for (float const x : {1.0f, 1.9f}) expect(TwoTests({1}, {}, 2.5f), x, 4.0f);
}

TEST(ContributionsCoverTest, MayBeZeroAndNeedNotAddUp) {
  for (bool const approximate : {false, true}) {
    EXPECT_EQ(OfOneValue(Stump(0.5f, true, {0, 0, 0}), {{0, 0.0f}}, approximate), (std::vector<float>{-0.5f, 1.5f}));
    EXPECT_EQ(OfOneValue(Stump(0.5f, true, {2, 0, 2}), {{0, 0.0f}}, approximate), (std::vector<float>{-1.0f, 2.0f}));
    EXPECT_EQ(OfOneValue(Stump(0.5f, true, {2, 0, 2}), {{0, 1.0f}}, approximate), (std::vector<float>{0.0f, 2.0f}));
    // Shares are 1/2 and 1/4, as XGBoost takes them. So the mean is 1, and the row still sums to its margin.
    EXPECT_EQ(OfOneValue(Stump(0.5f, true, {4, 2, 1}), {{0, 1.0f}}, approximate), (std::vector<float>{1.0f, 1.0f}));
  }
}

TEST(ContributionsAddTest, RefusesWrongCovers) {
  PathForest forest;
  CoveredTree const good = Stump(0.5f, true);
  good.tree.AddTo(&forest, good.covers);
  auto const refused = [&](CoveredTree const& t, std::vector<std::string> const& parts) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { t.tree.AddTo(&forest, t.covers); }, parts), "");
    EXPECT_EQ(forest.trees(), 1U);
    EXPECT_EQ(forest.paths().size(), 2U);
  };
  refused(Stump(0.5f, true, {4, 3}), {"tree 1", "3 and (sum_hess) 2"});
  refused(Stump(0.5f, true, {4, -3, 1}), {"sum_hess of node 1 of tree 1 is -3", "0 or more"});
  refused(Stump(0.5f, true, {4, 3, std::numeric_limits<float>::infinity()}), {"node 2 of tree 1 is inf"});
  refused(Stump(0.5f, true, {std::numeric_limits<float>::quiet_NaN(), 3, 1}), {"node 0 of tree 1 is nan"});
  CoveredTree twice = good;
  twice.tree.right[0] = 1;
  refused(twice, {"Node 1 of tree 1", "more than one parent"});
}

TEST(ContributionsRangeTest, RefusesWhatIsNotThere) {
  CoveredTree tree = Stump(0.5f, true);
  tree.tree.output = 1;
  tree.tree.feature[0] = 2;
  PathForest forest;
  tree.tree.AddTo(&forest, tree.covers);
  MemorySource const source{testing::RandomValues({4, 1}, 1)};
  std::vector<float> out(4 * 2 * 4);
  auto const wrong = [&](std::size_t last, ContributionsView const& view, std::vector<std::string> const& parts) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::PredictContributions(source, forest, 0, last, false, view, 1); },
                                           parts),
              "");
  };
  wrong(2, {out.data(), 4, 2, 3}, {"Trees 0 to 2", "of a forest of 1"});
  wrong(1, {out.data(), 3, 2, 3}, {"3 rows", "data have 4"});
  wrong(1, {out.data(), 4, 1, 3}, {"1 outputs", "are for 2"});
  wrong(1, {out.data(), 4, 2, 2}, {"2 features", "data have 1", "test 3"});
  MemorySource const beyond{{{{5, 1.0f}}}, 1};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  host::PredictContributions(beyond, forest, 0, 1, false, {out.data(), 1, 2, 3}, 1);
                },
                {"Row 0", "feature 5", "0 to 2"}),
            "");
}

TEST(ContributionsRangeTest, NoDeviceIsAnError) {
  std::string why_not;
  if (CudaAvailable(&why_not)) GTEST_SKIP() << "this test is for builds without a usable CUDA device";
  std::vector<float> out(8, 5.0f);
  auto const predict = [&] {
    MemorySource const source{testing::RandomValues({2, 3}, 1)};
    DeviceBackend::Get().PredictContributions(source, {}, 0, 0, false, {out.data(), 2, 1, 3}, 0, 1);
  };
  EXPECT_EQ(WhatIsWrong<Error>(predict, {}), "");
  EXPECT_EQ(out, std::vector<float>(8, 5.0f));
}

TEST(ContributionsRangeTest, NoTreesAreNothing) {
  std::vector<float> out(8, 5.0f);
  host::PredictContributions(MemorySource{testing::RandomValues({2, 3}, 1)}, {}, 0, 0, false, {out.data(), 2, 1, 3}, 1);
  EXPECT_EQ(out, std::vector<float>(8, 0.0f));
}

}  // namespace
}  // namespace xgbgpu
