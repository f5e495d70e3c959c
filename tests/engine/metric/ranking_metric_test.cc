// metric: pre, ndcg, map and auc over ranking groups against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/data.h"
#include "support/metric_case.h"
#include "xgbgpu/error.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::testing {
namespace {

/// Makes labels 0 to 4, few distinct predictions, groups of 0 to `largest` rows, and one of `last` rows.
MetricCase RandomGroups(std::uint32_t groups, std::size_t largest, std::uint32_t last, std::uint64_t seed) {
  Random random{seed};
  MetricCase c{0, 1, 1};
  c.groups = {0};
  for (std::uint32_t g = 0; g < groups; ++g) {
    auto const size = static_cast<std::uint32_t>(random.Below(largest + 1));
    c.groups.push_back(c.groups.back() + size);
  }
  c.groups.push_back(c.groups.back() + last);
  c.rows = c.groups.back();
  for (std::uint64_t i = 0; i < c.rows; ++i) {
    c.labels.push_back(static_cast<float>(random.Below(9) / 2));
    c.predictions.push_back(static_cast<float>(random.Below(200)) * 0.01f - 1);
  }
  // One group has no hits.
  for (std::uint32_t i = c.groups[2]; i < c.groups[3]; ++i) c.labels[i] = 0;
  return c;
}

/// Returns the labels in descending order of `by`. Equal ones keep their order.
std::vector<float> Ordered(std::vector<float> const& labels, std::vector<float> const& by) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return by[a] > by[b]; });
  std::vector<float> ordered;
  for (std::size_t i : order) ordered.push_back(labels[i]);
  return ordered;
}

double Precision(std::vector<float> const& ordered, std::size_t top) {
  std::size_t hits = 0;
  for (std::size_t i = 0; i < std::min(top, ordered.size()); ++i) hits += ordered[i] != 0 ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(top);
}
double AveragePrecision(std::vector<float> const& ordered, std::size_t top, double nothing) {
  double sum = 0, hits = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i] == 0) continue;
    ++hits;
    if (i < top) sum += hits / static_cast<double>(i + 1);
  }
  return hits == 0 ? nothing : sum / hits;
}
double Gain(std::vector<float> const& ordered, std::size_t top) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(top, ordered.size()); ++i) {
    sum += (std::exp2(ordered[i]) - 1) / std::log2(static_cast<double>(i) + 2);
  }
  return sum;
}

struct Expected {
  double pre, map, ndcg;
};
Expected Reference(MetricCase const& c, std::size_t top, double nothing) {
  Expected sum{0, 0, 0};
  auto const groups = static_cast<double>(c.groups.size() - 1);
  for (std::size_t g = 0; g + 1 < c.groups.size(); ++g) {
    std::vector<float> const labels(c.labels.begin() + c.groups[g], c.labels.begin() + c.groups[g + 1]);
    std::vector<float> const predictions(c.predictions.begin() + c.groups[g], c.predictions.begin() + c.groups[g + 1]);
    auto const ordered = Ordered(labels, predictions);
    sum.pre += Precision(ordered, top);
    sum.map += AveragePrecision(ordered, top, nothing);
    double const best = Gain(Ordered(labels, labels), top);
    sum.ndcg += best == 0 ? nothing : Gain(ordered, top) / best;
  }
  return {sum.pre / groups, sum.map / groups, sum.ndcg / groups};
}

/// The reference has a chain of at most 3000 roundings, and logarithms that are off by 2 ulp.
constexpr double kAllowed = 3010 * 0x1p-53;

TEST(RankingMetricTest, EqualTheirDefinitions) {
  for (auto const& c : {RandomGroups(50, 30, 3000, 1), RandomGroups(3000, 12, 1, 2), RandomGroups(4, 600, 0, 3)}) {
    for (std::size_t const top : {1, 5, 300}) {
      for (bool const minus : {false, true}) {
        std::string const suffix = "@" + std::to_string(top) + (minus ? "-" : "");
        Expected const expected = Reference(c, top, minus ? 0.0 : 1.0);
        EXPECT_NEAR(c.Evaluate(*MetricByName("pre" + suffix), 1), expected.pre, kAllowed);
        EXPECT_NEAR(c.Evaluate(*MetricByName("map" + suffix), 1), expected.map, kAllowed);
        EXPECT_NEAR(c.Evaluate(*MetricByName("ndcg" + suffix), 1), expected.ndcg, kAllowed);
      }
    }
    Expected const expected = Reference(c, 1000000, 0.0);
    EXPECT_NEAR(c.Evaluate(*MetricByName("map-"), 1), expected.map, kAllowed);
    EXPECT_NEAR(c.Evaluate(*MetricByName("ndcg-"), 1), expected.ndcg, kAllowed);
  }
}

TEST(RankingMetricTest, AucOverGroups) {
  MetricCase c = RandomGroups(300, 12, 700, 4);
  for (std::size_t g = 0; g + 1 < c.groups.size(); ++g) c.weights.push_back(static_cast<float>(g % 4));
  double sum = 0, valid = 0;
  for (std::size_t g = 0; g + 1 < c.groups.size(); ++g) {
    std::uint32_t const size = c.groups[g + 1] - c.groups[g];
    if (size < 3) continue;
    std::vector<float> const labels(c.labels.begin() + c.groups[g], c.labels.begin() + c.groups[g + 1]);
    std::vector<float> const predictions(c.predictions.begin() + c.groups[g], c.predictions.begin() + c.groups[g + 1]);
    auto const p = Ordered(predictions, labels);
    double in_order = 0, pairs = 0;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = i + 1; j < size; ++j) {
        in_order += p[i] > p[j] ? 1 : p[i] == p[j] ? 0.5 : 0;
        ++pairs;
      }
    }
    sum += c.weights[g] == 0 ? 0 : in_order / pairs;
    ++valid;
  }
  EXPECT_NEAR(c.Evaluate({Metric::kAuc}, 1), sum / valid, kAllowed);
  for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate({Metric::kAuc}, threads), c.Evaluate({Metric::kAuc}, 1));
  c = RandomGroups(5, 2, 2, 5);
  EXPECT_TRUE(std::isnan(c.Evaluate({Metric::kAuc}, 1)));  // no group has three rows
}

