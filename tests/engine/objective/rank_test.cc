// Ranking objectives against a slow reference with the same draws; the mean over draws; properties; bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/float_bits.h"
#include "objective/rank_ops.h"
#include "support/rank_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// A group by the definitions: every measure is computed anew after two rows change places.
class SlowGroup {
 public:
  SlowGroup(Objective kind, std::vector<float> margins, std::vector<float> labels)
      : kind_{kind}, margins_{std::move(margins)}, labels_{std::move(labels)} {
    by_label_ = Ordered(labels_);
    by_margin_ = Ordered(margins_);
    ideal_ = DiscountedGains(by_label_);
  }

  std::size_t size() const { return labels_.size(); }
  float label(std::size_t row) const { return labels_[row]; }

  /// Returns the rows with another label, in order of labels.
  std::vector<std::size_t> Partners(std::size_t row) const {
    std::vector<std::size_t> partners;
    for (std::size_t const other : by_label_)
      if (labels_[other] != labels_[row]) partners.push_back(other);
    return partners;
  }

  /// Returns by how much the objective's measure changes if the two change places.
  double Weight(std::size_t a, std::size_t b) const {
    if (kind_ == Objective::kRankPairwise) return 1;
    auto changed = by_margin_;
    std::iter_swap(std::find(changed.begin(), changed.end(), a), std::find(changed.begin(), changed.end(), b));
    if (kind_ == Objective::kRankMap) return std::fabs(AveragePrecision(changed) - AveragePrecision(by_margin_));
    return ideal_ == 0 ? 0 : std::fabs(DiscountedGains(changed) - DiscountedGains(by_margin_)) / ideal_;
  }

  double Probability(std::size_t high, std::size_t low) const {
    return 1 / (1 + std::exp(static_cast<double>(margins_[low]) - margins_[high]));
  }

 private:
  static std::vector<std::size_t> Ordered(std::vector<float> const& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    return order;
  }
  double DiscountedGains(std::vector<std::size_t> const& order) const {
    double sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      sum += (std::exp2(std::floor(labels_[order[i]])) - 1) / std::log2(static_cast<double>(i + 2));
    return sum;
  }
  double AveragePrecision(std::vector<std::size_t> const& order) const {
    double hits = 0, sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (labels_[order[i]] > 0) sum += ++hits / static_cast<double>(i + 1);
    return hits == 0 ? 0 : sum / hits;
  }

  Objective kind_;
  std::vector<float> margins_, labels_;
  std::vector<std::size_t> by_label_, by_margin_;
  double ideal_{0};
};

SlowGroup GroupOf(Objective kind, RankRows const& rows, std::size_t group) {
  auto const slice = [&](std::vector<float> const& v) {
    return std::vector<float>(v.begin() + rows.group_ptr[group], v.begin() + rows.group_ptr[group + 1]);
  };
  return {kind, slice(rows.margins), slice(rows.labels)};
}

struct Expected {
  double grad{0}, hess{0};
  double grad_error{0}, hess_error{0};
};

/// Returns what a pair adds to the row with the larger label, before the group's factor, and how far the engine may be
/// off:
///   p     a float: the difference of the margins, e^x, the sum and the quotient round by half a unit (2^-24) each;
///         dp/dx = p (1 - p); below e^-88.7 the engine stays above 0
///   h     2 max(p (1 - p), 1e-16): twice the error of p, and two roundings
///   weight  by less than 2^-38: up to 300 terms in units of 2^-50 or of 2^-50 of the largest gain here, and the
///         differences of sums below 300 in double there
///   sum   half a unit of 2^-45 for the gradient, one for the hessian
Expected OfPair(SlowGroup const& group, std::size_t high, std::size_t low, double x) {
  constexpr double kUlp = 1.001 * 0x1p-24;
  double const p = group.Probability(high, low), weight = group.Weight(high, low);
  double const p_error = kUlp * (3 * p + p * (1 - p) * std::fabs(x)) + 1e-30;
  double const h = 2 * p * (1 - p);
  Expected e{(p - 1) * weight, std::max(h, 2e-16) * weight};
  e.grad_error = weight * (p_error + kUlp * (1 - p + p_error)) + 0x1p-38 * (1 - p) + 0x1p-46;
  e.hess_error = weight * (2 * p_error + 2 * kUlp * h) + 0x1p-38 * h + 0x1p-45;
  return e;
}

