/// A quantised matrix on a device, read back as rows of values.
#ifndef XGBGPU_MATRIX_LOWER_ENDS_H_
#define XGBGPU_MATRIX_LOWER_ENDS_H_

#include <cstdint>
#include <functional>

#include "matrix/device_matrix.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Calls visit(batch) for rows first … first + count - 1, of which the first is row 0 of the batches. In place of each
/// value stands the lower end of its bin: a number that has the same bin. The first bin of a feature has a number
/// just above its min_value, a category itself. Missing values are not stored.
///
/// Cost    bins cross the link once; 4 bytes on the host for each of them, and 8 for a value, of at most 2^21 values or
///         one row at a time
/// Throws  DeviceError
void VisitLowerEnds(DeviceMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_LOWER_ENDS_H_
