/// Packs rows of raw values for a device: the choice of the form, and the packing by host threads. Host code.
#ifndef XGBGPU_PREDICT_RAW_ROWS_H_
#define XGBGPU_PREDICT_RAW_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Returns true if rows take the dense form. Dense rows have addresses, sparse rows need a search: dense rows may take
/// twice the memory (a sparse value takes 8 bytes, a dense one 4).
constexpr bool RowsAreDense(std::uint64_t rows, FeatureIndex features, std::uint64_t values) {
  constexpr double kMostMemory = 2.0;
  double const dense = 4.0 * static_cast<double>(rows) * static_cast<double>(features);
  return dense <= kMostMemory * (8.0 * static_cast<double>(values) + 8.0 * static_cast<double>(rows));
}

/// Rows [begin, begin + n) of a batch.
struct RowRun {
  RowBatch const* batch;
  std::uint64_t begin;
  std::uint64_t n;

  std::uint64_t first_row() const { return batch->first_row + begin; }
  /// Returns the number of stored values, NaNs included.
  std::uint64_t values() const { return batch->offsets[begin + n] - batch->offsets[begin]; }
};

/// Calls use(run) for runs of at most `rows` rows with at most `values` stored values, in the order of the source. A
/// row with more values is a run of its own.
void ForEachRun(RowSource const& source, std::uint64_t rows, std::uint64_t values,
                std::function<void(RowRun const&)> const& use);

/// Out     out  [run.n, features], NaN for missing values
/// Throws  InvalidArgument (a feature that does not exist)
void PackDenseRows(RowRun const& run, FeatureIndex features, float* out, int threads);

/// Writes the entries of each row, NaNs included, in ascending order of features, and of one feature in stored order.
///
/// Out     row_ptr  [run.n + 1] first_entry + sum of the lengths of earlier rows
///         entries  [run.values()]
/// Throws  InvalidArgument (a feature that does not exist)
void PackSparseRows(RowRun const& run, FeatureIndex features, std::uint64_t first_entry, std::uint64_t* row_ptr,
                    Entry* entries, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_RAW_ROWS_H_
