/// The values that predictors see in a QuantileDMatrix.
///
/// Stock predictors look up each value in the bins, by columns. In every round an evaluation set pays several times the
/// work of a tree. In a mostly missing column each row searches the whole column. Making all values at once, by rows,
/// costs less than one such round, and a device can read them.
#ifndef XGBGPU_PLUGIN_MATRIX_VALUE_MATRIX_H_
#define XGBGPU_PLUGIN_MATRIX_VALUE_MATRIX_H_

#include <xgboost/data.h>

#include <memory>

#include "data/held_rows.h"

namespace xgbgpu::plugin {

/// Returns `data`, a QuantileDMatrix (IsBinned), as a DMatrix of the values that stock predictors make of its bins:
/// their lower ends. It has labels, weights and margins of `data`, which must outlive it. Only rows can be read from
/// it.
///
/// Returns null if XGBoost does not expose the values as its predictors see them: if columns did not ascend in a row (a
/// value is then under another column), if bins have no end (infinite values), and since 3.3. There the first bin of a
/// column begins at minus infinity for predictors, but is exposed as the number below its end.
///
/// Cost  8 bytes of memory for each value and row; one thread of the host, some nanoseconds a value
std::shared_ptr<xgboost::DMatrix> ValuesOfBins(xgboost::DMatrix* data, int threads);

/// Returns `data`, which must outlive it, as a DMatrix of its own values `rows`. Only rows can be read from it, in
/// pages that are made as they are asked for.
///
/// Cost  16 MiB, or a row; a pass over the values by `threads` threads whenever they are read
std::shared_ptr<xgboost::DMatrix> ValuesOf(xgboost::DMatrix* data, std::shared_ptr<HeldRows const> rows, int threads);

/// Returns `data` without its rows; `data` must outlive it. For predictors without a tree, which need labels and
/// margins alone.
std::shared_ptr<xgboost::DMatrix> WithoutRows(xgboost::DMatrix* data);

/// Returns `data`, which must outlive it and has fewer columns, as a matrix of `columns`: values of the others are
/// missing. Only rows can be read from it.
///
/// Cost  a copy of labels, weights and margins
std::shared_ptr<xgboost::DMatrix> WithColumns(xgboost::DMatrix* data, FeatureIndex columns);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_VALUE_MATRIX_H_
