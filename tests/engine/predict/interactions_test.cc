// predict: interactions are Shapley interaction indices, by their definition and by sums of long doubles.
#include "predict/interactions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "backend/backend.h"
#include "predict/interactions_ops.h"
#include "predict/predictor.h"
#include "support/covered_trees.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {
namespace {

using testing::CoveredTree;
using testing::kUnit;
using testing::MemorySource;
using testing::Players;
using testing::WhatIsWrong;
using Model = testing::CoveredModel;

struct Shape {
  std::uint32_t outputs;
  FeatureIndex features;

  std::size_t columns() const { return std::size_t{features} + 1; }
};

std::vector<float> Predict(Model const& model, RowSource const& source, Shape const& shape, int threads = 1,
                           std::size_t first = 0) {
  std::vector<float> out(source.rows() * shape.outputs * shape.columns() * shape.columns(), -77.0f);
  host::PredictInteractions(source, model.Forest(), first, model.trees.size(),
                            {out.data(), source.rows(), shape.outputs, shape.features}, threads);
  return out;
}

/// The expected matrix of one row and output.
struct Expected {
  std::size_t n;
  std::vector<double> index;
  std::vector<double> error;

  explicit Expected(FeatureIndex features) : n{features}, index(n * n), error(n * n) {}
};

/// Adds the index of each pair of a path's features in both places.
void AddPathByHand(Players const& players, double value, Expected* to) {
  auto const d = static_cast<double>(players.size());
  for (auto const& [a, of_a] : players) {
    for (auto const& [b, of_b] : players) {
      if (a == b) continue;
      auto const sets = testing::SumsOverSets(players, {a, b});
      long double sum = 0, choices = 1;  // (d - 2 choose s)
      for (std::size_t s = 0; s < sets.size(); ++s) {
        sum += sets[s] / choices / static_cast<long double>(sets.size());
        choices = choices * static_cast<long double>(sets.size() - 1 - s) / static_cast<long double>(s + 1);
      }
      double const terms = std::abs(value) / 2 * static_cast<double>(sum);
      to->index[a * to->n + b] +=
          value / 2 * static_cast<double>(sum) * (of_a.one - of_a.zero) * (of_b.one - of_b.zero);
      // interactions.h derives the error. Below 2^-126 it is absolute: 2^-150 for each of at most 4 d products,
      // enlarged twice by 1 / min t, which is below 4 d^2.
      double const tiny = 64.0 * std::pow(d, 5.0) * 0x1p-150;
      to->error[a * to->n + b] +=
          (6.0 * d + 24) * kUnit * terms * std::max(of_a.one, of_a.zero) * std::max(of_b.one, of_b.zero) + tiny;
    }
  }
}

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

/// Expects that indices off the diagonal are right, and equal in both places, and that lines sum to contributions.
void ExpectNear(std::vector<float> const& out, Model const& model, std::size_t first, reference::Values const& values,
                Shape const& shape) {
  MemorySource const source{values};
  std::size_t const columns = shape.columns();
  std::vector<float> contributions(values.rows * shape.outputs * columns);
  host::PredictContributions(source, model.Forest(), first, model.trees.size(), false,
                             {contributions.data(), values.rows, shape.outputs, shape.features}, 1);
  for (std::size_t i = 0; i < values.rows * shape.outputs; ++i) {
    std::size_t const row = i / shape.outputs;
    float const* const got = out.data() + i * columns * columns;
    Expected const sum =
        SumByHand(model, first, values, row, static_cast<std::uint32_t>(i % shape.outputs), shape.features);
    for (std::size_t a = 0; a < shape.features; ++a) {
      // Each element is a sum of doubles, rounded to float once.
      double line = 0, rounding = 0;
      for (std::size_t b = 0; b < shape.features; ++b) {
        float const index = got[a * columns + b];
        line += index;
        rounding += kUnit * std::abs(index);
        ASSERT_EQ(index, got[b * columns + a]);
        if (a == b) continue;
        double const expected = sum.index[a * sum.n + b];
        ASSERT_NEAR(index, expected, sum.error[a * sum.n + b] + kUnit * std::abs(expected))
            << "row " << row << ", features " << a << " and " << b;
      }
      float const contribution = contributions[i * columns + a];
      ASSERT_NEAR(line, contribution, rounding + kUnit * std::abs(contribution) + 0x1p-45) << "row " << row;
      ASSERT_EQ(got[a * columns + columns - 1], 0.0f);
      ASSERT_EQ(got[(columns - 1) * columns + a], 0.0f);
    }
    ASSERT_EQ(got[columns * columns - 1], contributions[i * columns + columns - 1]);
  }
}

struct InteractionCase {
  char const* name;
  testing::DataShape data;
  FeatureIndex tested;
  std::vector<std::size_t> leaves;
  std::uint32_t outputs{1};
  bool chains{false};
  std::uint32_t levels{0};  ///< categories of features 0, 3, 6 …; 0: they are numbers
};

void PrintTo(InteractionCase const& c, std::ostream* os) { *os << c.name; }

class InteractionsTest : public ::testing::TestWithParam<InteractionCase> {
 protected:
  reference::Values values_{testing::RandomForestValues(GetParam().data, GetParam().levels, 80)};
  Model model_{testing::RandomCoveredModel(GetParam().leaves, GetParam().tested, GetParam().outputs, GetParam().chains,
                                           values_, 81, GetParam().levels)};
  Shape shape_{GetParam().outputs, std::max(GetParam().tested, static_cast<FeatureIndex>(GetParam().data.features))};
};

TEST_P(InteractionsTest, AreIndicesAndSumToContributions) {
  ExpectNear(Predict(model_, MemorySource{values_}, shape_), model_, 0, values_, shape_);
  std::size_t const half = model_.trees.size() / 2;
  ExpectNear(Predict(model_, MemorySource{values_, 5}, shape_, 2, half), model_, half, values_, shape_);
}

TEST_P(InteractionsTest, DoNotDependOnThreadsOrBatches) {
  auto const expected = testing::Bits(Predict(model_, MemorySource{values_}, shape_));
  for (int const threads : {2, 7}) {
    MemorySource const source{values_, 3U + static_cast<std::size_t>(threads)};
    ASSERT_EQ(testing::Bits(Predict(model_, source, shape_, threads)), expected) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, InteractionsTest,
    ::testing::Values(InteractionCase{"Stumps", {40, 3, 0.2}, 3, {2, 2, 2, 2}},
                      InteractionCase{"Leaves", {20, 3}, 3, {1, 1}},
                      InteractionCase{"TwoFeatures", {70, 2, 0.2}, 2, {3, 9}},
                      InteractionCase{"LeafAmongTrees", {20, 3, 0.2}, 3, {9, 1, 9}},
                      InteractionCase{"FewFeaturesOften", {40, 3, 0.2}, 3, {60, 64}},
                      InteractionCase{"Wide", {33, 12, 0.3}, 12, {64, 64}},
                      InteractionCase{"ManyOutputs", {18, 6, 0.1}, 6, {20, 30, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 5},
                      InteractionCase{"FeaturesBeyondTheData", {20, 4}, 7, {40, 40}},
                      InteractionCase{"FeaturesBeyondTheTrees", {20, 12}, 3, {40, 40}},
                      InteractionCase{"NothingStored", {17, 4, 1.0}, 4, {20, 20}},
                      InteractionCase{"DeepChains", {5, 60, 0.1}, 60, {36, 20}, 1, true},
                      InteractionCase{"LongerThanAChunk", {2, 90, 0.1}, 90, {80}, 1, true},
                      InteractionCase{"FewCategoriesOften", {40, 4, 0.1}, 4, {60, 64}, 2, false, 5},
                      InteractionCase{"ManyCategories", {40, 7, 0.1}, 7, {40, 1, 40}, 1, false, 1300},
                      InteractionCase{"DeepChainsOfCategories", {5, 60, 0.1}, 60, {36, 20}, 1, true, 40}),
    [](auto const& c) { return c.param.name; });

/// Returns the index of a pair by its definition, a sum over all sets of the other features.
double IndexByDefinition(CoveredTree const& t, reference::Values const& values, std::size_t row, std::uint32_t features,
                         std::uint32_t a, std::uint32_t b) {
  double index = 0;
  for (std::uint32_t set = 0; set < 1U << features; ++set) {
    if ((set >> a & 1) != 0 || (set >> b & 1) != 0) continue;
    int size = 0;
    for (std::uint32_t i = 0; i < features; ++i) size += static_cast<int>(set >> i & 1);
    auto const worth = [&](std::uint32_t more) { return testing::MeanKnowing(t, values, row, set | more); };
    double const together = worth(1U << a | 1U << b) - worth(1U << a) - worth(1U << b) + worth(0);
    index += std::tgamma(size + 1) * std::tgamma(features - size - 1) / std::tgamma(features) * together / 2;
  }
  return index;
}

class InteractionDefinitionTest : public ::testing::TestWithParam<int> {};

TEST_P(InteractionDefinitionTest, IsMet) {
  constexpr FeatureIndex kFeatures = 5;
  auto const seed = static_cast<std::uint64_t>(GetParam());
  std::uint32_t const levels = seed % 3 == 2 ? 4 : 0;
  auto const values = testing::RandomForestValues({6, kFeatures, 0.25}, levels, 90 + seed);
  Model const model =
      testing::RandomCoveredModel({2 + 3 * seed}, kFeatures, 1, seed % 2 == 1, values, 100 + seed, levels);
  for (std::size_t row = 0; row < values.rows; ++row) {
    Expected const sum = SumByHand(model, 0, values, row, 0, kFeatures);
    for (std::uint32_t a = 0; a < kFeatures; ++a) {
      for (std::uint32_t b = 0; b < kFeatures; ++b) {
        if (a == b) continue;
        // There are 2^5 sets, each with means in [-1, 1] that are sums of doubles: the error is far below 2^-40.
        EXPECT_NEAR(sum.index[a * kFeatures + b], IndexByDefinition(model.trees[0], values, row, kFeatures, a, b),
                    0x1p-40);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, InteractionDefinitionTest, ::testing::Range(0, 8));

TEST(InteractionSumsTest, HaveOnePlaceForEachPair) {
  InteractionSums const sums{7};
  std::vector<int> seen(sums.size());
  for (FeatureIndex a = 0; a < 7; ++a) {
    ++seen[sums.of(a)];
    for (FeatureIndex b = 0; b < a; ++b) {
      ++seen[sums.of(a, b)];
      EXPECT_EQ(sums.of(a, b), sums.of(b, a));
    }
  }
  EXPECT_EQ(seen, std::vector<int>(28, 1));
  EXPECT_EQ(InteractionSums{0}.size(), 0U);
}

TEST(InteractionsRangeTest, RefusesWhatIsNotThere) {
  auto const values = testing::RandomValues({4, 3}, 1);
  PathForest const forest = testing::RandomCoveredModel({5}, 3, 1, false, values, 2).Forest();
  MemorySource const source{values};
  std::vector<float> out(4 * 4 * 4);
  auto const wrong = [&](std::size_t last, InteractionsView const& view, std::vector<std::string> const& parts) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { host::PredictInteractions(source, forest, 0, last, view, 1); }, parts),
              "");
  };
  wrong(2, {out.data(), 4, 1, 3}, {"Trees 0 to 2", "of a forest of 1"});
  wrong(1, {out.data(), 3, 1, 3}, {"3 rows", "data have 4"});
  wrong(1, {out.data(), 4, 0, 3}, {"0 outputs", "are for 1"});
  wrong(1, {out.data(), 4, 1, 2}, {"2 features", "data have 3"});
}

TEST(InteractionsRangeTest, NoDeviceIsAnError) {
  std::string why_not;
  if (CudaAvailable(&why_not)) GTEST_SKIP() << "this test is for builds without a usable CUDA device";
  std::vector<float> out(2 * 4 * 4, 5.0f);
  auto const predict = [&] {
    MemorySource const source{testing::RandomValues({2, 3}, 1)};
    DeviceBackend::Get().PredictInteractions(source, {}, 0, 0, {out.data(), 2, 1, 3}, 0, 1);
  };
  EXPECT_EQ(WhatIsWrong<Error>(predict, {}), "");
  EXPECT_EQ(out, std::vector<float>(2 * 4 * 4, 5.0f));
}

TEST(InteractionsRangeTest, NoTreesAreNothing) {
  std::vector<float> out(2 * 4 * 4, 5.0f);
  host::PredictInteractions(MemorySource{testing::RandomValues({2, 3}, 1)}, {}, 0, 0, {out.data(), 2, 1, 3}, 1);
  EXPECT_EQ(out, std::vector<float>(2 * 4 * 4, 0.0f));
}

}  // namespace
}  // namespace xgbgpu
