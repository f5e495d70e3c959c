/// Columns sorted by a CUDA device. CUDA builds only.
#ifndef XGBGPU_EXACT_SORTED_MATRIX_CUDA_H_
#define XGBGPU_EXACT_SORTED_MATRIX_CUDA_H_

#include <memory>

#include "exact/sorted_matrix.h"

namespace xgbgpu::cuda {

/// As host::SortColumns, the same bits. The host gathers columns, `device` sorts one after the other, a few at a time.
///
/// Cost    16 bytes of the device's memory for each value of a column that is sorted, and some percent; every value
///         crosses to the device and back
/// Throws  InvalidArgument as host::SortColumns, or more than 2^31 rows; OutOfDeviceMemory, DeviceError
std::unique_ptr<SortedMatrix> SortColumns(RowSource const& source, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_SORTED_MATRIX_CUDA_H_
