// Sums targets by category, in an order of rows, on the host.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/buffer.h"
#include "base/hd.h"
#include "base/message.h"
#include "base/parallel.h"
#include "encode/encode_ops.h"
#include "xgbgpu/encode.h"
#include "xgbgpu/error.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 14;  // rows of a chunk

/// Throws unless codes are categories and no sum exceeds 63 bits. Sums of n numbers of at most 2^62 / n do not.
void Check(CategoryTargets const& columns, int threads) {
  if (columns.rows == 0) return;
  auto const most = static_cast<std::int64_t>((std::uint64_t{1} << 62) / columns.rows);
  auto const check = [&](std::int64_t const* numbers, std::int64_t least, char const* what, std::size_t begin,
                         std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (numbers[i] >= least && numbers[i] <= most) continue;
      Throw<InvalidArgument>("A ", what, " is ", numbers[i], " units; allowed for ", columns.rows, " rows: ", least,
                             " to ", most);
    }
  };
  ParallelChunks(threads, columns.rows, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint32_t const largest = *std::max_element(columns.codes + begin, columns.codes + end);
    if (largest >= columns.categories) {
      Throw<InvalidArgument>("A code is ", largest, "; allowed: numbers below ", columns.categories,
                             ", the number of categories");
    }
    for (std::size_t target = 0; target < columns.targets; ++target) {
      check(columns.values + target * columns.rows, -most, "target", begin, end);
    }
    if (columns.weights != nullptr) check(columns.weights, 0, "weight", begin, end);
  });
}

/// Writes the rows at places [begin, end). The second of three loops has no branch, so it is vectorised.
XGBGPU_VECTOR void WriteRows(RowOrder const& order, std::size_t begin, std::size_t end, RowIndex* rows) {
  for (std::size_t place = begin; place < end; ++place) rows[place] = static_cast<std::uint32_t>(place);
  if (order.is_given) return;
  for (std::size_t place = begin; place < end; ++place) rows[place] = order.Permute(rows[place]);
  for (std::size_t place = begin; place < end; ++place) rows[place] = order.Walk(rows[place]);
}

/// The rows in an order, with their codes.
struct OrderedRows {
  Buffer<RowIndex> rows;
  Buffer<std::uint32_t> codes;

  OrderedRows(CategoryTargets const& columns, RowOrder const& order, int threads)
      : rows{columns.rows}, codes{columns.rows} {
    ParallelChunks(threads, columns.rows, kGrain, [&](std::size_t begin, std::size_t end) {
      WriteRows(order, begin, end, rows.data());
      for (std::size_t place = begin; place < end; ++place) codes[place] = columns.codes[rows[place]];
    });
  }
};

/// Calls before(row, sum over earlier rows of its category) for each row, and writes the totals.
///
/// The low bits of their codes divide categories into parts, a power of two. Each part passes over all rows.
template <typename Before>
void Accumulate(CategoryTargets const& columns, OrderedRows const& ordered, CategoryTotals totals, int threads,
                Before&& before) {
  std::uint32_t shift = 0;
  while ((1U << shift) < static_cast<std::uint32_t>(threads) && (1U << shift) < columns.categories) ++shift;
  std::uint32_t const parts = 1U << shift;
  ParallelTasks(threads, std::size_t{parts} * columns.targets, [&](std::size_t task, int) {
    auto const part = static_cast<std::uint32_t>(task % parts), target = static_cast<std::uint32_t>(task / parts);
    std::int64_t const* const values = columns.values + target * columns.rows;
    std::vector<CategorySum> sums((columns.categories + parts - 1 - part) >> shift);
    for (std::size_t place = 0; place < columns.rows; ++place) {
      std::uint32_t const code = ordered.codes[place];
      if ((code & (parts - 1)) != part) continue;
      RowIndex const row = ordered.rows[place];
      CategorySum& sum = sums[code >> shift];
      before(row, target, sum);
      sum = sum + CategorySum{values[row], columns.weights == nullptr ? 1 : columns.weights[row]};
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::size_t const category = (i << shift) | part;
      totals.values[std::size_t{target} * columns.categories + category] = sums[i].value;
      if (target == 0) totals.weights[category] = sums[i].weight;
    }
  });
}

}  // namespace

void SumTargets(CategoryTargets const& columns, CategoryTotals totals, int threads) {
  Check(columns, threads);
  OrderedRows const ordered{columns, GivenOrder(columns.rows), threads};
  Accumulate(columns, ordered, totals, threads, [](RowIndex, std::uint32_t, CategorySum const&) {});
}

void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                  double const* priors, StatisticsView statistics, CategoryTotals totals, int threads) {
  Check(columns, threads);
  OrderedRows const ordered{columns, order, threads};
  Accumulate(columns, ordered, totals, threads, [&](RowIndex row, std::uint32_t target, CategorySum const& sum) {
    statistics.data[row * statistics.row_stride + target] = TargetStatistic(sum, rule, priors[target]);
  });
}

}  // namespace xgbgpu::host
