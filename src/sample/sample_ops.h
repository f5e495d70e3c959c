/// Per-row maths of the sample stage.
///
/// A row is in the sample if its 32-bit draw is below its *chance*, a number of 2^-32ths. With `gradient_based` and
/// `goss` the chance depends on the row's *key*, a measure of its gradient:
///
///   gradient_based   sqrt(g² + 0.1 h²)   chance min(1, key / threshold), the threshold such that the chances add up
///   to
///                                        subsample · rows. From  Ou, "Out-of-core GPU gradient boosting",
///                                        arXiv:2005.09148; the weight of h² is that of XGBoost's gpu_hist
///   goss             |g · h|             1 for the top_rate · rows largest keys; other_rate · rows of the others
///   are
///                                        expected, each alike. From  Ke et al., "LightGBM: a highly efficient
///                                        gradient boosting decision tree", NIPS 2017
///
/// and the gradients of a sampled row are divided by the chance: sums over the sample are then right on average,
/// whatever the keys were. So keys need not be exact, only equal everywhere: they are the upper bits of a float, its
/// exponent and 8 bits after the leading one. The 22 octaves up to the largest key's are told apart; smaller keys count
/// as the smallest of these, and only gradients of zero have the key 0. A bin's value is an integer below 2^30, so that
/// sums over 2^32 rows are exact and the threshold does not depend on any order.
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

/// A draw below this is in the sample; 2^32 (everything) needs the 64 bits.
XGBGPU_HD std::uint64_t SampleThreshold(float fraction) {
  return static_cast<std::uint64_t>(static_cast<double>(fraction) * 4294967296.0);
}

XGBGPU_HD bool IsSampled(std::uint32_t draw, std::uint64_t chance) { return draw < chance; }

constexpr std::uint64_t kCertain = std::uint64_t{1} << 32;

constexpr int kKeyBits = 8;                ///< bits of a key after its leading one
constexpr std::uint32_t kKeys = 1U << 16;  ///< those eight and a float's exponent
constexpr int kKeyOctaves = 22;
constexpr std::uint32_t kKeyBins = 1 + (kKeyOctaves << kKeyBits);

/// A power of two at or below a float > 0 and above its quarter, but for those below 2^-126.
struct PowerBelow {
  int exponent;
  float reciprocal;

  /// `magnitude`: the float's MagnitudeBits.
  XGBGPU_HD explicit PowerBelow(std::uint32_t magnitude) {
    constexpr std::uint32_t kOne = 127, kMost = 2 * kOne - 1;  // beyond, the reciprocal would not be a normal float
    std::uint32_t const biased = magnitude >> 23 < kMost ? magnitude >> 23 : kMost;
    exponent = static_cast<int>(biased) - static_cast<int>(kOne);
    reciprocal = FloatFromBits((2 * kOne - biased) << 23);
  }
};