std::vector<Expected> Reference(ObjectiveParams const& params, RankRows const& rows, bool weighted) {
  std::vector<Expected> all(rows.rows());
  std::size_t const groups = rows.weights.size();
  double const sum =
      weighted ? std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0) : static_cast<double>(groups);
  PairDraws const draws{params.seed, params.iteration, params.num_pairsample};
  for (std::size_t g = 0; g < groups; ++g) {
    SlowGroup const group = GroupOf(params.kind, rows, g);
    std::uint32_t const first = rows.group_ptr[g];
    double factor = (weighted ? rows.weights[g] : 1.0f) * static_cast<double>(groups) / sum / params.num_pairsample;
    if (params.fix_list_weight != 0) factor *= params.fix_list_weight / static_cast<double>(group.size());
    auto const add = [&](std::size_t row, Expected const& e, double sign) {
      Expected& to = all[first + row];
      to.grad += sign * factor * e.grad;
      to.hess += factor * e.hess;
      to.grad_error += factor * e.grad_error;
      to.hess_error += factor * e.hess_error;
    };
    for (std::uint32_t row = 0; row < group.size(); ++row) {
      auto const partners = group.Partners(row);
      for (std::uint32_t s = 0; s < params.num_pairsample && !partners.empty(); ++s) {
        auto const drawn = draws.Below(static_cast<std::uint32_t>(partners.size()), first + row, s);
        std::size_t const other = partners[drawn];
        bool const is_high = group.label(row) > group.label(other);
        std::size_t const high = is_high ? row : other, low = is_high ? other : row;
        double const x = static_cast<double>(rows.margins[first + high]) - rows.margins[first + low];
        Expected const e = OfPair(group, high, low, x);
        add(high, e, 1);
        add(low, e, -1);
      }
    }
  }
  return all;
}

TEST(RankTest, EqualsTheReferenceWithTheSameDraws) {
  for (Objective const kind : kRankings) {
    for (std::uint32_t const samples : {1, 7}) {
      for (float const fix_list_weight : {0.0f, 2.5f}) {
        RankRows const rows{{1, 2, 0, 3, 50, 300, 17, 1, 0}, 5, 11};
        ObjectiveParams const params = RankParams(kind, samples, fix_list_weight);
        for (bool const weighted : {false, true}) {
          auto const found = rows.Gradients(params, rows.Targets(weighted), 2);
          auto const expected = Reference(params, rows, weighted);
          for (std::size_t i = 0; i < found.size(); ++i) {
            Expected const& e = expected[i];
            ASSERT_LE(std::fabs(found[i].grad - e.grad), e.grad_error + 0x1p-24 * std::fabs(e.grad)) << "row " << i;
            ASSERT_LE(std::fabs(found[i].hess - e.hess), e.hess_error + 0x1p-24 * e.hess) << "row " << i;
          }
        }
      }
    }
  }
}

/// With K draws a row, the gradient is the mean of what single draws give: for each pair of rows i, j with different
/// labels its gradient times 1 / (partners of i) + 1 / (partners of j). A row's gradient is a sum of independent terms,
/// one for each draw of a row. Its own terms lie within 2 w / K and the others' within w / K, where w is the largest
/// gradient of a pair. By Hoeffding's inequality the sum is off by more than w · sqrt((n + 3) / K · ln(2 / q) / 2)
/// with probability q at most; q = 1e-9.
TEST(RankTest, MeanOverDrawsIsThatOfAllPairs) {
  constexpr std::uint32_t kDraws = 200000;
  for (Objective const kind : kRankings) {
    RankRows const rows{{12}, 3, 21};
    SlowGroup const group = GroupOf(kind, rows, 0);
    std::size_t const n = group.size();
    std::vector<double> mean(n);
    double largest = 0, heaviest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      auto const partners = group.Partners(i);
      for (std::size_t const j : partners) {
        bool const is_high = group.label(i) > group.label(j);
        double const g = (group.Probability(is_high ? i : j, is_high ? j : i) - 1) * group.Weight(i, j);
        heaviest = std::max(heaviest, -g);
        double const share =
            1.0 / static_cast<double>(partners.size()) + 1.0 / static_cast<double>(group.Partners(j).size());
        mean[i] += (is_high ? g : -g) * share;
      }
      largest = std::max(largest, std::fabs(mean[i]));
    }
    double const allowed = heaviest * std::sqrt(static_cast<double>(n + 3) / kDraws * std::log(2e9) / 2);
    EXPECT_GT(largest, 5 * allowed);
    auto const found = rows.Gradients(RankParams(kind, kDraws), rows.Targets(false), 1);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found[i].grad, mean[i], allowed) << "row " << i;
  }
}

