// LambdaRank of XGBoost 2.0 and later against a loop over all pairs, the mean over draws, threads, bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "support/rank_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// The pair (row with the larger label, row with the smaller one) of a group, and its weight.
struct Pair {
  std::size_t high, low;
  double weight;
};

/// A group by the definitions of LambdaRank.
class SlowLambdas {
 public:
  SlowLambdas(ObjectiveParams const& params, std::vector<float> margins, std::vector<float> labels)
      : params_{params}, margins_{std::move(margins)}, labels_{std::move(labels)}, order_(labels_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return margins_[a] > margins_[b]; });
    std::vector<float> best = labels_;
    std::sort(best.begin(), best.end(), std::greater<>{});
    std::size_t const end = params.lambdarank.has_top ? params.lambdarank.pairs : best.size();
    for (std::size_t i = 0; i < std::min(end, best.size()); ++i) ideal_ += Gain(best[i]) / Log2Of(i);
  }

  std::size_t size() const { return order_.size(); }

  double Probability(Pair const& pair) const {
    return 1 / (1 + std::exp(static_cast<double>(margins_[pair.low]) - margins_[pair.high]));
  }

  /// Returns the pair of the rows at two places; its weight is 0 if the labels are equal.
  Pair Of(std::size_t a, std::size_t b) const {
    std::size_t high = order_[a], low = order_[b];
    if (labels_[high] < labels_[low]) std::swap(high, low);
    if (labels_[high] == labels_[low]) return {high, low, 0};
    double weight = Change(a, b);
    double const spread = static_cast<double>(margins_[order_.front()]) - margins_[order_.back()];
    if (params_.lambdarank.normalizes_by_score && spread != 0) {
      weight /= std::fabs(static_cast<double>(margins_[high]) - margins_[low]) + 0.01;
    }
    return {high, low, weight};
  }

 private:
  static double Log2Of(std::size_t place) { return std::log2(static_cast<double>(place) + 2); }
  double Gain(float label) const { return params_.lambdarank.has_exp_gain ? std::exp2(label) - 1 : label; }

  double Change(std::size_t a, std::size_t b) const {
    if (params_.kind == Objective::kRankPairwise) return 1;
    if (params_.kind == Objective::kRankNdcg) {
      double const gains = Gain(labels_[order_[a]]) - Gain(labels_[order_[b]]);
      return ideal_ == 0 ? 0 : std::fabs(gains * (1 / Log2Of(a) - 1 / Log2Of(b))) / ideal_;
    }
    auto changed = order_;
    std::swap(changed[a], changed[b]);
    return std::fabs(AveragePrecision(changed) - AveragePrecision(order_));
  }
  double AveragePrecision(std::vector<std::size_t> const& order) const {
    double hits = 0, sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (labels_[order[i]] > 0) sum += ++hits / static_cast<double>(i + 1);
    return hits == 0 ? 0 : sum / hits;
  }

  ObjectiveParams params_;
  std::vector<float> margins_, labels_;
  std::vector<std::size_t> order_;
  double ideal_{0};
};

RankRows RowsFor(Objective kind, std::vector<std::uint32_t> const& sizes, std::uint64_t seed) {
  RankRows rows{sizes, 5, seed};
  for (float& label : rows.labels) label = kind == Objective::kRankMap ? (label >= 3 ? 1.0f : 0.0f) : std::floor(label);
  return rows;
}

ObjectiveParams LambdaParams(Objective kind, LambdaRank const& lambdarank = {}) {
  ObjectiveParams params = RankParams(kind, 1);
  params.lambdarank = lambdarank;
  params.lambdarank.is_used = true;
  return params;
}

SlowLambdas GroupOf(ObjectiveParams const& params, RankRows const& rows, std::size_t group) {
  auto const slice = [&](std::vector<float> const& v) {
    return std::vector<float>(v.begin() + rows.group_ptr[group], v.begin() + rows.group_ptr[group + 1]);
  };
  return {params, slice(rows.margins), slice(rows.labels)};
}

struct Expected {
  double grad{0}, hess{0}, weight{0};
};

/// The losses of positions, by their definitions.
struct SlowLosses {
  std::vector<double> high, low;
};

/// Adds a pair's losses, and returns what its weight is divided by. The least bias that divides is 1e-16, as 2^-12.
double Debias(PositionBiases const& biases, Pair const& pair, double probability, SlowLosses* losses) {
  std::size_t const positions = biases.high.size();
  if (pair.high >= positions || pair.low >= positions) return 1;
  double const high = biases.high[pair.high], low = biases.low[pair.low];
  double const loss = -std::log1p(-probability) * pair.weight;
  double const by_high = std::max(high, 0x1p-12), by_low = std::max(low, 0x1p-12);
  if (low >= 1e-16) losses->high[pair.high] += loss / by_low;
  if (high >= 1e-16) losses->low[pair.low] += loss / by_high;
  return low >= 1e-16 && high >= 1e-16 ? by_high * by_low : 1;
}

