/// Encoding of categories: codes of keys, and ordered target statistics.
#ifndef XGBGPU_ENCODE_H_
#define XGBGPU_ENCODE_H_

#include <cstdint>

#include "xgbgpu/api.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// An order of rows as a function of the place. Nothing is stored, and any thread finds any row.
///
/// A Feistel network of kRounds steps permutes numbers with the bits that the rows need. Each step xors a hash of one
/// half of the bits to the other half, which is its own inverse, so the network is a bijection. Up to half of the
/// numbers are no rows: such a number goes through the network once more. The walk ends, because its cycle contains the
/// place where it began. Two places end at different rows, because the network has an inverse.
///
/// From  Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002 (walking the cycle); Mitchell, Stokes,
///       Frank, Holmes, "Bandwidth-optimal random shuffling for GPUs", 2021, arXiv:2106.06161 (as a shuffle)
struct RowOrder {
  static constexpr int kRounds = 8;

  std::uint64_t rows;
  bool is_given;  ///< true: the order of the data
  std::uint32_t low_bits, high_bits;
  std::uint32_t keys[kRounds];

  /// Returns the row at a place. Both are below `rows`.
  constexpr RowIndex Row(std::uint64_t place) const {
    auto const number = static_cast<std::uint32_t>(place);
    return is_given ? number : Walk(Permute(number));
  }
  /// Returns the row where a walk from `number` ends.
  constexpr RowIndex Walk(std::uint32_t number) const {
    while (number >= rows) number = Permute(number);
    return number;
  }
  /// Returns the network's output for a number of low_bits + high_bits bits, 32 at most.
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
  double prior_weight;  ///< above 0: number of rows that the prior counts as
};

/// Returns the order of the data. `rows` is at most 2^32 - 2.
XGBGPU_API RowOrder GivenOrder(std::uint64_t rows);
/// Returns a shuffled order, a function of its arguments. Orders with the same seed and other `number`s are
/// independent.
XGBGPU_API RowOrder ShuffledOrder(std::uint64_t rows, std::uint64_t seed, std::uint32_t number);

/// A categorical column with its targets, in memory that the function can read.
struct CategoryTargets {
  std::uint32_t const* codes;  ///< [rows], below `categories`
  std::uint64_t rows;          ///< at most 2^32 - 2
  std::uint32_t categories;
  std::int64_t const* values;   ///< [targets, rows]: target times weight, unit StatisticRule::value_unit
  std::uint32_t targets;        ///< 1, or the number of classes or borders
  std::int64_t const* weights;  ///< [rows], unit StatisticRule::weight_unit; null: all are 1
};

/// The output of statistics: (row, target) is at data[row · row_stride + target].
struct StatisticsView {
  float* data;
  std::uint64_t row_stride;  ///< floats
};

/// Sums of whole categories; 0 for a category without rows.
struct CategoryTotals {
  std::int64_t* values;   ///< [targets, categories]
  std::int64_t* weights;  ///< [categories]
};

namespace host {

/// Sums targets and weights of each category over all rows.
///
/// Out     totals, overwritten
/// Cost    reads codes, values and weights twice
/// Memory  8 bytes a row, and 16 for each category and target
/// Same    bit-equal on every backend, for any number of threads
/// Throws  InvalidArgument (a code is not below `categories`; a value is beyond 2^62 / rows, or a weight is beyond it
///         or negative, so that sums might not fit 63 bits), std::bad_alloc
XGBGPU_API void SumTargets(CategoryTargets const& columns, CategoryTotals totals, int threads);

/// Sums as SumTargets, and writes for each row the statistic of the rows of its category that precede it in `order`.
///
/// In      priors [targets]
/// Cost    as SumTargets, and one scattered write for each statistic. Each category belongs to one thread
/// From    Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", 2018, arXiv:1706.09516
XGBGPU_API void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                             double const* priors, StatisticsView statistics, CategoryTotals totals, int threads);

/// Gives each key its place among the distinct keys in ascending order.
///
/// In      keys [n], at most 2^32 - 2
/// Out     codes [n]; returns the number of distinct keys
/// Cost    three passes and 4 bytes for each number from the smallest to the largest key, if they are at most 4 n
///         numbers; or a radix sort of n pairs of 16 bytes, with a second buffer
/// Same    bit-equal on every backend, for any number of threads
/// Throws  std::bad_alloc
XGBGPU_API std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int threads);

/// Gives each key its place in `known`, an ascending array. Unknown keys get known.size().
///
/// Cost    log2(known.size()) reads of `known` a key; no memory
XGBGPU_API void FindKeys(Span<std::uint64_t const> keys, Span<std::uint64_t const> known, std::uint32_t* codes,
                         int threads);

}  // namespace host

// On a CUDA device.

/// Does the work of host::OrderTargets, or of host::SumTargets if statistics.data is null, with the same bits.
///
/// In      arrays in host memory, which are copied to the device, or in device memory, which are read in place; priors
///         in host memory
/// Out     statistics and totals, in either memory
/// Memory  24 bytes a row on the device, 16 bytes a category, and the copies
/// Throws  InvalidArgument as host::OrderTargets; Unsupported (more than 2^31 - 1 rows, or no CUDA in this build),
///         OutOfDeviceMemory, DeviceError
XGBGPU_API void OrderTargetsOnDevice(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                                     double const* priors, StatisticsView statistics, CategoryTotals totals,
                                     int device);

/// Does the work of host::NumberKeys, with the same bits. Arrays may be in either memory.
///
/// Memory  24 bytes a key on the device
/// Throws  as OrderTargetsOnDevice
XGBGPU_API std::uint32_t NumberKeysOnDevice(Span<std::uint64_t const> keys, std::uint32_t* codes, int device);

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_H_
