// Quantises gradients and draws samples as their documents say, one row at a time.
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
  /// Returns the least e with largest < 2^e.
  int Exponent() const {
    int e = 0;
    std::frexp(largest, &e);
    return e;
  }
  /// Returns the mean, as a part of the largest.
  double Mean(std::size_t n) const { return largest > 0 ? sum / static_cast<double>(n) / largest : 0; }
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

FixedPoint Quantise(std::vector<GradientPair> const& gradients, std::size_t counted, float min_child_weight,
                    std::uint64_t seed, std::uint32_t tree) {
  Magnitudes grad, hess;
  for (GradientPair const& g : gradients) {
    grad.Add(g.grad);
    hess.Add(g.hess);
  }
  FixedPoint fixed;
  double const g = grad.Mean(counted), h = hess.Mean(counted);
  fixed.narrow =
      counted >= (std::size_t{1} << 16) && std::min(g, h) >= 1.0 / 1024 && std::min(g, h) >= std::max(g, h) / 64;
  // Units of 2^-14 of the powers of two above the largest. A hessian vanishes below one unit, beside a gradient of more
  // than 64 times its units.
  for (GradientPair const& v : gradients) {
    double const units = std::ldexp(static_cast<double>(v.hess), 14 - hess.Exponent());
    bool const vanishes =
        units > 0 && units < 1 && std::ldexp(std::fabs(static_cast<double>(v.grad)), 14 - grad.Exponent()) > 64 * units;
    if (vanishes && std::ldexp(static_cast<double>(min_child_weight), 14 - hess.Exponent()) < 256) fixed.narrow = false;
  }
  int const log_rows = counted == 0 ? 0 : static_cast<int>(std::ceil(std::log2(counted)));
  int const bits = fixed.narrow ? 14 : std::min(45, 62 - log_rows);
  fixed.grad_shift = bits - grad.Exponent();
  fixed.hess_shift = bits - hess.Exponent();
  for (std::size_t r = 0; r < gradients.size(); ++r) {
    if (fixed.narrow) {
      std::uint32_t const draw = Draw(kRounding, r, seed, tree);
      fixed.rows.push_back({AtRandom(gradients[r].grad, fixed.grad_shift, draw & 0xFFFFU),
                            AtRandom(gradients[r].hess, fixed.hess_shift, draw >> 16)});
    } else {
      std::int64_t const nearest = Nearest(gradients[r].hess, fixed.hess_shift);
      fixed.rows.push_back({Nearest(gradients[r].grad, fixed.grad_shift),
                            gradients[r].hess > 0 ? std::max<std::int64_t>(nearest, 1) : nearest});
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

namespace {

/// Returns the keys of all rows: integers, in units of 2^-8 of the lowest octave that counts.
std::vector<double> Keys(std::vector<GradientPair> const& gradients, SamplingMethod method) {
  bool const added = method == SamplingMethod::kGradientBased;
  // mantissa / 2^8 · 2^exponent, where the mantissa has nine bits, of which the first is 1.
  struct Key {
    double mantissa;
    int exponent;
  };
  std::vector<Key> keys;
  int top = -127;
  for (GradientPair const& v : gradients) {
    if (added ? v.grad == 0 && v.hess == 0 : v.grad == 0 || v.hess == 0) {
      keys.push_back({0, -127});
      continue;
    }
    auto const exponent_of = [](float x) { return std::min(126, std::max(-127, x == 0 ? -127 : std::ilogb(x))); };
    int const of_grad = exponent_of(v.grad), of_hess = exponent_of(v.hess), larger = std::max(of_grad, of_hess);
    float const g = std::ldexp(v.grad, -(added ? larger : of_grad));
    float const h = std::ldexp(v.hess, -(added ? larger : of_hess));
    float const key = added ? std::sqrt(g * g + 0.1f * (h * h)) : std::fabs(g * h);
    int const own = std::ilogb(key), exponent = own + (added ? larger : of_grad + of_hess);
    Key cut{std::floor(std::ldexp(static_cast<double>(key), 8 - own)), exponent};
    if (exponent > 128) cut = {511, 128};                                                // the largest there is
    if (exponent < -127 || (exponent == -127 && cut.mantissa < 257)) cut = {257, -127};  // the smallest
    top = std::max(top, cut.exponent);
    keys.push_back(cut);
  }
  std::vector<double> values;
  for (Key const& key : keys) {
    // The 22 highest octaves count; there are none below 2^-127.
    int const up = key.exponent - std::max(-127, top - 21);
    values.push_back(key.mantissa == 0 ? 0 : up < 0 ? 256 : std::ldexp(key.mantissa, up));
  }
  return values;
}

/// Returns chances in units of 2^-32: floor(key · factor), and 2^32 above the threshold.
std::vector<double> GradientBasedChances(std::vector<double> const& keys, double expected) {
  std::vector<double> sorted{keys};
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (double key : sorted) sum += key;
  double above = 0;  // rows that are certain: as few as possible
  while (!sorted.empty() && sorted.back() * (expected - above) > sum) {
    sum -= sorted.back();
    sorted.pop_back();
    ++above;
  }
  std::vector<double> chances;
  for (double key : keys) {
    bool const certain = key > 0 && (sorted.empty() || sorted.back() == 0 || key > sorted.back());
    double const chance = certain ? 4294967296.0 : std::floor(key * ((expected - above) / sum * 4294967296.0));
    chances.push_back(key == 0 ? 0 : std::min(4294967296.0, std::max(1.0, chance)));
  }
  return chances;
}

std::vector<double> GossChances(std::vector<double> const& keys, double top, double other) {
  std::vector<double> sorted{keys};
  std::sort(sorted.rbegin(), sorted.rend());
  double const threshold = sorted[static_cast<std::size_t>(std::ceil(top)) - 1];
  auto const above =
      static_cast<double>(std::count_if(keys.begin(), keys.end(), [&](double k) { return k > threshold; }));
  auto const at = static_cast<double>(std::count(keys.begin(), keys.end(), threshold));
  double const rate = other / (static_cast<double>(keys.size()) - top);
  std::vector<double> chances;
  for (double key : keys) {
    double const chance = key < threshold ? rate : (top - above + (at - (top - above)) * rate) / at;
    chances.push_back(key > threshold ? 4294967296.0 : std::min(4294967296.0, std::floor(chance * 4294967296.0)));
  }
  return chances;
}

}  // namespace

Sample SampleRows(std::vector<GradientPair> const& gradients, TrainParams const& params, std::uint32_t tree) {
  auto const n = static_cast<double>(gradients.size());
  std::vector<double> chances(gradients.size(), std::floor(static_cast<double>(params.subsample) * 4294967296.0));
  bool const divides = params.SamplesRows() && params.sampling_method != SamplingMethod::kUniform;
  if (divides) {
    auto const keys = Keys(gradients, params.sampling_method);
    double const top = n * static_cast<double>(params.top_rate);
    chances = params.sampling_method == SamplingMethod::kGoss
                  ? GossChances(keys, top, (top + n * static_cast<double>(params.other_rate)) - top)
                  : GradientBasedChances(keys, n * static_cast<double>(params.subsample));
  }
  Sample sample;
  sample.gradients.resize(gradients.size());
  for (std::size_t r = 0; r < gradients.size(); ++r) {
    if (!(Draw(kRowSample, r, params.seed, tree) < chances[r])) continue;
    sample.rows.push_back(static_cast<RowIndex>(r));
    double const factor = divides ? 4294967296.0 / chances[r] : 1;
    GradientPair const v = gradients[r];
    sample.gradients[r] = {static_cast<float>(static_cast<double>(v.grad) * factor),
                           static_cast<float>(static_cast<double>(v.hess) * factor)};
  }
  return sample;
}

}  // namespace xgbgpu::reference
