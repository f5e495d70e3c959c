/// Per-row maths of the sample stage.
///
/// A row is in the sample if its 32-bit draw is below its *chance*, a number of 2^-32ths. With `gradient_based` and
/// `goss` the chance depends on the row's *key*, a measure of its gradient:
///
///   gradient_based   sqrt(g² + 0.1 h²)   chance min(1, key / threshold), with the threshold for a sum of chances of
///                                        subsample · rows. From  Ou, "Out-of-core GPU gradient boosting",
///                                        arXiv:2005.09148; the weight of h² is from XGBoost's gpu_hist
///   goss             |g · h|             1 for the top_rate · rows largest keys. All other rows have equal chances,
///                                        other_rate · rows of them are expected. From  Ke et al., "LightGBM: a
///                                        highly efficient gradient boosting decision tree", NIPS 2017
///
/// and the gradients of a sampled row are divided by the chance. So sums over the sample are unbiased for any keys.
/// Keys need not be exact, only equal on all backends: they are the upper bits of a float, its exponent and 8 bits
/// after the leading one. Keys of the 22 octaves up to the largest key's are distinguished. Smaller keys count as the
/// smallest distinguished key, and only gradients of zero have the key 0. A bin's value is an integer below 2^30, so
/// sums over 2^32 rows are exact, and the threshold does not depend on any order.
#ifndef XGBGPU_SAMPLE_SAMPLE_OPS_H_
#define XGBGPU_SAMPLE_SAMPLE_OPS_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/float_bits.h"
#include "base/hd.h"
#include "gradient/gradient_ops.h"
#include "xgbgpu/params.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns the bound of draws in the sample. 2^32 (everything) needs 64 bits.
XGBGPU_HD std::uint64_t SampleThreshold(float fraction) {
  return static_cast<std::uint64_t>(static_cast<double>(fraction) * 4294967296.0);
}

XGBGPU_HD bool IsSampled(std::uint32_t draw, std::uint64_t chance) { return draw < chance; }

constexpr std::uint64_t kCertain = std::uint64_t{1} << 32;

constexpr int kKeyBits = 8;                ///< bits of a key after its leading one
constexpr std::uint32_t kKeys = 1U << 16;  ///< eight bits and a float's exponent
constexpr int kKeyOctaves = 22;
constexpr std::uint32_t kKeyBins = 1 + (kKeyOctaves << kKeyBits);

/// A power of two at or below a float > 0 and above its quarter, except for floats below 2^-126.
struct PowerBelow {
  int exponent;
  float reciprocal;

  /// `magnitude` is the float's MagnitudeBits.
  XGBGPU_HD explicit PowerBelow(std::uint32_t magnitude) {
    constexpr std::uint32_t kOne = 127, kMost = 2 * kOne - 1;  // beyond, the reciprocal would not be a normal float
    std::uint32_t const biased = magnitude >> 23 < kMost ? magnitude >> 23 : kMost;
    exponent = static_cast<int>(biased) - static_cast<int>(kOne);
    reciprocal = FloatFromBits((2 * kOne - biased) << 23);
  }
};

/// Returns a row's key, less than kKeys. Takes powers of two out of the gradient before squares and products, which
/// stay within floats. A key outside the valid range becomes the nearest valid key.
XGBGPU_HD std::uint32_t KeyOf(GradientPair v, SamplingMethod method) {
  constexpr int kMantissa = 23;  // bits of a float
  std::uint32_t const grad = MagnitudeBits(v.grad), hess = MagnitudeBits(v.hess);
  float key = 0;
  int exponent = 0;
  if (method == SamplingMethod::kGradientBased) {
    std::uint32_t const larger = grad > hess ? grad : hess;
    if (larger == 0) return 0;
    PowerBelow const power{larger};
    float const g = v.grad * power.reciprocal, h = v.hess * power.reciprocal;
    key = std::sqrt(g * g + 0.1f * (h * h));
    exponent = power.exponent;
  } else {
    if (grad == 0 || hess == 0) return 0;
    PowerBelow const of_grad{grad}, of_hess{hess};
    key = (v.grad * of_grad.reciprocal) * (v.hess * of_hess.reciprocal);
    exponent = of_grad.exponent + of_hess.exponent;
  }
  constexpr int kMost = static_cast<int>(kKeys) - 1;
  int const bits = static_cast<int>(MagnitudeBits(key) >> (kMantissa - kKeyBits)) + exponent * (1 << kKeyBits);
  return static_cast<std::uint32_t>(bits < 1 ? 1 : bits > kMost ? kMost : bits);
}

