/// Reads the bins of a dataset back as rows of values.
#ifndef XGBGPU_DATASET_BINS_H_
#define XGBGPU_DATASET_BINS_H_

#include <cstdint>
#include <functional>

#include "xgbgpu/api.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

/// Returns true if bins are in pages: in host memory or in a file, rather than in the memory where trees grow. Sorted
/// columns have no bins, and no pages.
XGBGPU_API bool HasPagedBins(Dataset const& data);

/// Calls visit(batch) for rows first … first + count - 1, in order. Row `first` is row 0 of the batches. The lower end
/// of its bin stands for each value: a number that falls into the same bin. The first bin of a feature has a number
/// just above its min_value; a category is itself. Missing values are not stored.
///
/// Cost    bins cross the link once; on the host 4 bytes for each bin, and 8 for each value, of at most 2^21 values or
///         one row at a time
/// Throws  Unsupported (the dataset does not lie on exactly one device), DeviceError
XGBGPU_API void VisitLowerEnds(Dataset const& data, std::uint64_t first, std::uint64_t count, int threads,
                               std::function<void(RowBatch const&)> const& visit);

}  // namespace xgbgpu

#endif  // XGBGPU_DATASET_BINS_H_
