/// Reads arrays as entries, wherever they lie. CUDA builds only.
#ifndef XGBGPU_CUDA_ARRAY_DOWNLOAD_H_
#define XGBGPU_CUDA_ARRAY_DOWNLOAD_H_

#include <functional>

#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Calls visit(batch) for the rows of an array of `features` columns, like RowSource::ForEachBatch. A batch stores
/// every value of its rows; missing values are NaN. All writes to an array on a device must have finished.
///
/// Cost    memory on the host: 8 bytes for each value of a batch, which has 2^21 values or one row; an array on a
///         device is copied in blocks of 8 MiB or one row
/// Throws  DeviceError
void ForEachBatchOf(ArrayBatch const& array, FeatureIndex features, int threads,
                    std::function<void(RowBatch const&)> const& visit);

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_ARRAY_DOWNLOAD_H_
