/// Maths of LambdaRank's position biases: a pair's gradients divided by the biases of its rows, and the losses that
/// give the biases of the next round.
///
/// A loss is rounded to an integer multiple of 2^-LossShift. A row is in few pairs with rows that have a bias, so the
/// sum of a row fits 64 bits. Sums of rows are kept in two integers (PairTotal), and are exact.
///
/// From  Hu, Wang, Peng & Li, "Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm", 2019
#ifndef XGBGPU_OBJECTIVE_POSITION_BIAS_OPS_H_
#define XGBGPU_OBJECTIVE_POSITION_BIAS_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"
#include "objective/rank_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// XGBoost does not divide by a smaller bias.
constexpr double kLeastBias = 1e-16;
/// A smaller bias divides as this one, so that sums keep their precision.
constexpr double kLeastDivisor = 1.0 / 4096.0;
/// The largest difference of margins that counts in a loss, and a bound of a loss before division: with
/// lambdarank_score_normalization it is below ln 2 / kLeastDifference + 1.
constexpr int kLossBits = 7;
constexpr double kMostDifference = 127.0;

XGBGPU_HD double DivisorOf(float bias) { return bias < kLeastDivisor ? kLeastDivisor : static_cast<double>(bias); }

/// Biases where pairs are computed.
struct BiasView {
  float const* high;        ///< [positions]
  float const* low;         ///< [positions]
  std::uint32_t positions;  ///< 0: without biases
  int high_bits, low_bits;  ///< 1 / DivisorOf of each bias that divides is at most 2^bits

  XGBGPU_HD int bits() const { return high_bits + low_bits; }
};

/// Returns the shift of losses. A row is in one pair with each row that has a bias, or draws `pairs` times and is drawn
/// `pairs` times by each of them at most.
XGBGPU_HD int LossShift(LambdaRank const& params, BiasView const& biases) {
  int const bias = biases.high_bits > biases.low_bits ? biases.high_bits : biases.low_bits, bits = kLossBits + bias;
  std::uint64_t const pairs = params.has_top ? 1 : params.pairs;
  int const room = 62 - bits - CeilLog2(pairs * (biases.positions + std::uint64_t{1})), finest = 51 - bits;
  return room < finest ? room : finest;
}

/// Returns ln(1 + e^x) of x <= kMostDifference, within 3 ulp; a larger x counts as that. NaN becomes 0.
XGBGPU_HD double LossOf(float x) {
  if (x != x) return 0.0;
  double const d = x < kMostDifference ? static_cast<double>(x) : kMostDifference;
  double const power = PortableExp(d < 0.0 ? d : -d);
  double const sum = 1.0 + power;
  // ln(1 + p): the logarithm of the rounded sum, and a term for its rounding error.
  double const log = PortableLog(sum) + (power - (sum - 1.0)) / sum;
  return d < 0.0 ? log : d + log;
}

struct UnbiasedSum {
  RankSum gradients;
  std::int64_t as_high, as_low;  ///< losses of the pairs where the row has the larger label, or the smaller

  XGBGPU_HD UnbiasedSum& operator+=(UnbiasedSum const& other) {
    gradients += other.gradients;
    as_high += other.as_high;
    as_low += other.as_low;
    return *this;
  }
};
XGBGPU_HD RankSum const& GradientsOf(UnbiasedSum const& sum) { return sum.gradients; }

/// Computes the terms of a pair for its two rows, with biases.
struct UnbiasedTerms {
  using Sum = UnbiasedSum;
  static constexpr bool kReadsRows = true;
  BiasView biases;
  double unit, loss_unit;  ///< how many units are 1

  XGBGPU_HD PairSums<UnbiasedSum> operator()(RankPair const& pair, double weight) const {
    PairSums<UnbiasedSum> sums{};
    if (!(weight > 0.0)) return sums;
    if (pair.high < biases.positions && pair.low < biases.positions) {
      float const high = biases.high[pair.high], low = biases.low[pair.low];
      double const loss = LossOf(pair.high_margin - pair.low_margin) * weight;
      if (low >= kLeastBias) sums.high.as_high = ToInteger(loss / DivisorOf(low) * loss_unit);
      if (high >= kLeastBias) sums.low.as_low = ToInteger(loss / DivisorOf(high) * loss_unit);
      if (low >= kLeastBias && high >= kLeastBias) weight /= DivisorOf(high) * DivisorOf(low);
    }
    auto const gradients = PairTerms{unit}(pair, weight);
    sums.high.gradients = gradients.high;
    sums.low.gradients = gradients.low;
    return sums;
  }
};

/// Returns the terms of pairs of a group with `rows` rows.
XGBGPU_HD UnbiasedTerms TermsOf(LambdaRank const& params, std::uint32_t rows, BiasView const& biases) {
  return {biases, detail::PowerOfTwo(LambdaShift(params, rows, biases.bits())),
          detail::PowerOfTwo(LossShift(params, biases))};
}

/// The integers of a position among the losses that shards add up: PairTotal of as_high, then of as_low.
constexpr std::size_t kLossesOfPosition = 4;

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_POSITION_BIAS_OPS_H_