/// A row's key, less than kKeys. Powers of two are taken out of its gradient before there are squares or products,
/// which stay within floats; keys that do not count as the nearest that do.
XGBGPU_HD std::uint32_t KeyOf(GradientPair v, SamplingMethod method) {
  constexpr int kMantissa = 23;  // of a float
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

/// The first key of the octaves that are told apart, from the largest of all rows.
XGBGPU_HD std::uint32_t FirstToldApart(std::uint32_t largest_key) {
  std::uint32_t const octave = largest_key >> kKeyBits;
  return octave < kKeyOctaves ? 0 : (octave + 1 - kKeyOctaves) << kKeyBits;
}

/// Bin of a key, 0 to kKeyBins - 1.
XGBGPU_HD std::uint32_t KeyBin(std::uint32_t key, std::uint32_t first_told_apart) {
  if (key == 0) return 0;
  return key < first_told_apart ? 1 : 1 + key - first_told_apart;
}

/// What the rows of a bin count when keys are added.
XGBGPU_HD std::uint64_t KeyValue(std::uint32_t bin) {
  if (bin == 0) return 0;
  constexpr std::uint32_t kOneBit = 1U << kKeyBits;
  return std::uint64_t{kOneBit + (bin - 1) % kOneBit} << ((bin - 1) / kOneBit);
}

/// How large a sample is wanted, in rows.
struct SampleTarget {
  SamplingMethod method;
  double rows;      ///< rows that there are
  double expected;  ///< rows that the sample is expected to have
  double top;       ///< kGoss: rows that are certain to be in it
};

XGBGPU_HD SampleTarget MakeSampleTarget(TrainParams const& params, std::uint64_t rows) {
  auto const n = static_cast<double>(rows);
  if (params.sampling_method != SamplingMethod::kGoss) {
    return {params.sampling_method, n, n * static_cast<double>(params.subsample), 0.0};
  }
  double const top = n * static_cast<double>(params.top_rate);
  return {params.sampling_method, n, top + n * static_cast<double>(params.other_rate), top};
}

/// The rows by their keys, as seen from one bin.
struct KeyTotals {
  std::uint64_t above;  ///< rows in higher bins
  std::uint64_t count;  ///< rows in this bin
  std::uint64_t sum;    ///< of the values of rows in this bin and lower ones
};

/// The threshold lies in the highest bin for which this is true; 0 if there is none. It is true for all bins below.
XGBGPU_HD bool IsBelowThreshold(SampleTarget const& target, std::uint32_t bin, KeyTotals const& totals) {
  if (target.method == SamplingMethod::kGoss) {
    return static_cast<double>(totals.above + totals.count) >= target.top;
  }
  // If all higher bins were certain, this one's chance would not exceed 1.
  double const left = target.expected - static_cast<double>(totals.above);
  return bin != 0 && static_cast<double>(KeyValue(bin)) * left <= static_cast<double>(totals.sum);
}

/// The chances of the bins.
struct SampleRule {
  SamplingMethod method;
  std::uint32_t first_told_apart;  ///< of the keys: see KeyBin
  std::uint32_t bin;               ///< rows of higher bins are certain
  double per_value;                ///< gradient_based: chance of bins up to `bin` over their value
  std::uint64_t at;                ///< goss: chance in this bin …
  std::uint64_t below;             ///< … and in lower ones
};

XGBGPU_HD std::uint64_t ToChance(double chance) {
  return chance >= 4294967296.0 ? kCertain : chance < 1.0 ? 1 : static_cast<std::uint64_t>(chance);
}

/// The rule, from the bin that IsBelowThreshold tells and its totals.
///
/// gradient_based: the rows above are certain, and the others' chances add up to what is left of the sample, because
/// each is its value · left / sum; `left` is positive, since the bin above failed the test. With fewer rows of keys
/// above 0 than the sample may have, no bin passes, and all of these are certain.
/// goss: of the `count` rows in the bin some are among the top and the others share the rest with the bins below; as
/// nobody can tell them apart each gets the average.
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

/// gradient_based: the chance, rounded down, of the `i`-th bin of the octave that rule.bin is in, as if there were no
/// limit. Half of it, rounded down, is that of the bin an octave lower, whose value is half as large.
XGBGPU_HD std::uint64_t ChanceInTopOctave(SampleRule const& rule, std::uint32_t i) {
  std::uint32_t const octave = (rule.bin - 1) >> kKeyBits;
  return static_cast<std::uint64_t>(static_cast<double>(KeyValue(1 + (octave << kKeyBits) + i)) * rule.per_value);
}

/// The chance of a row with this key. in_top_octave(i): ChanceInTopOctave, perhaps from a table: rows are many.
template <typename InTopOctave>
XGBGPU_HD std::uint64_t ChanceOf(SampleRule const& rule, std::uint32_t key, InTopOctave&& in_top_octave) {
  std::uint32_t const bin = KeyBin(key, rule.first_told_apart);
  if (bin > rule.bin) return kCertain;
  if (rule.method == SamplingMethod::kGoss) return bin == rule.bin ? rule.at : rule.below;
  if (bin == 0) return 0;
  std::uint32_t const lower = ((rule.bin - 1) >> kKeyBits) - ((bin - 1) >> kKeyBits);  // octaves
  std::uint64_t const chance = in_top_octave((bin - 1) % (1U << kKeyBits)) >> lower;
  return chance < 1 ? 1 : chance > kCertain ? kCertain : chance;
}
XGBGPU_HD std::uint64_t ChanceOf(SampleRule const& rule, std::uint32_t key) {
  return ChanceOf(rule, key, [&](std::uint32_t i) { return ChanceInTopOctave(rule, i); });
}

/// v divided by the chance. Not beyond the largest float, which only gradients near it could be.
///
/// A chance is key · 2^32 / threshold at least but for the rounding of keys, so that |g| / chance does not exceed the
/// threshold by more than that, and |h| / chance not 1 / sqrt(0.1) of it: none towers. The format of the tree's
/// gradients is chosen after this division (gradient/gradient.h), so that the proof in core/fixed_point.h holds as it
/// is.
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
