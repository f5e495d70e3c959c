/// Maths of the ranking objectives: the choice of pairs, and a pair's terms in the gradients of its two rows.
///
/// Every row draws partners among the rows of its group with another label. The draw is a function of seed, iteration,
/// row and number of the draw. A pair's terms are rounded to integer multiples of 2^-shift (PairShift), so that sums
/// are exact in any order of additions. With floats in a fixed order, a row that many others draw would need long
/// chains of additions.
///
/// From  Burges, "From RankNet to LambdaRank to LambdaMART: an overview", Microsoft Research, 2010
#ifndef XGBGPU_OBJECTIVE_RANK_OPS_H_
#define XGBGPU_OBJECTIVE_RANK_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "core/fixed_point.h"
#include "core/portable_math.h"
#include "core/random.h"
#include "core/search.h"
#include "objective/objective_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// The rows of each ranking group. Without groups all rows are one group.
struct RankGroups {
  std::uint32_t const* group_ptr;
  std::uint32_t groups;
  std::uint32_t rows;

  RankGroups(TargetView const& targets, std::uint64_t rows_of_data)
      : group_ptr{targets.groups == 0 ? nullptr : targets.group_ptr},
        groups{group_ptr == nullptr ? 1 : targets.groups},
        rows{static_cast<std::uint32_t>(rows_of_data)} {}

  XGBGPU_HD std::uint32_t First(std::uint32_t group) const { return group_ptr == nullptr ? 0 : group_ptr[group]; }
  XGBGPU_HD std::uint32_t Size(std::uint32_t group) const {
    return group_ptr == nullptr ? rows : group_ptr[group + 1] - group_ptr[group];
  }
  /// Returns the group of a row.
  XGBGPU_HD std::uint32_t Of(std::uint32_t row) const {
    return RangeOf(groups, row, [&](std::uint32_t g) { return First(g); });
  }
};

/// Returns the nearest integer, ties to even; |x| <= 2^51. The sum below has no fraction, and its bits count in ones. A
/// device converts doubles to integers more slowly than it adds.
XGBGPU_HD std::int64_t ToInteger(double x) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 · 2^52
  return static_cast<std::int64_t>(detail::ToBits(x + kMagic) - detail::ToBits(kMagic));
}

/// Returns the shift of the unit 2^-shift of pairs' gradients. A pair adds at most 1 to either sum, rounded up to one
/// unit, and a row is in at most rows · samples pairs: sums stay below 2^63. For up to 2^17 pairs a row the unit is
/// 2^-45. A pair's gradient term is off by at most half a unit, and its hessian term by a unit, relative to a pair of
/// weight 1. With `bits` a pair may have a weight of up to 2^bits; its terms are at most 2^51 units (ToInteger).
XGBGPU_HD int PairShift(std::uint32_t rows, std::uint32_t samples, int bits = 0) {
  int const room = 62 - bits - CeilLog2(std::uint64_t{rows} * samples), finest = bits > 6 ? 51 - bits : 45;
  return room < finest ? room : finest;
}

struct RankSum {
  std::int64_t grad, hess;

  XGBGPU_HD RankSum& operator+=(RankSum const& other) {
    grad += other.grad;
    hess += other.hess;
    return *this;
  }
};

/// The terms of a pair for its two rows.
template <typename SumOfRow>
struct PairSums {
  SumOfRow high, low;  ///< of the row with the larger label, and of the row with the smaller
};

/// The rows of a pair, by their numbers in the group, and their margins.
struct RankPair {
  std::uint32_t high, low;
  float high_margin, low_margin;
};

/// A group's rows in order of labels, the largest first. Rows count from the group's first row.
struct RankOrder {
  std::uint32_t first;  ///< row of the data
  std::uint32_t rows;
  std::uint32_t const* label_keys;  ///< [rows] DescendingKey of the labels, ascending
  std::uint32_t const* by_label;    ///< [rows] the row at each place; equal labels in order of rows
};

/// Returns the number of keys below `key`, or, with `equal_too`, not above it.
XGBGPU_HD std::uint32_t KeysBelow(std::uint32_t const* keys, std::uint32_t n, std::uint32_t key, bool equal_too) {
  return FirstWhere(0U, n, [&](std::uint32_t i) { return keys[i] > key || (!equal_too && keys[i] == key); });
}

