// metric: means over rows against their definitions in double, the same bits for any number of threads and any layout,
// messages for what does not fit. Areas under curves are in area_metric_test.cc.
#include "xgbgpu/metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "support/data.h"
#include "support/metric_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// A row's loss by its definition, and how far floats may be off, in units of 2^-24: a bound on the sum, over the row's
/// float operations, of |result| · (derivative of the loss by that result). The product with the weight is counted,
/// too.
struct Exact {
  double loss;
  double units;
};

struct MeanCase {
  std::string name;
  float label_low, label_high;
  float prediction_low, prediction_high;
  bool whole_labels;
  std::function<Exact(double, double)> loss;
  bool root{false};
  double factor{1.0};
};

void PrintTo(MeanCase const& c, std::ostream* os) { *os << c.name; }

/// The error of the C library's lgamma is a few ulp of a double, which does not count here.
std::vector<MeanCase> const& MeanCases() {
  auto const log1p_units = [](double x) { return std::fabs(std::log1p(x)); };
  static std::vector<MeanCase> const cases{
      // d = y - p counts twice in d²; d² and its product with the weight round once each.
      {"rmse", -3, 3, -3, 3, false,
       [](double y, double p) {
         return Exact{(y - p) * (y - p), 4 * (y - p) * (y - p)};
       },
       true},
      // This is as rmse, and d is also off by the roundings of two logarithms.
      {"rmsle", 0, 9, -0.5f, 9, false,
       [log1p_units](double y, double p) {
         double const d = std::log1p(y) - std::log1p(p);
         return Exact{d * d, 4 * d * d + 2 * std::fabs(d) * (log1p_units(y) + log1p_units(p))};
       },
       true},
      {"mae", -3, 3, -3, 3, false,
       [](double y, double p) {
         return Exact{std::fabs(y - p), 2 * std::fabs(y - p)};
       }},
      {"mape", 0.5f, 3, -3, 3, false,
       [](double y, double p) {
         return Exact{std::fabs((y - p) / y), 3 * std::fabs((y - p) / y)};
       }},
      // s = (y - p) / slope is rounded twice, s², s² + 1 and the root once each, all with derivatives that keep these
      // errors below the root. Then - 1, · slope² and · weight round once each.
      {"mphe", -3, 3, -3, 3, false,
       [](double y, double p) {
         double const root = std::sqrt(1 + (y - p) * (y - p));
         return Exact{root - 1, 6 * root + 3 * (root - 1)};
       }},
      // 1 - p is off by 2^-24 of itself, and so its logarithm by one unit. Then log, 1 - y, product, sum and weight
      // round.
      {"logloss", 0, 1, 0.01f, 0.99f, false,
       [](double y, double p) {
         double const v = -y * std::log(p) - (1 - y) * std::log(1 - p);
         return Exact{v, 5 * v + 1};
       }},
      {"error", 0, 1, 0, 1, true,
       [](double y, double p) {
         return Exact{p > 0.5 ? 1 - y : y, 0};
       }},
      {"error@0.7", 0, 1, 0, 1, true,
       [](double y, double p) {
         return Exact{p > static_cast<double>(0.7f) ? 1 - y : y, 0};
       }},
      // Each of lgamma, p and ln p · y goes through at most 4 operations.
      {"poisson-nloglik", 0, 20, 0.01f, 20, true,
       [](double y, double p) {
         double const parts[] = {std::fabs(std::lgamma(y + 1)), p, std::fabs(std::log(p) * y)};
         return Exact{std::lgamma(y + 1) + p - std::log(p) * y, 4 * (parts[0] + parts[1] + parts[2])};
       }},
      // theta is off by a rounding, and so y theta by one of its own, ln(-theta) by one unit. Then y theta, ln,
      // difference and weight round.
      {"gamma-nloglik", 0.1f, 9, 0.1f, 9, false,
       [](double y, double p) {
         return Exact{y / p + std::log(p), 4 * (y / p + std::fabs(std::log(p))) + 1};
       }},
      // y and p are shifted by 1e-6f, and each is rounded then.
      {"gamma-deviance", 0.1f, 9, 0.1f, 9, false,
       [](double y, double p) {
         double const shift = static_cast<double>(1e-6f), q = (y + shift) / (p + shift);
         return Exact{q - 1 - std::log(q), 7 * q + 4 * std::fabs(std::log(q)) + 4};
       },
       false, 2.0},
      // The powers are exp(t). Each of ln p, 1 - power and their product puts exp(t) off by |t| relative units. At most
      // seven more operations round.
      {"tweedie-nloglik@1.3", 0, 9, 0.1f, 9, true, [](double y, double p) {
         double const power = static_cast<double>(1.3f), t = std::fabs(std::log(p));
         double const a = y * std::pow(p, 1 - power) / (1 - power), b = std::pow(p, 2 - power) / (2 - power);
         return Exact{b - a, (3 * t + 7) * (std::fabs(a) + b)};
       }}};
  return cases;
}

