/// Which leaf columns a sum of columns lacks.
#ifndef XGBGPU_ROUNDS_COLUMN_SUMS_H_
#define XGBGPU_ROUNDS_COLUMN_SUMS_H_

#include <cstddef>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// Throws InvalidArgument unless there is one weight for each column.
void CheckColumnWeights(std::size_t weights, std::size_t columns);
/// Returns the first column to add to a sum of columns, so that their weights change from `applied` to `weights`. 0:
/// the sum begins anew from the base.
std::size_t FirstColumnToAdd(Span<float const> weights, Span<float const> applied);

}  // namespace xgbgpu

#endif  // XGBGPU_ROUNDS_COLUMN_SUMS_H_