struct PairDraws {
  std::uint64_t seed;
  std::uint32_t iteration;
  std::uint32_t samples;       ///< of each row
  std::uint32_t first_row{0};  ///< number of the shard's first row over all shards

  /// Returns a uniform draw from 0 … n - 1. Each number has the chance 1 / n within 2^-32.
  XGBGPU_HD std::uint32_t Below(std::uint32_t n, std::uint32_t row, std::uint32_t sample) const {
    RandomStream const stream{seed, RandomPurpose::kRankPairs, iteration, sample / 4};
    return static_cast<std::uint32_t>((std::uint64_t{stream.Block(first_row + row).word[sample % 4]} * n) >> 32);
  }
};

/// Returns the term of a pair, in units, for the row with the larger label and the margin `high`. The term is 0 if a
/// margin is NaN.
XGBGPU_HD RankSum TermOf(float high, float low, double weight, double unit) {
  float const p = Sigmoid(high - low);
  if (!(weight > 0.0) || p != p) return {0, 0};
  std::int64_t const rounded = ToInteger(2.0 * AtLeast(p * (1.0f - p), 1e-16f) * weight * unit);
  return {ToInteger(static_cast<double>(p - 1.0f) * weight * unit), rounded > 0 ? rounded : 1};  // above 0, as stock's
}

/// Computes the terms of a pair for its two rows, in units.
struct PairTerms {
  using Sum = RankSum;
  static constexpr bool kReadsRows = false;  ///< RankPair::high and low
  double unit;                               ///< how many units are 1

  XGBGPU_HD PairSums<RankSum> operator()(RankPair const& pair, double weight) const {
    RankSum const high = TermOf(pair.high_margin, pair.low_margin, weight, unit);
    return {high, {-high.grad, high.hess}};
  }
};

/// Computes the pairs that the row at `place` of the order draws. weight_of(high, low) returns the weight of a pair;
/// `high` has the larger label. terms(pair, weight) returns the pair's sums. Calls add(row, sum) for each partner and
/// for the row itself.
template <typename WeightOf, typename Terms, typename Add>
XGBGPU_HD void AddPairs(RankOrder const& order, std::uint32_t place, OutputView<float const> const& margins,
                        PairDraws const& draws, WeightOf const& weight_of, Terms const& terms, Add const& add) {
  std::uint32_t const key = order.label_keys[place];
  std::uint32_t const larger = KeysBelow(order.label_keys, order.rows, key, false);
  std::uint32_t const same = KeysBelow(order.label_keys, order.rows, key, true) - larger;
  if (same == order.rows) return;
  std::uint32_t const own = order.by_label[place];
  typename Terms::Sum mine{};
  for (std::uint32_t sample = 0; sample < draws.samples; ++sample) {
    std::uint32_t const drawn = draws.Below(order.rows - same, order.first + own, sample);
    bool const own_is_high = drawn >= larger;
    std::uint32_t const other = order.by_label[own_is_high ? drawn + same : drawn];
    std::uint32_t const high = own_is_high ? own : other, low = own_is_high ? other : own;
    auto const sums = terms(RankPair{high, low, margins.at(order.first + high, 0), margins.at(order.first + low, 0)},
                            weight_of(high, low));
    mine += own_is_high ? sums.high : sums.low;
    add(other, own_is_high ? sums.low : sums.high);
  }
  add(own, mine);
}
/// Computes the pairs of the objectives of 1.7. Their weights are at most 1.
template <typename WeightOf, typename Add>
XGBGPU_HD void AddPairs(RankOrder const& order, std::uint32_t place, OutputView<float const> const& margins,
                        PairDraws const& draws, WeightOf const& weight_of, Add const& add) {
  PairTerms const terms{detail::PowerOfTwo(PairShift(order.rows, draws.samples))};
  AddPairs(order, place, margins, draws, weight_of, terms, add);
}

/// Returns the factor for the sums of a group's rows. Weights of groups are relative to their mean.
XGBGPU_HD double FactorOfGroup(std::uint32_t num_pairsample, float fix_list_weight, std::uint32_t rows,
                               std::uint32_t groups, double weight, double weight_sum) {
  double factor = weight * (groups / weight_sum) / num_pairsample;
  if (fix_list_weight != 0.0f) factor *= static_cast<double>(fix_list_weight) / rows;
  return factor * (1.0 / detail::PowerOfTwo(PairShift(rows, num_pairsample)));
}