class MeanMetricTest : public ::testing::TestWithParam<MeanCase> {
 protected:
  static MetricCase Rows(std::uint64_t rows, std::uint32_t targets, bool weighted) {
    MeanCase const& c = GetParam();
    Random random{rows * 10 + targets};
    MetricCase result{rows, targets, targets};
    for (std::size_t i = 0; i < rows * targets; ++i) {
      float const label = random.Between(c.label_low, c.label_high);
      result.labels.push_back(c.whole_labels ? std::round(label) : label);
      result.predictions.push_back(random.Between(c.prediction_low, c.prediction_high));
    }
    for (std::size_t i = 0; weighted && i < rows; ++i) result.weights.push_back(random.Between(0, 4));
    return result;
  }
};

TEST_P(MeanMetricTest, EqualsItsDefinition) {
  auto const params = MetricByName(GetParam().name);
  ASSERT_TRUE(params.has_value());
  for (std::uint64_t const rows : {1, 2, 255, 257, 2047, 2049, 20000}) {
    for (std::uint32_t const targets : {1, 3}) {
      for (bool const weighted : {false, true}) {
        MetricCase const c = Rows(rows, targets, weighted);
        long double loss = 0, units = 0, weight = 0;
        for (std::size_t i = 0; i < rows * targets; ++i) {
          double const w = weighted ? static_cast<double>(c.weights[i / targets]) : 1.0;
          Exact const exact = GetParam().loss(c.labels[i], c.predictions[i]);
          loss += w * exact.loss;
          units += w * exact.units;
          weight += w;
        }
        auto value = static_cast<double>(loss / weight) * GetParam().factor;
        // Second-order terms of the roundings are below 2^-20 of the first; sums in double are off by 2^-48.
        double allowed = static_cast<double>(units / weight) * GetParam().factor * 0x1p-24 * (1 + 0x1p-20) +
                         0x1p-48 * std::fabs(value);
        if (GetParam().root) {
          value = std::sqrt(value);
          allowed = allowed / value;  // twice the derivative's bound, which also holds close to 0
        }
        EXPECT_NEAR(c.Evaluate(*params, 1), value, allowed)
            << rows << " rows, " << targets << " targets" << (weighted ? ", weights" : "");
      }
    }
  }
}

TEST_P(MeanMetricTest, ThreadsAndLayoutDoNotShow) {
  auto const params = MetricByName(GetParam().name);
  for (std::uint64_t const rows : {1, 700, 30000}) {
    MetricCase const c = Rows(rows, 2, true);
    double const expected = c.Evaluate(*params, 1);
    for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate(*params, threads), expected) << threads << " threads";
    EXPECT_EQ(c.ByOutput().Evaluate(*params, 2), expected);
  }
}

TEST_P(MeanMetricTest, NoRowsAndNoWeight) {
  auto const params = MetricByName(GetParam().name);
  EXPECT_EQ(MetricCase(0, 1, 1).Evaluate(*params, 2), 0.0);
  MetricCase c = Rows(100, 1, true);
  for (float& w : c.weights) w = 0;
  EXPECT_EQ(c.Evaluate(*params, 2), 0.0);
}

TEST_P(MeanMetricTest, MissingValuesAreMissing) {
  auto const params = MetricByName(GetParam().name);
  MetricCase c = Rows(3000, 1, false);
  c.labels[2500] = -std::numeric_limits<float>::quiet_NaN();
  double const value = c.Evaluate(*params, 2);
  EXPECT_TRUE(std::isnan(value));
  EXPECT_FALSE(std::signbit(value));  // it is always the same NaN
}

TEST_P(MeanMetricTest, BadInput) {
  auto const params = MetricByName(GetParam().name);
  std::string const name = GetParam().name.substr(0, GetParam().name.find('@'));
  MetricCase c = Rows(6, 2, true);
  c.label_columns = 1;
  EXPECT_EQ(
      WhatIsWrong<InvalidArgument>([&] { c.Evaluate(*params, 1); }, {name, "2 predictions", "1 labels", "merror"}), "");
  c.label_columns = 2;
  c.groups = {0, 3, 6};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(*params, 1); },
                                         {name, "one weight for each row", "2 ranking groups"}),
            "");
  c.weights.clear();
  EXPECT_FALSE(std::isnan(c.Evaluate(*params, 1)));
  c.labels.clear();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(*params, 1); }, {name, "labels", "6 rows"}), "");
}

