// Finds the position biases of the next round.
#include "objective/position_bias.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

constexpr std::uint32_t kPositionsOfMean = 32;

/// Returns the least `bits` so that 1 / DivisorOf of each bias that divides is at most 2^bits.
int BitsOf(std::vector<float> const& biases) {
  double least = 1.0;
  for (float const bias : biases) {
    if (bias >= kLeastBias) least = std::min(least, DivisorOf(bias));
  }
  int bits = 0;
  while (detail::PowerOfTwo(-bits) > least) ++bits;
  return bits;
}

/// Returns the biases by the losses of positions, whose integers begin at `losses`.
std::vector<float> Next(std::vector<float> biases, std::int64_t const* losses, double unit, double exponent) {
  auto const loss = [&](std::size_t position) {
    std::int64_t const* const at = losses + kLossesOfPosition * position;
    return PairTotal{at[0], at[1]}.Value() * unit;
  };
  double const first = biases.empty() ? 0.0 : loss(0);
  if (first < kLeastBias) return biases;
  for (std::size_t i = 0; i < biases.size(); ++i) {
    double const ratio = loss(i) / first;
    biases[i] = ratio == 0.0 ? 0.0f : static_cast<float>(PortableExp(exponent * PortableLog(ratio)));
  }
  return biases;
}

}  // namespace

PositionBiases FirstBiases(LambdaRank const& params) {
  std::uint32_t const positions = params.has_top ? params.pairs : kPositionsOfMean;
  if (positions > kMostPositions) {
    Throw<InvalidArgument>("Parameter lambdarank_num_pair_per_sample is ", positions,
                           " with lambdarank_unbiased; allowed: 1 to ", kMostPositions);
  }
  std::vector<float> const ones(positions, 1.0f);
  return {ones, ones};
}

BiasView ViewBiases(ObjectiveParams const& params) {
  if (!params.lambdarank.is_used || !params.lambdarank.is_unbiased) return {nullptr, nullptr, 0, 0, 0};
  auto const& [high, low] = params.biases;
  return {high.data(), low.data(), static_cast<std::uint32_t>(high.size()), BitsOf(high), BitsOf(low)};
}

PositionBiases NextBiases(ObjectiveParams const& params, Span<std::int64_t const> losses) {
  double const unit = 1.0 / detail::PowerOfTwo(LossShift(params.lambdarank, ViewBiases(params)));
  double const exponent = 1.0 / (1.0 + params.lambdarank.bias_norm);
  return {Next(params.biases.high, losses.data(), unit, exponent),
          Next(params.biases.low, losses.data() + 2, unit, exponent)};
}

}  // namespace xgbgpu
