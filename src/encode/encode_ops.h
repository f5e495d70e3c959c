/// The order of rows and the statistic of one row, on host and device.
#ifndef XGBGPU_ENCODE_ENCODE_OPS_H_
#define XGBGPU_ENCODE_ENCODE_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// An order of rows as a function of the place: it needs no memory, and any thread finds any row of it.
///
/// A Feistel network of kRounds steps permutes the numbers of as many bits as the rows need. Each step adds, bit by
/// bit, a hash of one half of the bits to the other half. The step is its own inverse, so the network is a bijection.
/// There may be up to twice as many numbers as rows. A number that is no row goes through the network again. The walk
/// ends, because its cycle has a row: the place where it began. Two walks end at different rows, because the network
/// has an inverse.
///
/// From  Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002 (walking the cycle); Mitchell, Stokes,
///       Frank, Holmes, "Bandwidth-optimal random shuffling for GPUs", 2021, arXiv:2106.06161 (as a shuffle)
struct RowOrder {
  static constexpr int kRounds = 8;

  std::uint64_t rows;
  bool is_given;  ///< the identity
  std::uint32_t low_bits, high_bits;
  std::uint32_t keys[kRounds];

  /// Returns the row at a place. Both are below `rows`.
  XGBGPU_HD RowIndex Row(std::uint64_t place) const {
    auto const number = static_cast<std::uint32_t>(place);
    return is_given ? number : Walk(Permute(number));
  }
  /// Returns the row at the end of a walk that has come to `number`.
  XGBGPU_HD RowIndex Walk(std::uint32_t number) const {
    while (number >= rows) number = Permute(number);
    return number;
  }
  /// Goes through the network once. Numbers have low_bits + high_bits bits, 32 at most.
  XGBGPU_HD std::uint32_t Permute(std::uint32_t number) const {
    std::uint32_t const low_mask = (1U << low_bits) - 1, high_mask = (1U << high_bits) - 1;
    std::uint32_t low = number & low_mask, high = number >> low_bits;
    for (int round = 0; round < kRounds; round += 2) {
      low ^= Hash(high ^ keys[round]) & low_mask;
      high ^= Hash(low ^ keys[round + 1]) & high_mask;
    }
    return (high << low_bits) | low;
  }

 private:
  XGBGPU_HD static std::uint32_t Hash(std::uint32_t x) {  // a multiplication carries bits up, a shift brings them down
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    return x ^ (x >> 16);
  }
};

/// Sums over rows of one category: exact, so independent of the order.
struct CategorySum {
  std::int64_t value;   ///< sum of targets times weights
  std::int64_t weight;  ///< sum of weights

  friend XGBGPU_HD CategorySum operator+(CategorySum a, CategorySum b) {
    return {a.value + b.value, a.weight + b.weight};
  }
};

/// The units of a CategorySum's integers, and the weight of the prior.
struct StatisticRule {
  double value_unit;    ///< a power of two
  double weight_unit;   ///< a power of two
  double prior_weight;  ///< above 0: the prior counts as much as rows of this weight
};

/// Returns the statistic of a category from the rows of `sum`: the prior if there are none.
XGBGPU_HD float TargetStatistic(CategorySum sum, StatisticRule const& rule, double prior) {
  double const value = static_cast<double>(sum.value) * rule.value_unit;
  double const weight = static_cast<double>(sum.weight) * rule.weight_unit;
  return static_cast<float>((value + rule.prior_weight * prior) / (weight + rule.prior_weight));
}

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_ENCODE_OPS_H_