TEST(RankingMetricTest, AucprOverGroups) {
  MetricCase c = RandomGroups(300, 12, 3000, 9);
  Random random{4};
  for (float& label : c.labels) label = random.Below(3) == 0 ? random.Uniform() : static_cast<float>(random.Below(2));
  for (std::uint32_t i = c.groups[2]; i < c.groups[3]; ++i) c.labels[i] = 0;  // no row is relevant
  for (std::size_t g = 0; g + 1 < c.groups.size(); ++g) c.weights.push_back(static_cast<float>(g % 4));
  double sum = 0, valid = 0;
  for (std::size_t g = 0; g + 1 < c.groups.size(); ++g) {
    MetricCase one{c.groups[g + 1] - c.groups[g], 1, 1};
    one.labels.assign(c.labels.begin() + c.groups[g], c.labels.begin() + c.groups[g + 1]);
    one.predictions.assign(c.predictions.begin() + c.groups[g], c.predictions.begin() + c.groups[g + 1]);
    double const area = one.rows == 0 ? NAN : one.Evaluate({Metric::kAucpr}, 1);
    if (c.weights[g] == 0 || std::isnan(area)) continue;
    sum += area;
    ++valid;
  }
  ASSERT_GT(valid, 100);
  // Both round labels to 2^-45, and an area is a quotient of sums of them. The last sum has another order.
  EXPECT_NEAR(c.Evaluate({Metric::kAucpr}, 1), sum / valid, 0x1p-40);
  for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate({Metric::kAucpr}, threads), c.Evaluate({Metric::kAucpr}, 1));
  std::fill(c.labels.begin(), c.labels.end(), 1.0f);
  EXPECT_TRUE(std::isnan(c.Evaluate({Metric::kAucpr}, 1)));  // no group has a negative row
}

TEST(RankingMetricTest, ThreadsDoNotShow) {
  MetricCase const c = RandomGroups(3000, 40, 3000, 6);
  for (char const* name : {"pre@3", "map@7", "ndcg@7", "ndcg", "map"}) {
    MetricParams const params = *MetricByName(name);
    for (int threads : {2, 3, 7}) EXPECT_EQ(c.Evaluate(params, threads), c.Evaluate(params, 1)) << name;
  }
}

TEST(RankingMetricTest, WithoutGroupsThereIsOne) {
  MetricCase c = RandomGroups(3, 40, 500, 7);
  c.groups = {0, static_cast<std::uint32_t>(c.rows)};
  MetricCase without = c;
  without.groups.clear();
  for (char const* name : {"pre@3", "map", "ndcg"}) {
    EXPECT_EQ(without.Evaluate(*MetricByName(name), 1), c.Evaluate(*MetricByName(name), 1));
  }
  EXPECT_EQ(MetricCase(0, 1, 1).Evaluate(*MetricByName("ndcg"), 1), 1.0);
  EXPECT_EQ(MetricCase(0, 1, 1).Evaluate(*MetricByName("ndcg-"), 1), 0.0);
}

TEST(RankingMetricTest, BadInput) {
  MetricCase c = RandomGroups(3, 40, 500, 8);
  c.groups = {0, 100, static_cast<std::uint32_t>(c.rows)};
  MetricParams const ndcg = *MetricByName("ndcg@5");
  for (float const bad : {31.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    c.labels[200] = 99;
    c.labels[150] = bad;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate(ndcg, 2); }, {"ndcg", "row 150", "0 to 30"}), "");
  }
  c.labels[150] = 30.5f;
  c.labels[200] = 0;
  EXPECT_GT(c.Evaluate(ndcg, 2), 0.0);
  c.labels[0] = 1;
  for (float const bad : {1.5f, -0.5f, std::numeric_limits<float>::quiet_NaN()}) {
    for (std::size_t i = 1; i < c.rows; ++i) c.labels[i] = i < 150 ? 0.0f : i == 150 ? bad : 2.0f;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate({Metric::kAucpr}, 2); },
                                           {"aucpr", "row 150", "allowed: 0 to 1", "binary relevance"}),
              "");
  }
  c.rows /= 2;
  c.outputs = 2;
  for (Metric const metric : {Metric::kNdcg, Metric::kMap, Metric::kPre, Metric::kAuc, Metric::kAucpr}) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { c.Evaluate({metric}, 1); }, {NameOf(metric), "2 predictions"}), "");
  }
}

TEST(RankingMetricTest, Names) {
  EXPECT_EQ(MetricByName("ndcg")->top, 0xFFFFFFFFU);
  EXPECT_FALSE(MetricByName("ndcg")->without_hits_is_zero);
  EXPECT_TRUE(MetricByName("map-")->without_hits_is_zero);
  EXPECT_EQ(MetricByName("pre@12")->top, 12U);
  EXPECT_EQ(MetricByName("ndcg@5-")->top, 5U);
  EXPECT_TRUE(MetricByName("ndcg@5-")->without_hits_is_zero);
  for (char const* name : {"ndcg@", "ndcg@-", "ndcg@0", "ndcg@x", "ndcg@5x", "ndcg@-5", "map@1.5", "pre@99999999999"}) {
    EXPECT_FALSE(MetricByName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace xgbgpu::testing