XGBGPU_HD GradientPair GradientOf(RankSum const& sum, double factor) {
  return {static_cast<float>(static_cast<double>(sum.grad) * factor),
          static_cast<float>(static_cast<double>(sum.hess) * factor)};
}

/// Weights are summed in double as this number of sums, each in order, which are then added in their order.
constexpr std::uint32_t kWeightSums = 1024;

// Weights of pairs, of two rows by their numbers in the group or, for LambdaRank, of two rows with their data.

/// A row of a group.
struct RankRow {
  std::uint32_t row;
  std::uint32_t place;  ///< in order of margins, the largest first
  float label, margin;
};

/// rank:pairwise
struct EqualPairs {
  template <typename Row>
  XGBGPU_HD double operator()(Row const&, Row const&) const {
    return 1.0;
  }
};

/// Returns 1 / log2(place + 2) for place 0 … 2^32 - 1.
XGBGPU_HD double DiscountOf(std::uint32_t place) { return 0.6931471805599453 / PortableLog(place + 2.0); }
/// Returns 2^label - 1 of the integer part, 0 <= label < 32.
XGBGPU_HD double GainOf(float label) { return static_cast<double>((1U << static_cast<unsigned>(label)) - 1U); }
XGBGPU_HD double GainOf(float label, bool has_exp_gain) {
  return has_exp_gain ? GainOf(label) : static_cast<double>(label);
}

/// Returns the shift of a group's unit 2^-shift of discounted gains: each gain is below 2^50, and rows · 2^label below
/// 2^62.
XGBGPU_HD int GainShift(float largest_label, std::uint32_t rows) {
  int const bits = CeilLog2(rows);
  return (bits > 12 ? 62 - bits : 50) - static_cast<int>(largest_label);
}
XGBGPU_HD std::int64_t DiscountedGain(float label, double discount, int shift) {
  return ToInteger(GainOf(label) * discount * ScaleByPowerOfTwo(1.0, shift));
}

/// rank:ndcg: the change of the group's NDCG when the two rows exchange places.
struct NdcgPairs {
  float const* labels;          ///< [rows] of the group
  std::uint32_t const* places;  ///< [rows] in order of margins, the largest first
  double inverse_ideal;         ///< 1 / discounted gains of the best order; 0 if these gains are 0
  double const* discounts;      ///< DiscountOf every place of the group; nullptr: computed when needed
  bool has_exp_gain{true};      ///< false: the gain of a row is its label

  XGBGPU_HD NdcgPairs(float const* labels_of, std::uint32_t const* places_of, std::int64_t ideal, int shift,
                      double const* discounts_of = nullptr)
      : labels{labels_of},
        places{places_of},
        inverse_ideal{ideal == 0 ? 0.0 : ScaleByPowerOfTwo(1.0 / static_cast<double>(ideal), shift)},
        discounts{discounts_of} {}
  XGBGPU_HD NdcgPairs(float const* labels_of, std::uint32_t const* places_of, double inverse_of_ideal,
                      double const* discounts_of, bool has_exp_gains)
      : labels{labels_of},
        places{places_of},
        inverse_ideal{inverse_of_ideal},
        discounts{discounts_of},
        has_exp_gain{has_exp_gains} {}

  XGBGPU_HD double Discount(std::uint32_t place) const {
    return discounts == nullptr ? DiscountOf(place) : discounts[place];
  }
  XGBGPU_HD double operator()(RankRow const& high, RankRow const& low) const {
    double const change = Discount(high.place) - Discount(low.place);
    double const gains = GainOf(high.label, has_exp_gain) - GainOf(low.label, has_exp_gain);
    return gains * (change < 0.0 ? -change : change) * inverse_ideal;
  }
  XGBGPU_HD double operator()(std::uint32_t high, std::uint32_t low) const {
    return (*this)(RankRow{high, places[high], labels[high], 0.0f}, RankRow{low, places[low], labels[low], 0.0f});
  }
};

/// Sums over the relevant rows (label above 0) of a group up to each place in order of margins: their number h at a
/// place, h / (place + 1), and 1 / (place + 1), the latter two in units of 2^-MapShift. Sums may have any start,
/// because only differences modulo 2^64 count.
struct MapSums {
  std::uint32_t const* hits;
  std::uint64_t const* precision;
  std::uint64_t const* inverse;
  std::uint32_t hits_before;
  std::uint64_t precision_before;
};
/// Terms are at most 1, sums at most 2 · rows: below 2^62.
XGBGPU_HD int MapShift(std::uint32_t rows) {
  int const bits = CeilLog2(rows);
  return bits > 11 ? 61 - bits : 50;
}

