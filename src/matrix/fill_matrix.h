/// The steps of host::QuantiseMatrix, for matrices that never have all bins in memory.
#ifndef XGBGPU_MATRIX_FILL_MATRIX_H_
#define XGBGPU_MATRIX_FILL_MATRIX_H_

#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "matrix/matrix.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::host {

/// A matrix before its bins are found.
struct MatrixPlan {
  std::unique_ptr<QuantisedMatrix> matrix;  ///< all but `data`, `columns` and `row_ptr`
  Buffer<std::uint64_t> row_ptr;            ///< [rows + 1] number of values in earlier rows
};

/// Chooses layout and cells. Reads the source once. Arguments and errors are QuantiseMatrix's.
MatrixPlan PlanMatrix(RowSource const& source, Cuts cuts, int threads, Collective& collective = NoOtherShards());

/// Finds the bins of the rows of `source`, which become rows first_row, first_row + 1, … of `matrix`. The matrix has
/// room for them: `data` and, if sparse, a filled `row_ptr`. `columns` may be empty. Reads the source once.
void FillRows(RowSource const& source, std::uint64_t first_row, int threads, QuantisedMatrix* matrix);

/// Finds the bins of all rows of the planned source. Reads it once.
std::unique_ptr<QuantisedMatrix> FillMatrix(RowSource const& source, MatrixPlan plan, int threads);

}  // namespace xgbgpu::host

#endif  // XGBGPU_MATRIX_FILL_MATRIX_H_