std::vector<Expected> Reference(ObjectiveParams const& params, RankRows const& rows, bool weighted,
                                SlowLosses* losses = nullptr) {
  std::vector<Expected> all(rows.rows());
  std::size_t const groups = rows.weights.size();
  double const weights =
      weighted ? std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0) : static_cast<double>(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    SlowLambdas const group = GroupOf(params, rows, g);
    Expected* const to = all.data() + rows.group_ptr[g];
    double sum = 0;
    for (std::size_t a = 0; a < std::min<std::size_t>(params.lambdarank.pairs, group.size()); ++a) {
      for (std::size_t b = a + 1; b < group.size(); ++b) {
        Pair pair = group.Of(a, b);
        double const p = group.Probability(pair);
        if (losses != nullptr && pair.weight > 0) pair.weight /= Debias(params.biases, pair, p, losses);
        double const grad = (p - 1) * pair.weight;
        double const hess = 2 * std::max(p * (1 - p), 1e-16) * pair.weight;
        to[pair.high].grad += grad;
        to[pair.low].grad -= grad;
        sum -= 2 * grad;
        for (std::size_t const row : {pair.high, pair.low}) {
          to[row].hess += hess;
          to[row].weight += pair.weight;
        }
      }
    }
    double factor = (weighted ? rows.weights[g] : 1.0f) * static_cast<double>(groups) / weights;
    if (params.lambdarank.normalizes && sum > 0) factor *= std::log2(1 + sum) / sum;
    for (std::size_t row = 0; row < group.size(); ++row) {
      to[row].grad *= factor;
      to[row].hess *= factor;
      to[row].weight *= factor;
    }
  }
  return all;
}

/// The weight of a pair is off by 2^-22 of it: the difference of the margins is a float; and by 100 · 2^-38, the error of
/// a change of average precision over the least difference. p is a float, off by 2^-22 (rank_test.cc has the terms), so
/// 2 p (1 - p) is off by 2^-20. The norm has the error of a sum of such terms.
TEST(LambdaRankTest, TopPairsEqualALoop) {
  LambdaRank top, raw, unscaled, few, linear;
  raw.normalizes = false;
  unscaled.normalizes_by_score = false;
  few.pairs = 3;
  linear.has_exp_gain = false;
  for (Objective const kind : kRankings) {
    RankRows const rows = RowsFor(kind, {1, 2, 0, 3, 50, 300, 17, 1, 0}, 11);
    for (LambdaRank const& lambdarank : {top, raw, unscaled, few, linear}) {
      ObjectiveParams const params = LambdaParams(kind, lambdarank);
      for (bool const weighted : {false, true}) {
        auto const found = rows.Gradients(params, rows.Targets(weighted), 2);
        auto const expected = Reference(params, rows, weighted);
        for (std::size_t i = 0; i < found.size(); ++i) {
          Expected const& e = expected[i];
          double const pairs = 300 * 0x1p-31;
          ASSERT_NEAR(found[i].grad, e.grad, 0x1p-20 * e.weight + 0x1p-19 * std::fabs(e.grad) + pairs) << "row " << i;
          ASSERT_NEAR(found[i].hess, e.hess, 0x1p-19 * e.weight + 0x1p-19 * e.hess + pairs) << "row " << i;
        }
      }
    }
  }
}

/// A loss has the relative error of its weight, 2^-20 with that of a change of average precision of 1e-3 or more, and so
/// has the difference of margins: a ratio of two sums is off by twice both, 2^-18. Each of a position's pairs, at most 8 in
/// each of 9 groups, is rounded to a unit of 2^-32. Biases are floats.
void ExpectRatios(std::vector<float> const& biases, std::vector<double> const& losses, double power) {
  for (std::size_t i = 0; i < biases.size(); ++i) {
    double const ratio = losses[i] / losses[0], error = 0x1p-18 * ratio + 72 * 0x1p-33 / losses[0];
    double const bias = std::pow(ratio, power), least = std::pow(std::max(0.0, ratio - error), power);
    EXPECT_NEAR(biases[i], bias, bias - least + 0x1p-24 * bias) << "position " << i;
  }
}

