/// Categories as numbers: codes of what occurs, and what the target was like in earlier rows of the same category.
#ifndef XGBGPU_ENCODE_ENCODE_H_
#define XGBGPU_ENCODE_ENCODE_H_

#include <cstdint>

#include "encode/encode_ops.h"
#include "xgbgpu/api.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

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

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_ENCODE_H_
