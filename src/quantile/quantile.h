/// Stage 1: rows → cuts. Exact: every column is sorted, nothing is sketched.
#ifndef XGBGPU_QUANTILE_QUANTILE_H_
#define XGBGPU_QUANTILE_QUANTILE_H_

#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// Cut points at weighted quantiles of every column, at most max_bin bins a feature.
///
/// The ranks are chosen as XGBoost's last pruning step chooses them on an exactly sorted column; a column of few
/// distinct values gets one bin for each. Rows of weight 0 are skipped. A column without values gets one empty bin.
///
/// In      source   read once, and twice more for every kColumnBufferValues values it holds
///         weights  [rows] or empty
/// Cost    radix sort, three passes over each column; memory: 4 bytes (8 with weights) per value in flight, and
///         as much for a thread's column
/// Same    bit-equal for any number of threads, batches and order of rows: ranks are integers
/// Throws  InvalidArgument (max_bin; weights: size, negative, NaN; an infinite value, with row and feature)
Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads);

/// Cuts of data that hold lower bin edges instead of values: see Dataset::FromBinEdges. The upper end of a feature's
/// last bin is not in such data; it becomes the largest float. Throws InvalidArgument (more than kMaxBinLimit bins; an
/// infinite value).
Cuts CutsFromBinEdges(RowSource const& source, int threads);

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_QUANTILE_H_