template <typename T>
bool SameBits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(RankTest, ThreadsDoNotShow) {
  std::vector<std::uint32_t> sizes(3000);
  Random random{31};
  for (auto& size : sizes) size = static_cast<std::uint32_t>(random.Below(20));
  sizes[100] = 5000;
  RankRows const rows{sizes, 4, 32};
  for (Objective const kind : kRankings) {
    ObjectiveParams const params = RankParams(kind, 3);
    auto const expected = rows.Gradients(params, rows.Targets(true), 1);
    for (int const threads : {2, 3, 7})
      EXPECT_TRUE(SameBits(rows.Gradients(params, rows.Targets(true), threads), expected));
  }
}

TEST(RankTest, DrawsDependOnSeedAndIteration) {
  RankRows const rows{{100, 100}, 5, 41};
  ObjectiveParams const params = RankParams(Objective::kRankPairwise, 1);
  auto const before = rows.Gradients(params, rows.Targets(false), 1);
  EXPECT_TRUE(SameBits(rows.Gradients(params, rows.Targets(false), 1), before));
  ObjectiveParams next = params, other = params, high = params;
  ++next.iteration;
  ++other.seed;
  high.seed += std::uint64_t{1} << 40;
  for (ObjectiveParams const& p : {next, other, high})
    EXPECT_FALSE(SameBits(rows.Gradients(p, rows.Targets(false), 1), before));
}

TEST(RankTest, LargeGroupAndLargeMargins) {
  RankRows rows{{100000, 1}, 31, 51};
  for (std::size_t i = 0; i < rows.margins.size(); i += 7) rows.margins[i] = i % 2 == 0 ? 3e38f : -3e38f;
  rows.labels[99999] = 30;
  for (Objective const kind : kRankings) {
    ExpectFiniteAndBalanced(rows.Gradients(RankParams(kind, 1), rows.Targets(false), 2));
  }
}

TEST(RankTest, OneRelevantRowIsInEveryPair) {
  RankRows rows{{1000}, 1, 61};
  std::fill(rows.labels.begin(), rows.labels.end(), 0.0f);
  std::fill(rows.margins.begin(), rows.margins.end(), 1.0f);
  rows.labels[500] = 1;
  auto const found = rows.Gradients(RankParams(Objective::kRankPairwise, 1), rows.Targets(false), 1);
  EXPECT_EQ(found[500].grad, -500);  // 1000 pairs with p = 1/2
  EXPECT_EQ(found[500].hess, 500);
  float others = 0;
  for (std::size_t i = 0; i < 1000; ++i) others += i == 500 ? 0 : found[i].grad;
  EXPECT_EQ(others, 500);
}

TEST(RankTest, NothingToRank) {
  for (Objective const kind : kRankings) {
    RankRows rows{{5, 1}, 1, 71};
    std::fill(rows.labels.begin(), rows.labels.end(), 2.0f);
    for (GradientPair const g : rows.Gradients(RankParams(kind, 2), rows.Targets(true), 1)) {
      EXPECT_EQ(g.grad, 0);
      EXPECT_EQ(g.hess, 0);
    }
  }
  // No row is relevant, and no gain is above 0: the measures cannot change.
  RankRows rows{{3}, 1, 72};
  rows.labels = {0, 0.5f, 0};
  for (GradientPair const g : rows.Gradients(RankParams(Objective::kRankNdcg, 2), rows.Targets(true), 1))
    EXPECT_EQ(g.grad, 0);
}

