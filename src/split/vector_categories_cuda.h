/// Stage 7 for categorical features of trees of vectors on a CUDA device: equal to host::VectorSplitFinder and, in
/// symmetric trees, to host::LevelSplitFinder. docs/adr/0043-vector-leaves.md
#ifndef XGBGPU_SPLIT_VECTOR_CATEGORIES_CUDA_H_
#define XGBGPU_SPLIT_VECTOR_CATEGORIES_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "split/vector_levels_cuda.h"
#include "split/vector_split_cuda.h"

namespace xgbgpu::cuda {

/// Returns the most blocks of the kernels below. Each block has its own room in VectorCategories::ends and in
/// DeviceCategories::sort_workspace.
std::uint32_t CategoryBlocks(DeviceLimits const& limits);

/// Enqueues the search of the categorical features for `children` children. Their histograms have been accumulated. A
/// block takes a child and a feature.
void FindVectorCategories(VectorSplitView const& view, std::uint32_t children, DeviceLimits const& limits,
                          cudaStream_t stream);
/// Enqueues the best splits of the children that are by categories, with their sets and the sums on their sides.
void TakeVectorCategories(VectorSplitView const& view, std::uint32_t children, DeviceLimits const& limits,
                          cudaStream_t stream);

/// FindVectorLevelGains of the level's categorical features.
void FindVectorLevelCategoryGains(VectorLevelView const& view, std::uint32_t first, std::uint32_t count, double* gains,
                                  DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_VECTOR_CATEGORIES_CUDA_H_