INSTANTIATE_TEST_SUITE_P(Metrics, MeanMetricTest, ::testing::ValuesIn(MeanCases()), [](auto const& c) {
  std::string name;
  for (char letter : c.param.name) name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return name;
});

double Single(char const* name, float label, float prediction) {
  MetricCase c{1, 1, 1};
  c.labels = {label};
  c.predictions = {prediction};
  return c.Evaluate(*MetricByName(name), 1);
}

TEST(MetricTest, BoundsOfPredictions) {
  float const log_smallest = static_cast<float>(-std::log(static_cast<double>(1e-16f)));
  EXPECT_EQ(Single("logloss", 1, 0), log_smallest);
  EXPECT_EQ(Single("logloss", 0, 1), log_smallest);
  EXPECT_EQ(Single("logloss", 1, 1), 0.0);
  EXPECT_EQ(Single("logloss", 0, 0), 0.0);
  EXPECT_EQ(Single("poisson-nloglik", 0, -1), 1e-16f);
  EXPECT_EQ(Single("poisson-nloglik", 1, 0), log_smallest);
  // 1e6 · 1 + ln 1e-6, in float
  EXPECT_NEAR(Single("gamma-nloglik", 1, 0), 1e6 + std::log(1e-6), 0.25);
  EXPECT_EQ(Single("gamma-deviance", 0, 0), 0.0);
  EXPECT_EQ(Single("mape", 0, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Single("error@-1", 0, -0.5f), 1.0);
  EXPECT_EQ(Single("error", 0, 0.5f), 0.0);  // not above
}

TEST(MetricTest, HuberSlope) {
  MetricCase c{1, 1, 1};
  c.labels = {5};
  c.predictions = {1};
  MetricParams params{Metric::kMphe};
  params.huber_slope = 2;
  // The result is 4 · (sqrt(1 + 2²) - 1). Only sqrt 5 and the product with the weight are rounded: the former is off
  // by 2^-24 · 4 · sqrt 5 / 2 at most.
  EXPECT_NEAR(c.Evaluate(params, 1), 4 * (std::sqrt(5.0) - 1), 0x1p-21);
  params.huber_slope = 0;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(params, 1); }, {"huber_slope", "0", "any other"}), "");
}

/// Sums of integers are not rounded, so a row that is left out or counted twice shows.
TEST(MetricTest, EveryRowCountsOnce) {
  for (std::uint64_t const rows : {1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4096, 6000, 70000, 530001}) {
    MetricCase c{rows, 1, 1};
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      c.labels.push_back(static_cast<float>(i % 1009));
      c.predictions.push_back(0);
      sum += i % 1009;
    }
    EXPECT_EQ(c.Evaluate({Metric::kMae}, 2), static_cast<double>(sum) / static_cast<double>(rows)) << rows;
  }
}

class ClassMetricTest : public ::testing::Test {
 protected:
  /// Makes predictions 1/8, 2/8 … 1, so that equal ones are frequent.
  static MetricCase Rows(std::uint64_t rows, std::uint32_t classes, bool weighted) {
    Random random{rows + classes};
    MetricCase c{rows, 1, classes};
    for (std::uint64_t i = 0; i < rows; ++i) {
      c.labels.push_back(static_cast<float>(random.Below(classes)));
      for (std::uint32_t k = 0; k < classes; ++k) {
        c.predictions.push_back(static_cast<float>(random.Below(8) + 1) * 0.125f);
      }
      if (weighted) c.weights.push_back(random.Between(0, 2));
    }
    return c;
  }
};

TEST_F(ClassMetricTest, EqualTheirDefinition) {
  for (std::uint64_t const rows : {1, 300, 10000}) {
    for (std::uint32_t const classes : {1, 2, 7}) {
      for (bool const weighted : {false, true}) {
        MetricCase const c = Rows(rows, classes, weighted);
        long double errors = 0, logs = 0, weight = 0;
        for (std::uint64_t i = 0; i < rows; ++i) {
          float const* p = c.predictions.data() + i * classes;
          auto const label = static_cast<std::size_t>(c.labels[i]);
          long double const w = weighted ? c.weights[i] : 1.0f;
          errors +=
              std::max_element(p, p + classes) - p != static_cast<std::ptrdiff_t>(label) ? w : 0;  // the first wins
          logs -= w * std::log(static_cast<double>(p[label]));
          weight += w;
        }
        auto const merror = static_cast<double>(errors / weight), mlogloss = static_cast<double>(logs / weight);
        EXPECT_NEAR(c.Evaluate({Metric::kMerror}, 1), merror, merror * 0x1p-48);  // sums are in double
        // The logarithm and its product with the weight are rounded to float.
        EXPECT_NEAR(c.Evaluate({Metric::kMlogloss}, 1), mlogloss, mlogloss * (2 * 0x1p-24 + 0x1p-40));
        for (Metric const metric : {Metric::kMerror, Metric::kMlogloss}) {
          double const expected = c.Evaluate({metric}, 1);
          for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate({metric}, threads), expected);
          EXPECT_EQ(c.ByOutput().Evaluate({metric}, 2), expected);
        }
      }
    }
  }
}

