/// Categories as numbers: codes of what occurs, and what the target was like in earlier rows of the same category.
#ifndef XGBGPU_ENCODE_H_
#define XGBGPU_ENCODE_H_

#include <cstdint>

#include "xgbgpu/api.h"
#include "xgbgpu/span.h"
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
  constexpr RowIndex Row(std::uint64_t place) const {
    auto const number = static_cast<std::uint32_t>(place);
    return is_given ? number : Walk(Permute(number));
  }
  /// Returns the row at the end of a walk that has come to `number`.
  constexpr RowIndex Walk(std::uint32_t number) const {
    while (number >= rows) number = Permute(number);
    return number;
  }
  /// Goes through the network once. Numbers have low_bits + high_bits bits, 32 at most.
  constexpr std::uint32_t Permute(std::uint32_t number) const {
    std::uint32_t const low_mask = (1U << low_bits) - 1, high_mask = (1U << high_bits) - 1;
    std::uint32_t low = number & low_mask, high = number >> low_bits;
    for (int round = 0; round < kRounds; round += 2) {
      low ^= Hash(high ^ keys[round]) & low_mask;
      high ^= Hash(low ^ keys[round + 1]) & high_mask;
    }
    return (high << low_bits) | low;
  }

 private:
  static constexpr std::uint32_t Hash(std::uint32_t x) {  // a multiplication carries bits up, a shift brings them down
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    return x ^ (x >> 16);
  }
};

/// Units of the integer sums, and the weight of the prior.
struct StatisticRule {
  double value_unit;    ///< a power of two
  double weight_unit;   ///< a power of two
  double prior_weight;  ///< above 0: that of so many rows
};

/// Returns the rows' own order. `rows` is at most 2^32 - 2.
XGBGPU_API RowOrder GivenOrder(std::uint64_t rows);
/// Returns a shuffled order, a function of its arguments. Orders of one seed and several `numbers` have keys that are
/// drawn independently.
XGBGPU_API RowOrder ShuffledOrder(std::uint64_t rows, std::uint64_t seed, std::uint32_t number);

/// One categorical column and targets. Pointers are to the memory of whoever computes.
struct CategoryTargets {
  std::uint32_t const* codes;  ///< [rows], below `categories`
  std::uint64_t rows;          ///< at most 2^32 - 2
  std::uint32_t categories;
  std::int64_t const* values;   ///< [targets, rows]: target times weight, unit StatisticRule::value_unit
  std::uint32_t targets;        ///< 1, or one for each class or border
  std::int64_t const* weights;  ///< [rows], unit StatisticRule::weight_unit; null: all are 1
};

/// Where statistics go: that of (row, target) to data[row · row_stride + target].
struct StatisticsView {
  float* data;
  std::uint64_t row_stride;  ///< floats
};

/// Sums of whole categories. Categories that do not occur have 0.
struct CategoryTotals {
  std::int64_t* values;   ///< [targets, categories]
  std::int64_t* weights;  ///< [categories]
};

namespace host {

/// Sums targets and weights of each category over all rows.
///
/// Out     totals, overwritten
/// Cost    reads codes, values and weights twice; 8 bytes for each row, and 16 for each category and target, of memory
/// Same    bit-equal on every backend and thread count
/// Throws  InvalidArgument (a code is not below `categories`; a value is beyond 2^62 / rows, or a weight is that or
///         negative, so that sums might not fit 63 bits), std::bad_alloc
XGBGPU_API void SumTargets(CategoryTargets const& columns, CategoryTotals totals, int threads);

/// Does what SumTargets does, and writes for each row the statistic of the rows of its category that come before it in
/// `order`.
///
/// In      priors [targets]
/// Cost    as SumTargets, and one write in scattered order for each statistic. Threads own categories: no more of them
///         are busy than there are categories
/// From    Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", 2018, arXiv:1706.09516
XGBGPU_API void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                             double const* priors, StatisticsView statistics, CategoryTotals totals, int threads);

/// Gives each key its place among the distinct keys, ascending: a perfect hash of what occurs.
///
/// In      keys [n], at most 2^32 - 2
/// Out     codes [n]; returns the number of distinct keys
/// Cost    4 bytes for each number between the least and the largest key where these are not more than 4 n, and three
///         passes; otherwise a radix sort of n pairs of 16 bytes, two of which are kept
/// Same    bit-equal on every backend and thread count
/// Throws  std::bad_alloc
XGBGPU_API std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int threads);

/// Gives each key its place in `known`, which ascends; keys that are not in it get known.size().
///
/// Cost    log2(known.size()) reads of `known` a key; no memory
XGBGPU_API void FindKeys(Span<std::uint64_t const> keys, Span<std::uint64_t const> known, std::uint32_t* codes,
                         int threads);

}  // namespace host

// Where a CUDA device computes.

/// Does what host::OrderTargets does, or host::SumTargets if statistics.data is null, with the same bits.
///
/// In      arrays of the host, which are copied to the device, or of the device, which are read where they are;
///         priors is an array of the host
/// Out     statistics and totals, in either memory
/// Cost    24 bytes a row on the device, 16 for each category and what is copied
/// Throws  InvalidArgument as host::OrderTargets; Unsupported (more than 2^31 - 1 rows, or no CUDA in this build),
///         OutOfDeviceMemory, DeviceError
XGBGPU_API void OrderTargetsOnDevice(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                                     double const* priors, StatisticsView statistics, CategoryTotals totals,
                                     int device);

/// Does what host::NumberKeys does. Arrays may be in either memory.
///
/// Cost    24 bytes a key on the device
/// Throws  as OrderTargetsOnDevice
XGBGPU_API std::uint32_t NumberKeysOnDevice(Span<std::uint64_t const> keys, std::uint32_t* codes, int device);

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_H_