/// Returns hits / (place + 1) as an integer; unit = 2^MapShift.
XGBGPU_HD std::uint64_t PrecisionTerm(std::uint32_t hits, std::uint32_t place, double unit) {
  return static_cast<std::uint64_t>(ToInteger(hits / (place + 1.0) * unit));
}

/// rank:map: the change of the group's average precision when the two rows exchange places.
struct MapPairs {
  float const* labels;
  std::uint32_t const* places;
  MapSums sums;
  std::uint32_t rows;

  XGBGPU_HD double operator()(std::uint32_t high, std::uint32_t low) const {
    return (*this)(RankRow{high, places[high], labels[high], 0.0f}, RankRow{low, places[low], labels[low], 0.0f});
  }
  XGBGPU_HD double operator()(RankRow const& high, RankRow const& low) const {
    if (!(high.label > 0.0f) || low.label > 0.0f) return 0.0;
    std::uint32_t const from = high.place, to = low.place;  // of the relevant row
    bool const down = from < to;
    std::uint32_t const a = down ? from : to, b = down ? to : from;
    std::uint64_t const before = a == 0 ? sums.precision_before : sums.precision[a - 1];
    // Between the two places every relevant row has one relevant row less before it, or one more.
    std::uint64_t const kept = sums.precision[b - 1] - sums.precision[a];
    std::uint64_t const inverse = sums.inverse[b - 1] - sums.inverse[a];
    auto const change =
        static_cast<std::int64_t>((down ? kept - inverse : kept + inverse) - (sums.precision[b] - before));
    std::uint32_t const end = down ? sums.hits[b] - sums.hits_before : sums.hits[a] - sums.hits_before + 1;
    double const term = static_cast<double>(end) / ((down ? b : a) + 1.0);
    double const total = sums.hits[rows - 1] - sums.hits_before;
    double const difference = (static_cast<double>(change) / detail::PowerOfTwo(MapShift(rows)) + term) / total;
    return difference < 0.0 ? -difference : difference;
  }
};

// LambdaRank of XGBoost 2.0 and later.

/// Returns a bound of the weights of its pairs, as a power of 2: 1, or 1 / kLeastDifference below 2^7.
XGBGPU_HD int BitsOfWeights(LambdaRank const& params) { return params.normalizes_by_score ? 7 : 0; }
constexpr double kLeastDifference = 0.01;

/// A row is in fewer pairs than its group has rows, or draws and is drawn `pairs` times for each row at most. Biases
/// make a pair's weight at most 2^bias_bits times as large.
XGBGPU_HD int LambdaShift(LambdaRank const& params, std::uint32_t rows, int bias_bits) {
  return PairShift(rows, params.has_top ? 1 : params.pairs, BitsOfWeights(params) + bias_bits);
}

/// A group's rows in order of margins, the largest first. Rows count from the group's first row.
struct MarginOrder {
  std::uint32_t first;  ///< row of the data
  std::uint32_t rows;
  float const* labels;             ///< [rows] of the group
  std::uint32_t const* by_margin;  ///< [rows] the row at each place
  OutputView<float const> margins;

  XGBGPU_HD float Margin(std::uint32_t row) const { return margins.at(first + row, 0); }
  XGBGPU_HD RankRow At(std::uint32_t place) const {
    std::uint32_t const row = by_margin[place];
    return {row, place, labels[row], Margin(row)};
  }
};

/// A pair's weight over the difference of its margins, unless all margins of the group are equal.
template <typename WeightOf>
struct ByScore {
  WeightOf of;
  MarginOrder order;
  bool divides;

  XGBGPU_HD ByScore(WeightOf const& weight_of, MarginOrder const& order_of, bool normalizes)
      : of{weight_of},
        order{order_of},
        divides{normalizes && order.Margin(order.by_margin[0]) != order.Margin(order.by_margin[order.rows - 1])} {}