TEST_F(ClassMetricTest, ProbabilityZeroIsBounded) {
  MetricCase c{1, 1, 2};
  c.labels = {1};
  c.predictions = {1, 0};
  EXPECT_EQ(c.Evaluate({Metric::kMlogloss}, 1), static_cast<float>(-std::log(static_cast<double>(1e-16f))));
  EXPECT_TRUE(std::isnan(MetricCase(0, 1, 2).Evaluate({Metric::kMlogloss}, 1)));
}

TEST_F(ClassMetricTest, LabelsThatAreNoClass) {
  for (Metric const metric : {Metric::kMerror, Metric::kMlogloss}) {
    for (float const bad : {3.0f, -1.0f, 1e20f, -1e20f, std::numeric_limits<float>::quiet_NaN()}) {
      MetricCase c = Rows(5000, 3, false);
      c.labels[4321] = 7;
      c.labels[2345] = bad;  // the first one is named, whichever thread finds one
      for (int threads : {1, 3}) {
        EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate({metric}, threads); },
                                               {NameOf(metric), "row 2345", "0 to 2", "num_class is 3"}),
                  "");
      }
    }
    // A fraction is cut off: -0.5 is class 0, 2.9 is class 2.
    MetricCase c = Rows(2, 3, false);
    c.labels = {0, 2};
    double const expected = c.Evaluate({metric}, 1);
    c.labels = {-0.5f, 2.9f};
    EXPECT_EQ(c.Evaluate({metric}, 1), expected);
    c.label_columns = 2;
    EXPECT_EQ(
        WhatIsWrong<InvalidArgument>([&] { c.Evaluate({metric}, 1); }, {NameOf(metric), "2 labels", "allowed: 1"}), "");
  }
}

/// Makes exact times and right-, left- and interval-censored ones. Predictions are logarithms.
MetricCase RandomTimes(std::uint64_t n, bool weighted) {
  Random random{n};
  MetricCase times{n, 1, 1};
  for (std::uint64_t i = 0; i < n; ++i) {
    float const time = random.Between(0.5f, 20);
    bool const from_left = i % 4 == 1, from_right = i % 4 == 2;
    times.lower.push_back(from_left ? 0 : time);
    times.upper.push_back(from_right ? std::numeric_limits<float>::infinity() : i % 4 == 0 ? time : time * 1.5f);
    times.predictions.push_back(random.Between(-0.5f, 3));
    if (weighted) times.weights.push_back(random.Between(0, 2));
  }
  return times;
}

double Density(AftDistribution distribution, double z) {
  if (distribution == AftDistribution::kNormal) return std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
  if (distribution == AftDistribution::kLogistic) return std::exp(z) / std::pow(1 + std::exp(z), 2);
  return std::exp(z - std::exp(z));
}
double Probability(AftDistribution distribution, double z) {
  if (distribution == AftDistribution::kNormal) return std::erfc(-z / std::sqrt(2.0)) / 2;
  if (distribution == AftDistribution::kLogistic) return 1 / (1 + std::exp(-z));
  return -std::expm1(-std::exp(z));
}

