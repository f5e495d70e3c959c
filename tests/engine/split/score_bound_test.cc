// split: the bound in float never drops a candidate that is as good as one that is known.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "split/constraint_ops.h"
#include "split/score_bound_ops.h"

namespace xgbgpu {
namespace {

// A device's division may be off by 4e, on either side, where the host's is by e (score_bound_ops.h).
constexpr float kDeviceDivision = 1.0f - 0x1p-21f;

struct Candidate {
  GradientSum left, right;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_{seed} {}

  std::int64_t Below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>{0, n - 1}(engine_); }
  /// Returns numbers of every size from 1 to 2^bits.
  std::int64_t Sized(int bits) { return 1 + Below(std::int64_t{1} << (1 + Below(bits))); }

  GradientFormat Format() { return {false, static_cast<int>(Below(90)) - 20, static_cast<int>(Below(90)) - 20}; }
  GradientSum Total() { return {(Below(2) == 0 ? 1 : -1) * Sized(59), 1 + Sized(59)}; }
  Candidate Split(GradientSum total) {
    GradientSum const left{(Below(2) == 0 ? 1 : -1) * Sized(59), 1 + Below(total.hess - 1)};
    return {left, {total.grad - left.grad, total.hess - left.hess}};
  }
  /// Returns a split that gains nearly the same.
  Candidate Near(Candidate c) {
    std::int64_t const by = Below(2) == 0 ? Below(3) - 1 : c.left.grad / (std::int64_t{1} << (18 + Below(12)));
    c.left.grad += by;
    c.right.grad -= by;
    return c;
  }