  XGBGPU_HD double Divided(double weight, float high, float low) const {
    if (!divides) return weight;
    float const difference = high - low;
    return weight / (static_cast<double>(difference < 0.0f ? -difference : difference) + kLeastDifference);
  }
  XGBGPU_HD double operator()(std::uint32_t high, std::uint32_t low) const {
    return Divided(of(high, low), order.Margin(high), order.Margin(low));
  }
  XGBGPU_HD double operator()(RankRow const& high, RankRow const& low) const {
    return Divided(of(high, low), high.margin, low.margin);
  }
};

/// Discounted gains of the best order are added in double as this number of sums, each in order, which are then added
/// in their order.
constexpr std::uint32_t kIdealSums = 32;

/// Returns sum `part` of the kIdealSums sums, over the rows that count.
XGBGPU_HD double IdealSum(LambdaRank const& params, RankOrder const& order, float const* labels,
                          double const* discounts, std::uint32_t part) {
  std::uint32_t const end = params.has_top && params.pairs < order.rows ? params.pairs : order.rows;
  double sum = 0.0;
  for (std::uint32_t i = part; i < end; i += kIdealSums) {
    sum += discounts[i] * GainOf(labels[order.by_label[i]], params.has_exp_gain);
  }
  return sum;
}
/// Returns the factor of changes of discounted gains: 0 if no row has a gain.
XGBGPU_HD double InverseOf(double ideal) { return ideal == 0.0 ? 0.0 : 1.0 / ideal; }

/// Calls visit(term of own, term of other) for a pair of rows with different labels.
template <typename WeightOf, typename Terms, typename Visit>
XGBGPU_HD void VisitPair(RankRow const& own, RankRow const& other, WeightOf const& weight_of, Terms const& terms,
                         Visit const& visit) {
  bool const own_is_high = own.label > other.label;
  RankRow const high = own_is_high ? own : other, low = own_is_high ? other : own;
  auto const sums = terms(RankPair{high.row, low.row, high.margin, low.margin}, weight_of(high, low));
  visit(own_is_high ? sums.high : sums.low, own_is_high ? sums.low : sums.high);
}
XGBGPU_HD std::int64_t Magnitude(std::int64_t grad) { return grad < 0 ? -grad : grad; }
XGBGPU_HD RankSum const& GradientsOf(RankSum const& sum) { return sum; }

/// Computes the pairs of the row at `place` of the order with the rows at smaller places below `top`. Calls add(row,
/// sum) for each partner and for the row itself. Returns the sum of the pairs' gradients, without signs.
template <typename WeightOf, typename Terms, typename Add>
std::int64_t AddTopPairs(MarginOrder const& order, std::uint32_t place, std::uint32_t top, WeightOf const& weight_of,
                         Terms const& terms, Add const& add) {
  RankRow const own = order.At(place);
  std::uint32_t const end = place < top ? place : top;
  typename Terms::Sum mine{};
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < end; ++i) {
    RankRow const other = order.At(i);
    if (own.label == other.label) continue;
    VisitPair(own, other, weight_of, terms, [&](auto const& of_own, auto const& of_other) {
      mine += of_own;
      add(other.row, of_other);
      total += Magnitude(GradientsOf(of_own).grad);
    });
  }
  add(own.row, mine);
  return total;
}

/// The sum of all pairs' gradients of a group, without signs, as high · 2^32 + low: sums of rows are below 2^63, and
/// there are fewer than 2^31.
struct PairTotal {
  std::int64_t high, low;

  XGBGPU_HD static PairTotal Of(std::int64_t sum) { return {sum >> 32, sum & 0xFFFFFFFF}; }
  XGBGPU_HD double Value() const { return static_cast<double>(high) * 4294967296.0 + static_cast<double>(low); }
};

/// Returns the factor for the sums of a group's rows.
XGBGPU_HD double FactorOfLambdas(LambdaRank const& params, std::uint32_t rows, int bias_bits, PairTotal const& total,
                                 std::uint32_t groups, double weight, double weight_sum) {
  double const unit = 1.0 / detail::PowerOfTwo(LambdaShift(params, rows, bias_bits));
  double norm = 1.0;
  if (params.normalizes && !params.has_top) norm = 1.0 / params.pairs;
  if (params.normalizes && params.has_top) {
    double const sum = 2.0 * total.Value() * unit;  // both rows of a pair
    if (sum > 0.0) norm = PortableLog(1.0 + sum) / 0.6931471805599453 / sum;
  }
  return norm * (weight * (groups / weight_sum)) * unit;
}

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_RANK_OPS_H_