/// Errors are as above, relative to weights divided by biases. The unit of sums is 2^-20, since biases multiply a weight
/// by up to 2^24.
TEST(LambdaRankTest, PositionBiasesDividePairsAndFollowTheirLosses) {
  constexpr std::uint32_t kPositions = 9;
  LambdaRank unbiased;
  unbiased.is_unbiased = true;
  unbiased.pairs = kPositions;
  LambdaRank normed = unbiased;
  normed.bias_norm = 0.25;
  for (Objective const kind : kRankings) {
    RankRows rows = RowsFor(kind, {1, 2, 0, 3, 50, 300, 17, 1, 0}, 13);
    for (float& margin : rows.margins) margin /= 4;  // so that the reference has digits of 1 - p
    for (LambdaRank const& lambdarank : {unbiased, normed}) {
      ObjectiveParams params = LambdaParams(kind, lambdarank);
      EXPECT_EQ(FirstBiases(lambdarank).high, std::vector<float>(kPositions, 1.0f));
      for (PositionBiases const& biases : {FirstBiases(lambdarank), SomeBiases(kPositions)}) {
        params.biases = biases;
        SlowLosses slow{std::vector<double>(kPositions), std::vector<double>(kPositions)};
        std::vector<std::int64_t> losses;
        auto const found = rows.Gradients(params, rows.Targets(true), 2, &losses);
        auto const expected = Reference(params, rows, true, &slow);
        for (std::size_t i = 0; i < found.size(); ++i) {
          Expected const& e = expected[i];
          double const pairs = 300 * 0x1p-20;
          ASSERT_NEAR(found[i].grad, e.grad, 0x1p-20 * e.weight + 0x1p-19 * std::fabs(e.grad) + pairs) << "row " << i;
          ASSERT_NEAR(found[i].hess, e.hess, 0x1p-19 * e.weight + 0x1p-19 * e.hess + pairs) << "row " << i;
        }
        PositionBiases const next = NextBiases(params, losses);
        double const power = 1 / (1 + lambdarank.bias_norm);
        ExpectRatios(next.high, slow.high, power);
        ExpectRatios(next.low, slow.low, power);
        EXPECT_NE(next.high[1], biases.high[1]);
      }
    }
  }
}

TEST(LambdaRankTest, WithoutLossesBiasesStay) {
  RankRows rows = RowsFor(Objective::kRankNdcg, {5, 1}, 71);
  std::fill(rows.labels.begin(), rows.labels.end(), 1.0f);
  LambdaRank unbiased;
  unbiased.is_unbiased = true;
  ObjectiveParams params = LambdaParams(Objective::kRankNdcg, unbiased);
  params.biases = SomeBiases(5);
  std::vector<std::int64_t> losses;
  rows.Gradients(params, rows.Targets(false), 1, &losses);
  EXPECT_EQ(losses, std::vector<std::int64_t>(20));
  EXPECT_TRUE(NextBiases(params, losses) == params.biases);
}

TEST(LambdaRankTest, PositionsHaveALimit) {
  LambdaRank unbiased;
  unbiased.pairs = kMostPositions + 1;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { FirstBiases(unbiased); },
                                         {"lambdarank_num_pair_per_sample is 65537", "allowed: 1 to 65536"}),
            "");
  unbiased.has_top = false;
  EXPECT_EQ(FirstBiases(unbiased).low.size(), 32U);
}

/// Each row draws `kDraws` rows with another label. A row's mean gradient is its pairs' gradients times
/// 1 / (partners of one) + 1 / (partners of the other). rank_test.cc derives the bound.
TEST(LambdaRankTest, DrawnPairsHaveTheMeanOfAllPairs) {
  constexpr std::uint32_t kDraws = 200000;
  LambdaRank drawn;
  drawn.has_top = false;
  drawn.pairs = kDraws;
  for (Objective const kind : kRankings) {
    RankRows const rows = RowsFor(kind, {12}, 21);
    ObjectiveParams const params = LambdaParams(kind, drawn);
    SlowLambdas const group = GroupOf(params, rows, 0);
    std::size_t const n = group.size();
    auto const partners = [&](std::size_t row) {
      return static_cast<double>(std::count_if(rows.labels.begin(), rows.labels.end(),
                                               [&](float label) { return label != rows.labels[row]; }));
    };
    std::vector<double> mean(n);
    double heaviest = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        Pair const pair = group.Of(a, b);
        if (rows.labels[pair.high] == rows.labels[pair.low]) continue;
        double const grad = (group.Probability(pair) - 1) * pair.weight;
        double const share = 1 / partners(pair.high) + 1 / partners(pair.low);
        mean[pair.high] += grad * share;
        mean[pair.low] -= grad * share;
        heaviest = std::max(heaviest, -grad);
      }
    }
    double const allowed = heaviest * std::sqrt(static_cast<double>(n + 3) / kDraws * std::log(2e9) / 2);
    auto const found = rows.Gradients(params, rows.Targets(false), 1);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found[i].grad, mean[i], allowed) << "row " << i;
    EXPECT_GT(std::fabs(*std::max_element(mean.begin(), mean.end())), 5 * allowed);
  }
}