/// Returns the first key of the distinguished octaves, from the largest key of all rows.
XGBGPU_HD std::uint32_t FirstToldApart(std::uint32_t largest_key) {
  std::uint32_t const octave = largest_key >> kKeyBits;
  return octave < kKeyOctaves ? 0 : (octave + 1 - kKeyOctaves) << kKeyBits;
}

/// Returns the bin of a key, 0 to kKeyBins - 1.
XGBGPU_HD std::uint32_t KeyBin(std::uint32_t key, std::uint32_t first_told_apart) {
  if (key == 0) return 0;
  return key < first_told_apart ? 1 : 1 + key - first_told_apart;
}

/// Returns the value of a bin's rows in sums of keys.
XGBGPU_HD std::uint64_t KeyValue(std::uint32_t bin) {
  if (bin == 0) return 0;
  constexpr std::uint32_t kOneBit = 1U << kKeyBits;
  return std::uint64_t{kOneBit + (bin - 1) % kOneBit} << ((bin - 1) / kOneBit);
}

/// The size of a sample in rows.
struct SampleTarget {
  SamplingMethod method;
  double rows;      ///< all rows
  double expected;  ///< expected rows of the sample
  double top;       ///< kGoss: rows with chance 1
};

XGBGPU_HD SampleTarget MakeSampleTarget(TrainParams const& params, std::uint64_t rows) {
  auto const n = static_cast<double>(rows);
  if (params.sampling_method != SamplingMethod::kGoss) {
    return {params.sampling_method, n, n * static_cast<double>(params.subsample), 0.0};
  }
  double const top = n * static_cast<double>(params.top_rate);
  return {params.sampling_method, n, top + n * static_cast<double>(params.other_rate), top};
}

/// Counts of rows by their keys, relative to one bin.
struct KeyTotals {
  std::uint64_t above;  ///< rows in higher bins
  std::uint64_t count;  ///< rows in the bin
  std::uint64_t sum;    ///< sum of the values of rows in the bin and in lower bins
};

/// Returns true if the bin is at or below the threshold's bin. The threshold lies in the highest bin with true, or in
/// bin 0. All lower bins give true.
XGBGPU_HD bool IsBelowThreshold(SampleTarget const& target, std::uint32_t bin, KeyTotals const& totals) {
  if (target.method == SamplingMethod::kGoss) {
    return static_cast<double>(totals.above + totals.count) >= target.top;
  }
  // If all higher bins had chance 1, this bin's chance would not exceed 1.
  double const left = target.expected - static_cast<double>(totals.above);
  return bin != 0 && static_cast<double>(KeyValue(bin)) * left <= static_cast<double>(totals.sum);
}

/// The chances of bins.
struct SampleRule {
  SamplingMethod method;
  std::uint32_t first_told_apart;  ///< first distinguished key: see KeyBin
  std::uint32_t bin;               ///< rows of higher bins have chance 1
  double per_value;                ///< gradient_based: chance of bins up to `bin` divided by their value
  std::uint64_t at;                ///< goss: chance in `bin` …
  std::uint64_t below;             ///< … and in lower ones
};

XGBGPU_HD std::uint64_t ToChance(double chance) {
  return chance >= 4294967296.0 ? kCertain : chance < 1.0 ? 1 : static_cast<std::uint64_t>(chance);
}

