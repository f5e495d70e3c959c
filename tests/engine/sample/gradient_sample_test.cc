// sample: rows chosen by their gradients; sizes, means and corners. trees_test.cc compares trees with the reference's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/gradient.h"
#include "sample/sample.h"
#include "sample/sample_ops.h"
#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

inline bool operator==(GradientPair a, GradientPair b) { return a.grad == b.grad && a.hess == b.hess; }

namespace {

using testing::Random;
using testing::WhatIsWrong;
using Gradients = std::vector<GradientPair>;

struct Sample {
  std::vector<RowIndex> rows;
  Gradients gradients;  ///< gradients of all rows, zero outside the sample
};

Sample Take(TrainParams const& params, std::uint32_t tree, Gradients const& gradients, int threads = 2) {
  std::size_t const n = gradients.size();
  std::vector<RowRecord> records(n);
  std::vector<std::size_t> counts(host::SampleChunks(n));
  Sample sample{{}, Gradients(n, {7.0f, 7.0f})};  // anything may be there before
  records.resize(
      host::SampleRows(params, tree, gradients, counts, records, sample.gradients, threads, Shard::Whole(n)));
  for (RowRecord const& record : records) sample.rows.push_back(record.row);
  return sample;
}

TrainParams GradientBased(float subsample) {
  TrainParams params;
  params.sampling_method = SamplingMethod::kGradientBased;
  params.subsample = subsample;
  return params;
}

TrainParams Goss(float top, float other) {
  TrainParams params;
  params.sampling_method = SamplingMethod::kGoss;
  params.top_rate = top;
  params.other_rate = other;
  return params;
}

/// Makes gradients of logistic loss with weights over three decades.
Gradients Weighted(std::size_t n, std::uint64_t seed) {
  Random random{seed};
  Gradients gradients;
  for (std::size_t i = 0; i < n; ++i) {
    auto const p = static_cast<float>(random.Uniform());
    auto const weight = static_cast<float>(std::pow(10.0, 3 * random.Uniform() - 2));
    gradients.push_back({weight * (random.Uniform() < 0.5 ? p : p - 1), weight * p * (1 - p)});
  }
  return gradients;
}

/// Makes gradients with magnitudes over `decades` up to 10^largest, some of them zero, and some at both ends of floats.
Gradients HeavyTailed(std::size_t n, double largest, double decades, std::uint64_t seed) {
  Random random{seed};
  auto const magnitude = [&] {
    double const x = random.Uniform() < 0.1 ? 0 : std::pow(10.0, largest - decades * random.Uniform());
    return static_cast<float>(std::min(x, static_cast<double>(std::numeric_limits<float>::max())));
  };
  Gradients gradients;
  for (std::size_t i = 0; i < n; ++i) {
    float const g = magnitude(), h = magnitude();
    gradients.push_back({random.Uniform() < 0.5 ? g : -g, h});
  }
  return gradients;
}

/// Returns the chance of each row: makes the rule from the keys of all rows, and asks it for each.
std::vector<double> Chances(TrainParams const& params, Gradients const& gradients) {
  std::vector<std::uint32_t> keys;
  for (GradientPair v : gradients) keys.push_back(KeyOf(v, params.sampling_method));
  std::uint32_t const first = FirstToldApart(*std::max_element(keys.begin(), keys.end()));
  std::vector<std::uint64_t> counts(kKeyBins);
  for (std::uint32_t key : keys) ++counts[KeyBin(key, first)];
  SampleTarget const target = MakeSampleTarget(params, gradients.size());
  std::uint32_t bin = 0;  // the highest bin below the threshold
  KeyTotals totals{gradients.size(), 0, 0}, of_bin{0, counts[0], 0};
  for (std::uint32_t b = 0; b < kKeyBins; ++b) {
    totals.count = counts[b];
    totals.above -= counts[b];
    totals.sum += counts[b] * KeyValue(b);
    if (!IsBelowThreshold(target, b, totals)) continue;
    bin = b;
    of_bin = totals;
  }
  SampleRule const rule = MakeSampleRule(target, first, bin, of_bin);
  std::vector<double> chances;
  for (std::uint32_t key : keys) chances.push_back(static_cast<double>(ChanceOf(rule, key)) / 4294967296.0);
  return chances;
}

/// Returns how far chances of this mean may be off: the rate is a float, and each is rounded down to a multiple of
/// 2^-32.
double ChanceError(double mean) { return mean * 0x1p-24 + 0x1p-32; }

double Sum(std::vector<double> const& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum;
}

struct Case {
  char const* name;
  TrainParams params;
  double share;  ///< expected part of the rows
};

std::vector<Case> Cases() {
  return {{"GradientBased01", GradientBased(0.1f), 0.1},   {"GradientBased50", GradientBased(0.5f), 0.5},
          {"GradientBased99", GradientBased(0.99f), 0.99}, {"Goss", Goss(0.2f, 0.1f), 0.3},
          {"GossSmall", Goss(0.01f, 0.04f), 0.05},         {"GossAll", Goss(0.75f, 0.25f), 1.0}};
}

class GradientSampleTest : public ::testing::TestWithParam<Case> {};

TEST_P(GradientSampleTest, EqualsTheReferenceWithAnyNumberOfThreads) {
  for (std::size_t n : {1U, 2U, 5U, 1000U, 40001U}) {
    auto const gradients = Weighted(n, 3 + n);
    TrainParams params = GetParam().params;
    params.seed = 12;
    auto const expected = reference::SampleRows(gradients, params, 9);
    for (int threads : {1, 2, 7}) {
      Sample const sample = Take(params, 9, gradients, threads);
      EXPECT_EQ(sample.rows, expected.rows) << n;
      EXPECT_EQ(sample.gradients, expected.gradients) << n;
    }
  }
}

TEST_P(GradientSampleTest, EqualsTheReferenceWhateverTheMagnitudes) {
  for (auto const& [largest, decades] : {std::pair{0.0, 4.0}, {6.0, 12.0}, {-30.0, 10.0}, {-37.5, 8.0}, {38.6, 80.0}}) {
    auto const gradients = HeavyTailed(3000, largest, decades, 21);
    auto const expected = reference::SampleRows(gradients, GetParam().params, 4);
    Sample const sample = Take(GetParam().params, 4, gradients);
    EXPECT_GT(sample.rows.size(), 0U);
    EXPECT_EQ(sample.rows, expected.rows) << largest;
    for (RowIndex r : sample.rows) {
      GradientPair const v = expected.gradients[r];
      // The reference knows nothing of the largest float.
      if (std::isfinite(v.grad) && std::isfinite(v.hess)) {
        EXPECT_EQ(sample.gradients[r], v) << largest;
      }
    }
  }
}

TEST_P(GradientSampleTest, ChancesAddUpToTheSizeWanted) {
  for (std::size_t n : {3U, 100U, 30000U}) {
    for (bool equal : {false, true}) {
      Gradients gradients = Weighted(n, 77 + n);
      if (equal) gradients.assign(n, {-0.5f, 0.25f});
      auto const rows = static_cast<double>(n);
      double const share = GetParam().share;
      EXPECT_NEAR(Sum(Chances(GetParam().params, gradients)), share * rows, ChanceError(share) * rows) << n << equal;
    }
  }
}

TEST_P(GradientSampleTest, SumsAreUnbiased) {
  constexpr std::size_t kRows = 2000;
  constexpr std::uint32_t kTrees = 3000;
  auto const gradients = Weighted(kRows, 5);
  auto const chances = Chances(GetParam().params, gradients);
  // The sum over rows of v / p · [drawn] has the variance Σ v² (1 - p) / p, and a mean of T such sums has that over
  // T. This must also hold for a subset of the rows, because a leaf is one.
  for (std::size_t every : {1U, 7U}) {
    double exact[2]{}, magnitudes[2]{}, variance[2]{}, mean[2]{}, size = 0, size_variance = 0;
    for (std::size_t r = 0; r < kRows; r += every) {
      double const v[2] = {static_cast<double>(gradients[r].grad), static_cast<double>(gradients[r].hess)};
      for (int k = 0; k < 2; ++k) {
        exact[k] += v[k];
        magnitudes[k] += std::fabs(v[k]);
        variance[k] += v[k] * v[k] * (1 - chances[r]) / chances[r];
      }
      size_variance += chances[r] * (1 - chances[r]);
    }
    for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
      Sample const sample = Take(GetParam().params, tree, gradients, 1);
      for (std::size_t r = 0; r < kRows; r += every) {
        mean[0] += static_cast<double>(sample.gradients[r].grad) / kTrees;
        mean[1] += static_cast<double>(sample.gradients[r].hess) / kTrees;
      }
      size += static_cast<double>(
                  std::count_if(sample.rows.begin(), sample.rows.end(), [&](RowIndex r) { return r % every == 0; })) /
              kTrees;
    }
    // The bound is five standard errors, which are exceeded once in 1.7 million by chance. Also, gradients divided by
    // chances are rounded to floats, by 2^-24 of themselves; six million additions in double add less than 2^-29 of
    // all.
    for (int k = 0; k < 2; ++k) {
      double const rounding = magnitudes[k] * 0x1p-23;
      EXPECT_NEAR(mean[k], exact[k], 5 * std::sqrt(variance[k] / kTrees) + rounding) << (k == 0 ? "grad" : "hess");
    }
    double const expected = GetParam().share * kRows;
    if (every == 1) {
      EXPECT_NEAR(size, expected, 5 * std::sqrt(size_variance / kTrees) + kRows * ChanceError(GetParam().share));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, GradientSampleTest, ::testing::ValuesIn(Cases()),
                         [](auto const& c) { return std::string{c.param.name}; });

TEST(GradientBasedTest, ChanceIsInProportionToTheKeyUpToOne) {
  constexpr std::size_t kRows = 20000;
  auto const gradients = Weighted(kRows, 8);
  auto const chances = Chances(GradientBased(0.3f), gradients);
  double most = 0, least = std::numeric_limits<double>::infinity(), least_chance = 1;
  std::size_t certain = 0;
  for (std::size_t r = 0; r < kRows; ++r) {
    if (chances[r] == 1) {
      ++certain;
      continue;
    }
    double const g = static_cast<double>(gradients[r].grad), h = static_cast<double>(gradients[r].hess);
    double const ratio = chances[r] / std::sqrt(g * g + 0.1 * h * h);
    most = std::max(most, ratio);
    least = std::min(least, ratio);
    least_chance = std::min(least_chance, chances[r]);
  }
  EXPECT_GT(certain, kRows / 20);
  EXPECT_LT(certain, kRows / 3);
  // Keys are rounded down to nine significant bits, by at most one part in 256. Before that at most eight float
  // operations are off by 2^-24 each, in either direction. Chances are rounded down to multiples of 2^-32.
  EXPECT_LT(most / least, (1 + 0x1p-8) * (1 + 0x1p-20) * (1 + 0x1p-32 / least_chance));
}

TEST(GradientBasedTest, HasLessVarianceThanAUniformSample) {
  constexpr std::size_t kRows = 5000;
  auto const gradients = Weighted(kRows, 9);
  auto const chances = Chances(GradientBased(0.1f), gradients);
  double by_gradient = 0, uniform = 0;
  for (std::size_t r = 0; r < kRows; ++r) {
    double const g = static_cast<double>(gradients[r].grad);
    by_gradient += g * g * (1 - chances[r]) / chances[r];
    uniform += g * g * 0.9 / 0.1;
  }
  EXPECT_LT(by_gradient, 0.5 * uniform);
}

TEST(GradientBasedTest, RowsWithoutGradientAreNeverTaken) {
  auto gradients = Weighted(1000, 10);
  for (std::size_t r = 0; r < 1000; ++r) {
    if (r % 3 != 0) gradients[r] = {0.0f, 0.0f};
  }
  std::size_t taken = 0;
  for (std::uint32_t tree = 0; tree < 20; ++tree) {
    for (RowIndex r : Take(GradientBased(0.3f), tree, gradients).rows) {
      EXPECT_EQ(r % 3, 0U);
      ++taken;
    }
  }
  EXPECT_GT(taken, 5800U);  // of 6000, standard deviation 25
  // Fewer rows have a gradient than the sample may have, so all of them are in it as they are.
  Sample const all = Take(GradientBased(0.5f), 0, gradients);
  EXPECT_EQ(all.rows.size(), 334U);
  EXPECT_EQ(all.gradients, gradients);
}

TEST(GradientBasedTest, NothingToSample) {
  Gradients const zeros(100, {0.0f, 0.0f});
  EXPECT_TRUE(Take(GradientBased(0.5f), 0, zeros).rows.empty());
  // With goss, rows without gradient are among the others.
  EXPECT_NEAR(Sum(Chances(Goss(0.2f, 0.1f), zeros)), 30.0, 100 * ChanceError(0.3));
}

TEST(GradientBasedTest, AllEqualIsAUniformSample) {
  Gradients const gradients(3000, {0.5f, 0.25f});
  // A chance is rounded down from a product of doubles.
  for (double p : Chances(GradientBased(0.25f), gradients)) EXPECT_NEAR(p, 0.25, 0x1p-31);
  Sample const sample = Take(GradientBased(0.25f), 3, gradients);
  EXPECT_GT(sample.rows.size(), 550U);  // of 750, standard deviation 24
  for (RowIndex r : sample.rows) EXPECT_EQ(sample.gradients[r], (GradientPair{2.0f, 1.0f}));
}

TEST(GradientBasedTest, OneTowersAboveTheRest) {
  // One row is certain. The others are far below the smallest key that is told apart, and share the rest evenly.
  Gradients gradients(1000, {1.0f, 1.0f});
  gradients[17] = {1e12f, 1.0f};
  auto const chances = Chances(GradientBased(0.1f), gradients);
  EXPECT_EQ(chances[17], 1.0);
  for (std::size_t r = 0; r < 1000; ++r) {
    if (r == 17) continue;
    EXPECT_NEAR(chances[r], 99.0 / 999.0, 1000.0 / 999.0 * ChanceError(0.1));  // short by all of the error
  }
}

TEST(GradientBasedTest, NumbersAtBothEndsOfFloats) {
  constexpr float kLargest = std::numeric_limits<float>::max(), kTiny = std::numeric_limits<float>::denorm_min();
  Gradients large(1000, {kLargest, kLargest});
  Sample const kept = Take(GradientBased(0.1f), 0, large);
  EXPECT_GT(kept.rows.size(), 30U);                                          // of 100, standard deviation 9.5
  for (RowIndex r : kept.rows) EXPECT_EQ(kept.gradients[r].grad, kLargest);  // not infinity
  Gradients const tiny(1000, {-kTiny, kTiny});
  Sample const sample = Take(GradientBased(0.5f), 0, tiny);
  EXPECT_GT(sample.rows.size(), 400U);  // of 500, standard deviation 16
  for (RowIndex r : sample.rows) EXPECT_EQ(sample.gradients[r].grad, -2 * kTiny);
}

TEST(GossTest, TheTopIsCertainAndAsItIs) {
  constexpr std::size_t kRows = 1000;
  Gradients gradients;
  for (std::size_t r = 0; r < kRows; ++r) gradients.push_back({1.0f + static_cast<float>(r), 1.0f});
  Sample const sample = Take(Goss(0.2f, 0.1f), 1, gradients);
  // Keys from 512 to 1024 are told apart in steps of 2, so the bin of the threshold, 801, has two rows.
  for (std::size_t r = 804; r < kRows; ++r) EXPECT_EQ(sample.gradients[r], gradients[r]) << r;
  std::size_t others = 0;
  for (std::size_t r = 0; r < 796; ++r) {
    GradientPair const v = sample.gradients[r];
    if (v.hess == 0.0f) continue;
    ++others;
    // The weight is (1 - top_rate) / other_rate. Two floats, a chance in multiples of 2^-32 and the rounding to a float
    // put it off by three times 2^-24 of itself, and 2^-29.
    double const weight = 0.8 / 0.1, error = weight * 0x1p-22;
    auto const grad = static_cast<double>(gradients[r].grad);
    EXPECT_NEAR(static_cast<double>(v.hess), weight, error) << r;
    EXPECT_NEAR(static_cast<double>(v.grad), weight * grad, error * grad) << r;
  }
  EXPECT_GT(others, 30U);  // of 99.5, standard deviation 9.3
}

TEST(GossTest, TiesAtTheThresholdShareIt) {
  // 200 rows are on top: 100 above the threshold, and as many of the 500 at it. The other 800 have a chance of 1/8.
  Gradients gradients(1000, {1.0f, 1.0f});
  for (std::size_t r = 0; r < 100; ++r) gradients[r] = {10.0f, 1.0f};
  for (std::size_t r = 500; r < 1000; ++r) gradients[r] = {5.0f, 1.0f};
  auto const chances = Chances(Goss(0.2f, 0.1f), gradients);
  for (std::size_t r = 0; r < 1000; ++r) {
    double const expected = r < 100 ? 1.0 : r < 500 ? 0.125 : (100 + 400 * 0.125) / 500;
    EXPECT_NEAR(chances[r], expected, 2 * ChanceError(1)) << r;  // one error each for top_rate and other_rate
  }
}

TEST(GradientSampleTest, WhatIsNotFiniteIsAnErrorInTheSampleOrOutside) {
  for (TrainParams const& params : {GradientBased(0.01f), Goss(0.01f, 0.01f)}) {
    auto gradients = Weighted(500, 4);
    gradients[123].hess = std::numeric_limits<float>::infinity();
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Take(params, 0, gradients); }, {"row 123", "inf", "finite"}), "");
  }
  TrainParams uniform;
  uniform.subsample = 0.01f;
  auto gradients = Weighted(500, 4);
  gradients[321].grad = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Take(uniform, 0, gradients); }, {"row 321", "nan", "finite"}), "");
}

}  // namespace
}  // namespace xgbgpu