 private:
  std::mt19937_64 engine_;
};

template <bool kMonotone>
void NothingIsLost(TrainParams const& params, WeightBounds bounds, std::uint64_t seed) {
  Draw draw{seed};
  int compared = 0, dropped = 0;
  for (int i = 0; i < 4000; ++i) {
    SplitParams const p{params, draw.Format()};
    ScoreUnits const units{p};
    GradientSum const total = draw.Total();
    NodeTerms const terms = TermsOf<kMonotone>(p, total, bounds);
    Candidate const a = draw.Split(total), b = draw.Below(2) == 0 ? draw.Near(a) : draw.Split(total);
    float const gain_a = SplitGain<kMonotone>(p, a.left, a.right, terms, 1);
    float const gain_b = SplitGain<kMonotone>(p, b.left, b.right, terms, 1);
    if (!(gain_a >= kLeastGain) || !(gain_b >= kLeastGain)) continue;  // no split is made of these
    auto const& better = gain_a >= gain_b ? a : b;
    auto const& worse = gain_a >= gain_b ? b : a;
    float const least_of_both = gain_a >= gain_b ? gain_b : gain_a, largest = gain_a >= gain_b ? gain_a : gain_b;
    EXPECT_FALSE(ScoreBound(units, better.left, better.right) * kDeviceDivision <
                 LeastScore(units, terms.gain, least_of_both))
        << "case " << i << ", gains " << gain_a << " and " << gain_b;
    ++compared;
    if (ScoreBound(units, worse.left, worse.right) < LeastScore(units, terms.gain, largest)) ++dropped;
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(dropped, 0) << "a bound that drops nothing is of no use";
}

/// The gain of every split in a run of entries is below what the run's bound allows.
TEST(ScoreBoundTest, NorIsOneInsideARun) {
  TrainParams params;
  params.min_child_weight = 0.0f;
  constexpr int kEntries = 16;
  Draw draw{6};
  int compared = 0, dropped = 0;
  for (int i = 0; i < 4000; ++i) {
    SplitParams const p{params, draw.Format()};
    ScoreUnits const units{p};
    GradientSum const total = draw.Total();
    NodeTerms const terms = TermsOf<false>(p, total, {});
    Candidate const first = draw.Split(total);
    int const bits = 1 + static_cast<int>(draw.Below(56));  // bits of gradients; now and then a hessian is negative
    std::vector<GradientSum> entries;
    RunReach reach;
    for (int e = 0; e < kEntries; ++e) {
      entries.push_back({(draw.Below(2) == 0 ? 1 : -1) * draw.Sized(bits), draw.Sized(bits)});
      if (draw.Below(30) == 0) entries.back().hess *= -1;
      reach.Add(entries.back().grad, entries.back().hess);
    }
    float const bound = RunScoreBound(units, first.left, first.right, reach);
    GradientSum left = first.left;
    for (GradientSum const& entry : entries) {
      GradientSum const right{total.grad - left.grad, total.hess - left.hess};
      if (left.hess > 0 && right.hess > 0) {
        float const gain = SplitGain<false>(p, left, right, terms, 0);
        if (gain >= kLeastGain) {
          EXPECT_FALSE(bound * kDeviceDivision < LeastScore(units, terms.gain, gain)) << "case " << i;
          ++compared;
          if (bound < LeastScore(units, terms.gain, 1.01f * gain)) ++dropped;
        }
      }
      left = {left.grad + entry.grad, left.hess + entry.hess};
    }
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(dropped, 100) << "a bound that drops nothing is of no use";
}

TEST(ScoreBoundTest, NothingIsLost) {
  TrainParams params;
  params.min_child_weight = 0.0f;
  for (float const lambda : {0.0f, 1e-9f, 1.0f, 1e6f}) {
    params.reg_lambda = lambda;
    NothingIsLost<false>(params, {}, 1);
  }
}

TEST(ScoreBoundTest, NorWithPenaltiesAndLimitsOfWeights) {
  TrainParams params;
  params.min_child_weight = 0.0f;
  params.reg_alpha = 2.0f;
  NothingIsLost<false>(params, {}, 2);
  params.max_delta_step = 0.7f;
  NothingIsLost<false>(params, {}, 3);
  params.regularisation = Regularisation::kOf3_4;
  NothingIsLost<false>(params, {}, 3);
  NothingIsLost<true>(params, {-0.5f, 0.25f}, 5);
  NothingIsLost<true>(params, {0.5f, 2.0f}, 7);
}

TEST(ScoreBoundTest, NorWithMonotoneConstraints) {
  TrainParams params;
  params.min_child_weight = 0.0f;
  NothingIsLost<true>(params, {}, 4);
  NothingIsLost<true>(params, {-0.5f, 0.25f}, 5);
  // No node would choose weights within these bounds: its own gain is negative.
  NothingIsLost<true>(params, {0.5f, 2.0f}, 7);
  NothingIsLost<true>(params, {-30.0f, -20.0f}, 8);
}

/// Candidates with nearly the largest bound are looked at first. The bound is so near the gain that one round is
/// enough.
TEST(ScoreBoundTest, IsNearTheGain) {
  TrainParams params;
  params.min_child_weight = 0.0f;
  Draw draw{9};
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    params.reg_lambda = i % 2 == 0 ? 1.0f : 0.0f;
    SplitParams const p{params, draw.Format()};
    ScoreUnits const units{p};
    GradientSum const total = draw.Total();
    NodeTerms const terms = TermsOf<false>(p, total, {});
    Candidate const c = draw.Split(total);
    float const gain = SplitGain<false>(p, c.left, c.right, terms, 0);
    if (gain < kLeastGain) continue;
    float const bound = ScoreBound(units, c.left, c.right);
    EXPECT_GE(LeastScore(units, terms.gain, gain), bound / kDeviceDivision * kNearBound) << "case " << i;
    ++compared;
  }
  EXPECT_GT(compared, 1000);
}

TEST(ScoreBoundTest, LightSidesAreTold) {
  TrainParams params;
  Draw draw{10};
  int exact = 0, cases = 0;
  for (int i = 0; i < 2000; ++i) {
    int const shift = static_cast<int>(draw.Below(70)) - 10;
    // Sizes go up to 2^60 units; every other one is a whole number of units.
    double const units_needed = static_cast<double>(draw.Sized(59)) * (i % 2 == 0 ? 1.0 : 0.37);
    params.min_child_weight = static_cast<float>(std::ldexp(units_needed, -shift));
    SplitParams const p{params, {false, 0, shift}};
    auto const is_light = [&](std::int64_t hess) {
      return hess <= 0 || ToLoss(p, {0, hess}).hess < p.min_child_weight;
    };
    std::int64_t const least = LeastHessian(p);
    ASSERT_GE(least, 1);
    EXPECT_TRUE(is_light(least - 1)) << "case " << i;
    EXPECT_FALSE(is_light(least + (least >> 50) + 1)) << "case " << i;
    exact += is_light(least) ? 0 : 1;
    ++cases;
  }
  EXPECT_GT(exact, cases / 2);
  for (float const nothing : {0.0f, 1e-30f}) {
    params.min_child_weight = nothing;
    EXPECT_EQ(LeastHessian(SplitParams{params, {false, 0, 20}}), 1);
  }
  params.min_child_weight = 3e38f;
  EXPECT_EQ(LeastHessian(SplitParams{params, {false, 0, 40}}), std::int64_t{1} << 62);
}

TEST(ScoreBoundTest, WeightsThatGoAgainstADirection) {
  TrainParams params;
  SplitParams const p{params, {false, 20, 20}};
  float const lambda = ScoreUnits{p}.lambda;
  GradientSum const less{5000000, 4000000}, more{-5000000, 3000000};  // weights -G / (H + lambda)
  EXPECT_FALSE(SeemsAgainst(lambda, less, more, 1));
  EXPECT_TRUE(SeemsAgainst(lambda, more, less, 1));
  EXPECT_TRUE(SeemsAgainst(lambda, less, more, -1));
  EXPECT_FALSE(SeemsAgainst(lambda, more, less, -1));
  for (int const direction : {-1, 0, 1}) EXPECT_FALSE(SeemsAgainst(lambda, less, less, direction));
}

TEST(ScoreBoundTest, AnEqualGainIsKept) {
  TrainParams params;
  params.min_child_weight = 0.0f;
  SplitParams const p{params, {false, 30, 30}};
  ScoreUnits const units{p};
  GradientSum const left{123456789012, 987654321098}, right{-987654321, 123456789};
  NodeTerms const terms = TermsOf<false>(p, {left.grad + right.grad, left.hess + right.hess}, {});
  float const gain = SplitGain<false>(p, left, right, terms, 0);
  ASSERT_GT(gain, 0.0f);
  float const bound = ScoreBound(units, left, right);
  EXPECT_GE(bound, LeastScore(units, terms.gain, gain));
  EXPECT_LT(bound, LeastScore(units, terms.gain, gain * 1.01f));
}

}  // namespace
}  // namespace xgbgpu