TEST(LambdaRankTest, ThreadsDoNotShow) {
  std::vector<std::uint32_t> sizes(1000);
  Random random{31};
  for (auto& size : sizes) size = static_cast<std::uint32_t>(random.Below(40));
  LambdaRank drawn;
  drawn.has_top = false;
  for (Objective const kind : kRankings) {
    RankRows const rows = RowsFor(kind, sizes, 32);
    for (LambdaRank const& lambdarank : {LambdaRank{}, drawn}) {
      ObjectiveParams const params = LambdaParams(kind, lambdarank);
      auto const expected = rows.Gradients(params, rows.Targets(true), 1);
      for (int const threads : {2, 3, 7}) {
        auto const found = rows.Gradients(params, rows.Targets(true), threads);
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(found[0])), 0);
      }
    }
  }
}

TEST(LambdaRankTest, LargeGroupAndMarginsThatAreFarAndNear) {
  for (Objective const kind : kRankings) {
    RankRows rows = RowsFor(kind, {20000}, 51);
    for (std::size_t i = 0; i < rows.margins.size(); i += 7) rows.margins[i] = i % 2 == 0 ? 3e38f : -3e38f;
    ExpectFiniteAndBalanced(rows.Gradients(LambdaParams(kind), rows.Targets(false), 2));
  }
}

TEST(LambdaRankTest, EqualMarginsHaveNoScoreToNormalizeBy) {
  RankRows rows = RowsFor(Objective::kRankPairwise, {40}, 61);
  std::fill(rows.margins.begin(), rows.margins.end(), 2.5f);
  LambdaRank unscaled;
  unscaled.normalizes_by_score = false;
  auto const found = rows.Gradients(LambdaParams(Objective::kRankPairwise), rows.Targets(false), 1);
  auto const expected = rows.Gradients(LambdaParams(Objective::kRankPairwise, unscaled), rows.Targets(false), 1);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].grad, expected[i].grad);
}

TEST(LambdaRankTest, NothingToRank) {
  for (Objective const kind : kRankings) {
    RankRows rows = RowsFor(kind, {5, 1}, 71);
    std::fill(rows.labels.begin(), rows.labels.end(), 1.0f);
    for (GradientPair const g : rows.Gradients(LambdaParams(kind), rows.Targets(true), 1)) {
      EXPECT_EQ(g.grad, 0);
      EXPECT_EQ(g.hess, 0);
    }
  }
}

std::string Complaint(ObjectiveParams const& params, float label, std::vector<std::string> const& parts) {
  RankRows rows = RowsFor(params.kind, {3}, 92);
  rows.labels[1] = label;
  return WhatIsWrong<InvalidArgument>([&] { CheckTargets(params, rows.Targets(false), 3, 1, 1); }, parts);
}

TEST(LambdaRankTest, BadTargets) {
  LambdaRank linear, none;
  linear.has_exp_gain = false;
  none.pairs = 0;
  constexpr char const* kGrades = "label must be either 0 or positive integer, at most 31";
  for (float const label : {-1.0f, 0.5f, 32.0f, std::nanf("")}) {
    EXPECT_EQ(Complaint(LambdaParams(Objective::kRankNdcg), label, {"Label of row 1 is ", kGrades}), "");
  }
  for (float const label : {-1.0f, INFINITY, std::nanf("")}) {
    EXPECT_EQ(Complaint(LambdaParams(Objective::kRankNdcg, linear), label, {"finite and nonnegative"}), "");
  }
  for (float const label : {-1.0f, 0.5f, 2.0f, std::nanf("")}) {
    EXPECT_EQ(Complaint(LambdaParams(Objective::kRankMap), label, {"map can only be used with binary labels"}), "");
  }
  EXPECT_EQ(Complaint(LambdaParams(Objective::kRankPairwise), std::nanf(""), {"label must be a number"}), "");
  EXPECT_EQ(Complaint(LambdaParams(Objective::kRankMap, none), 0,
                      {"lambdarank_num_pair_per_sample is 0; allowed: 1 and more"}),
            "");
  RankRows rows = RowsFor(Objective::kRankNdcg, {3}, 93);
  rows.labels = {0.5f, 31.5f, 1e30f};
  CheckTargets(LambdaParams(Objective::kRankNdcg, linear), rows.Targets(false), 3, 1, 1);
  rows.labels = {0, 31, 2};
  CheckTargets(LambdaParams(Objective::kRankNdcg), rows.Targets(false), 3, 1, 1);
}

}  // namespace
}  // namespace xgbgpu::testing