TEST(SurvivalMetricTest, LikelihoodOfTimes) {
  for (auto const distribution : {AftDistribution::kNormal, AftDistribution::kLogistic, AftDistribution::kExtreme}) {
    for (bool const weighted : {false, true}) {
      MetricParams params{Metric::kAftNloglik};
      params.aft_distribution = distribution;
      params.aft_scale = 1.25f;
      MetricCase const times = RandomTimes(5000, weighted);
      long double sum = 0, weights = 0, units = 0;
      for (std::size_t i = 0; i < 5000; ++i) {
        auto const z = [&](double time) { return (std::log(time) - times.predictions[i]) / 1.25; };
        double likelihood = 0;
        if (times.lower[i] == times.upper[i]) {
          likelihood = Density(distribution, z(times.lower[i])) / (1.25 * times.lower[i]);
        } else {
          double const upper = std::isinf(times.upper[i]) ? 1 : Probability(distribution, z(times.upper[i]));
          likelihood = upper - (times.lower[i] == 0 ? 0 : Probability(distribution, z(times.lower[i])));
        }
        double const weight = weighted ? static_cast<double>(times.weights[i]) : 1;
        sum -= weight * std::log(likelihood);
        // Probabilities are off by 2^-48 (core/portable_math.h), those of the reference by less.
        units += weight / likelihood;
        weights += weight;
      }
      ASSERT_LT(units / weights, 0x1p20);  // else the bound below says nothing
      double const allowed = static_cast<double>(units / weights) * 0x1p-47 + 0x1p-44;
      EXPECT_NEAR(times.Evaluate(params, 1), static_cast<double>(sum / weights), allowed);
      for (int threads : {2, 3, 7}) EXPECT_EQ(times.Evaluate(params, threads), times.Evaluate(params, 1));
    }
  }
}

TEST(SurvivalMetricTest, LikelihoodIsBounded) {
  for (auto const distribution : {AftDistribution::kNormal, AftDistribution::kLogistic, AftDistribution::kExtreme}) {
    MetricParams params{Metric::kAftNloglik};
    params.aft_distribution = distribution;
    for (float const prediction : {1e5f, -1e5f}) {
      MetricCase times{1, 1, 1};
      times.predictions = {prediction};
      times.lower = times.upper = {1};
      EXPECT_NEAR(times.Evaluate(params, 1), -std::log(1e-12), 0x1p-47);  // each logarithm is rounded once, below 32
    }
  }
}

TEST(SurvivalMetricTest, ShareOfPredictionsInTheirInterval) {
  MetricParams const params{Metric::kIntervalAccuracy};
  MetricCase times{4, 1, 1};
  times.predictions = {0, 1, 2, -1};  // times 1, 2.7, 7.4, 0.4
  times.lower = {1, 3, 7, 0};
  times.upper = {1, 4, std::numeric_limits<float>::infinity(), 0.25f};
  EXPECT_EQ(times.Evaluate(params, 1), 0.5);
  times.weights = {3, 1, 4, 0};
  EXPECT_EQ(times.Evaluate(params, 1), 7.0 / 8.0);
}

TEST(SurvivalMetricTest, BadInput) {
  for (Metric const metric : {Metric::kAftNloglik, Metric::kIntervalAccuracy}) {
    MetricCase times = RandomTimes(4, false);
    times.upper.clear();
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { times.Evaluate({metric}, 1); }, {NameOf(metric), "label_upper_bound"}),
              "");
    times.lower.clear();
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { times.Evaluate({metric}, 1); }, {NameOf(metric), "label_lower_bound"}),
              "");
    times = RandomTimes(4, false);
    times.rows = 2;
    times.outputs = 2;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { times.Evaluate({metric}, 1); }, {NameOf(metric), "2 predictions"}),
              "");
  }
}

TEST(MetricByNameTest, KnownNames) {
  for (char const* name :
       {"rmse", "rmsle", "mae", "mape", "mphe", "logloss", "error", "poisson-nloglik", "gamma-nloglik",
        "gamma-deviance", "merror", "mlogloss", "auc", "aucpr", "aft-nloglik", "interval-regression-accuracy"}) {
    auto const params = MetricByName(name);
    ASSERT_TRUE(params.has_value()) << name;
    EXPECT_STREQ(NameOf(params->kind), name);
  }
  EXPECT_EQ(MetricByName("error")->threshold, 0.5f);
  EXPECT_EQ(MetricByName("error@0.7")->threshold, 0.7f);
  EXPECT_EQ(MetricByName("tweedie-nloglik@1.5")->tweedie_variance_power, 1.5f);
  EXPECT_EQ(MetricByName("tweedie-nloglik@1")->tweedie_variance_power, 1.0f);
  EXPECT_STREQ(NameOf(MetricByName("tweedie-nloglik@1.5")->kind), "tweedie-nloglik");
}

TEST(MetricByNameTest, LeftToXgboost) {
  for (char const* name :
       {"", "@", "rms", "RMSE", "rmse@1", "rmse-", "auc@", "error@", "error@x", "error@0.5x", "tweedie-nloglik",
        "tweedie-nloglik@", "tweedie-nloglik@2", "tweedie-nloglik@0.9", "tweedie-nloglik@nan", "ams@0.1", "custom"}) {
    EXPECT_FALSE(MetricByName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace xgbgpu::testing