TEST(RankTest, AllRowsAreOneGroupWhereNoneAreGiven) {
  RankRows const rows{{200}, 4, 81};
  for (Objective const kind : kRankings) {
    TargetView targets = rows.Targets(false);
    auto const expected = rows.Gradients(RankParams(kind, 2), targets, 1);
    targets.group_ptr = nullptr;
    targets.groups = 0;
    CheckTargets(RankParams(kind, 2), targets, 200, 1, 1);
    EXPECT_TRUE(SameBits(rows.Gradients(RankParams(kind, 2), targets, 1), expected));
  }
}

TEST(RankTest, Names) {
  EXPECT_EQ(ObjectiveByName("rank:pairwise"), Objective::kRankPairwise);
  EXPECT_EQ(ObjectiveByName("rank:ndcg"), Objective::kRankNdcg);
  EXPECT_EQ(ObjectiveByName("rank:map"), Objective::kRankMap);
}

std::string Complaint(Objective kind, RankRows const& rows, std::vector<std::string> const& parts,
                      std::uint32_t samples = 1, std::uint32_t outputs = 1) {
  return WhatIsWrong<InvalidArgument>(
      [&] { CheckTargets(RankParams(kind, samples), rows.Targets(false), rows.rows(), outputs, 2); }, parts);
}

TEST(RankTest, BadTargets) {
  for (Objective const kind : kRankings) {
    RankRows const good{{3, 0, 4}, 3, 91};
    CheckTargets(RankParams(kind, 1), good.Targets(false), 7, 1, 2);
    RankRows rows = good;
    rows.group_ptr = {1, 3, 7};
    EXPECT_EQ(Complaint(kind, rows, {"group structure not consistent with #rows: the first group begins at row 1"}),
              "");
    rows.group_ptr = {0, 3, 6};
    EXPECT_EQ(Complaint(kind, rows, {"group structure not consistent with #rows: the 2 groups have 6 rows", "are 7"}),
              "");
    rows.group_ptr = {0, 5, 4, 7};
    EXPECT_EQ(Complaint(kind, rows, {"group 1 begins at row 5 and ends before row 4"}), "");
    EXPECT_EQ(Complaint(kind, good, {"num_pairsample is 0; allowed: 1 and more"}, 0), "");
    EXPECT_EQ(Complaint(kind, good, {"label size predict size not match"}, 1, 2), "");
    rows = good;
    rows.labels[4] = std::nanf("");
    EXPECT_EQ(Complaint(kind, rows, {"Label of row 4 is nan"}), "");
    TargetView targets = good.Targets(false);
    targets.label_columns = 2;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(RankParams(kind, 1), targets, 3, 2, 1); },
                                           {"Rows have 2 outputs (targets); ranking takes 1"}),
              "");
    targets.label_columns = 1;
    std::uint64_t const many = std::uint64_t{1} << 31;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckTargets(RankParams(kind, 1), targets, many, 1, 1); },
                                           {"There are 2147483648 rows to rank; allowed: up to 2147483647"}),
              "");
  }
  for (float const label : {-1.0f, 31.0f}) {
    RankRows rows{{3}, 3, 92};
    rows.labels[1] = label;
    EXPECT_EQ(Complaint(Objective::kRankNdcg, rows, {"Label of row 1 is ", "rank:ndcg: label must be in [0, 31)"}), "");
    CheckTargets(RankParams(Objective::kRankMap, 1), rows.Targets(false), 3, 1, 1);
    CheckTargets(RankParams(Objective::kRankPairwise, 1), rows.Targets(false), 3, 1, 1);
  }
}

TEST(RankTest, OrderOfKeys) {
  float const values[] = {INFINITY, 3e38f, 2, 1, 1e-45f, 0, -1e-45f, -1, -3e38f, -INFINITY};
  for (std::size_t i = 1; i < std::size(values); ++i)
    EXPECT_LT(DescendingKey(values[i - 1]), DescendingKey(values[i])) << values[i];
  EXPECT_EQ(DescendingKey(0.0f), DescendingKey(-0.0f));
}

}  // namespace
}  // namespace xgbgpu::testing
