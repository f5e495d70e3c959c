#include "reference/gradient.h"

#include <algorithm>
#include <cmath>

namespace xgbgpu::reference {

namespace {

constexpr std::uint32_t kRounding = 1, kRowSample = 2;  // purposes, as in src/core/random.h

std::uint32_t Draw(std::uint32_t purpose, std::size_t row, std::uint64_t seed, std::uint32_t tree) {
  auto const words = Philox({static_cast<std::uint32_t>(row / 4), tree, purpose << 29, 0},
                            {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return words[row % 4];
}

struct Magnitudes {
  double largest{0};
  double sum{0};

  void Add(float v) {
    largest = std::max(largest, std::fabs(static_cast<double>(v)));
    sum += std::fabs(static_cast<double>(v));
  }
  /// e with largest < 2^e, as small as possible.
  int Exponent() const {
    int e = 0;
    std::frexp(largest, &e);
    return e;
  }
  bool MeanIsNearMaximum(std::size_t n) const { return largest > 0 && sum / static_cast<double>(n) >= largest / 64; }
};

std::int64_t Nearest(float v, int shift) { return std::llrint(std::ldexp(static_cast<long double>(v), shift)); }

std::int64_t AtRandom(float v, int shift, std::uint32_t random16) {
  long double const u = (random16 + 0.5L) / 65536;
  return static_cast<std::int64_t>(std::floor(std::ldexp(static_cast<long double>(v), shift) + u));
}

}  // namespace

std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const a = 0xD2511F53ULL * counter[0];
    std::uint64_t const b = 0xCD9E8D57ULL * counter[2];
    auto const high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    auto const low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x & 0xFFFFFFFFU); };
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

FixedPoint Quantise(std::vector<GradientPair> const& gradients, std::uint64_t seed, std::uint32_t tree) {
  std::size_t const n = gradients.size();
  Magnitudes grad, hess;
  for (GradientPair const& g : gradients) {
    grad.Add(g.grad);
    hess.Add(g.hess);
  }
  FixedPoint fixed;
  fixed.narrow = n >= (std::size_t{1} << 16) && grad.MeanIsNearMaximum(n) && hess.MeanIsNearMaximum(n);
  int const bits = fixed.narrow ? 14 : std::min(45, 62 - static_cast<int>(std::ceil(std::log2(n))));
  fixed.grad_shift = bits - grad.Exponent();
  fixed.hess_shift = bits - hess.Exponent();
  for (std::size_t r = 0; r < n; ++r) {
    if (fixed.narrow) {
      std::uint32_t const draw = Draw(kRounding, r, seed, tree);
      fixed.rows.push_back({AtRandom(gradients[r].grad, fixed.grad_shift, draw & 0xFFFFU),
                            AtRandom(gradients[r].hess, fixed.hess_shift, draw >> 16)});
    } else {
      fixed.rows.push_back(
          {Nearest(gradients[r].grad, fixed.grad_shift), Nearest(gradients[r].hess, fixed.hess_shift)});
    }
  }
  return fixed;
}

std::vector<RowIndex> SampleRows(std::size_t rows, float subsample, std::uint64_t seed, std::uint32_t tree) {
  std::vector<RowIndex> sample;
  for (std::size_t r = 0; r < rows; ++r) {
    if (Draw(kRowSample, r, seed, tree) < std::floor(static_cast<double>(subsample) * 4294967296.0)) {
      sample.push_back(static_cast<RowIndex>(r));
    }
  }
  return sample;
}

}  // namespace xgbgpu::reference
