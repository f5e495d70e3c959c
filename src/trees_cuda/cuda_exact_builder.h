/// Exact trees on a CUDA device. CUDA builds only.
#ifndef XGBGPU_TREES_CUDA_CUDA_EXACT_BUILDER_H_
#define XGBGPU_TREES_CUDA_CUDA_EXACT_BUILDER_H_

#include <memory>

#include "backend/tree_builder.h"
#include "exact/sorted_matrix.h"

namespace xgbgpu {

/// Makes a builder of exact trees (exact/exact.h) on a device. Copies the columns to the device. `threads` are for the
/// host's part.
std::unique_ptr<TreeBuilder> MakeCudaExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int device, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_CUDA_CUDA_EXACT_BUILDER_H_