/// Returns the rule for the bin that IsBelowThreshold finds, from its totals.
///
/// gradient_based: rows of higher bins have chance 1. The chances of all other rows add up to the remaining part of the
/// sample, because each is value · left / sum. `left` is positive, since the bin above failed the test. If there are
/// fewer rows with keys above 0 than the sample may have, no bin passes, and all of them have chance 1.
/// goss: a part of the bin's `count` rows is among the top, and the remaining part shares the rest of the sample with
/// lower bins. Rows of one bin are indistinguishable, so each gets the average.
XGBGPU_HD SampleRule MakeSampleRule(SampleTarget const& target, std::uint32_t first_told_apart, std::uint32_t bin,
                                    KeyTotals const& totals) {
  SampleRule rule{target.method, first_told_apart, bin, 0.0, 0, 0};
  if (target.method == SamplingMethod::kGoss) {
    double const count = static_cast<double>(totals.count), top = target.top - static_cast<double>(totals.above);
    double const other = (target.expected - target.top) / (target.rows - target.top);
    rule.at = ToChance((top + (count - top) * other) / count * 4294967296.0);
    rule.below = ToChance(other * 4294967296.0);
  } else if (bin != 0) {
    double const left = target.expected - static_cast<double>(totals.above);
    rule.per_value = left / static_cast<double>(totals.sum) * 4294967296.0;
  }
  return rule;
}

/// gradient_based: returns the chance, rounded down, of bin `i` of the octave of rule.bin, without the limit of 1. The
/// bin one octave lower has half of it, rounded down, because its value is half as large.
XGBGPU_HD std::uint64_t ChanceInTopOctave(SampleRule const& rule, std::uint32_t i) {
  std::uint32_t const octave = (rule.bin - 1) >> kKeyBits;
  return static_cast<std::uint64_t>(static_cast<double>(KeyValue(1 + (octave << kKeyBits) + i)) * rule.per_value);
}

/// Returns the chance of a row with this key. in_top_octave(i) returns ChanceInTopOctave, possibly from a table.
template <typename InTopOctave>
XGBGPU_HD std::uint64_t ChanceOf(SampleRule const& rule, std::uint32_t key, InTopOctave&& in_top_octave) {
  std::uint32_t const bin = KeyBin(key, rule.first_told_apart);
  if (bin > rule.bin) return kCertain;
  if (rule.method == SamplingMethod::kGoss) return bin == rule.bin ? rule.at : rule.below;
  if (bin == 0) return 0;
  std::uint32_t const lower = ((rule.bin - 1) >> kKeyBits) - ((bin - 1) >> kKeyBits);  // number of octaves
  std::uint64_t const chance = in_top_octave((bin - 1) % (1U << kKeyBits)) >> lower;
  return chance < 1 ? 1 : chance > kCertain ? kCertain : chance;
}
XGBGPU_HD std::uint64_t ChanceOf(SampleRule const& rule, std::uint32_t key) {
  return ChanceOf(rule, key, [&](std::uint32_t i) { return ChanceInTopOctave(rule, i); });
}

/// Returns v divided by the chance, limited to the largest float, which only gradients near it exceed.
///
/// A chance is at least key · 2^32 / threshold, except for the rounding of keys. So |g| / chance exceeds the threshold
/// by no more than the rounding, and |h| / chance does not exceed threshold / sqrt(0.1): no weighted gradient dominates
/// the others. The format of the tree's gradients is chosen after the division (gradient/gradient.h), so the proof in
/// core/fixed_point.h holds.
XGBGPU_HD GradientPair DivideByChance(GradientPair v, std::uint64_t chance) {
  if (chance >= kCertain) return v;
  constexpr double kMost = static_cast<double>(std::numeric_limits<float>::max());
  double const factor = 4294967296.0 / static_cast<double>(chance);
  double const g = static_cast<double>(v.grad) * factor, h = static_cast<double>(v.hess) * factor;
  auto const round = [](double x) { return static_cast<float>(x > kMost ? kMost : x < -kMost ? -kMost : x); };
  return {round(g), round(h)};
}

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_SAMPLE_OPS_H_
