/// Reads a quantised matrix on a device back as rows of values.
#ifndef XGBGPU_MATRIX_LOWER_ENDS_H_
#define XGBGPU_MATRIX_LOWER_ENDS_H_

#include <cstdint>
#include <functional>

#include "matrix/device_matrix.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Calls visit(batch) for rows first … first + count - 1, numbered from 0 in the batches. A value becomes the lower end
/// of its bin. The end lies in this bin: in the first bin of a feature it is a number just above min_value, for a
/// categorical feature the category itself. Missing values are not stored.
///
/// Cost    bins cross the link once; host memory of 4 bytes a bin and 8 a value for at most 2^21 values or one row at a
///         time
/// Throws  DeviceError
void VisitLowerEnds(DeviceMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_LOWER_ENDS_H_
