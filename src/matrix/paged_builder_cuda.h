/// Stage 2 on a CUDA device: in core if the training fits the memory limits, else in pages. docs/adr/0024-pages.md
#ifndef XGBGPU_MATRIX_PAGED_BUILDER_CUDA_H_
#define XGBGPU_MATRIX_PAGED_BUILDER_CUDA_H_

#include <cstdint>
#include <memory>

#include "matrix/device_matrix.h"
#include "matrix/page_policy_cuda.h"
#include "quantile/quantile_cuda.h"
#include "xgbgpu/memory_limits.h"

namespace xgbgpu::cuda {

/// BuildMatrix, but with the bins in pages if a training on the result would exceed the limits. Pages read an array, or
/// batches, once for the bins. options.device must be current.
///
/// Memory  of the device beside the result: as BuildMatrix within the limit; in pages, a few pages
/// Throws  as BuildMatrix and PageStore; InvalidArgument (the limit is too small for pages)
std::unique_ptr<DeviceMatrix> BuildMatrixWithin(RowSource const& source, CutRequest const& wanted,
                                                BuildOptions const& options, MemoryLimits const& limits,
                                                DevicePagePolicy const& policy = {});
/// The same with given cuts.
std::unique_ptr<DeviceMatrix> QuantiseMatrixWithin(RowSource const& source, Cuts cuts, BuildOptions const& options,
                                                   MemoryLimits const& limits, DevicePagePolicy const& policy = {});

/// Makes the bins of `rows` in pages, with a layout that other rows may share. `own` has the facts of the rows. `bytes`
/// is the device memory of a training on them.
std::unique_ptr<DeviceMatrix> MakePages(RowSource const& rows, Cuts const& cuts, DeviceLayout layout,
                                        LayoutFacts const& own, BuildOptions const& options, MemoryLimits const& limits,
                                        std::size_t bytes, DevicePagePolicy const& policy = {});

/// Returns the matrix for a training within other limits. The matrix's device must be current. If the matrix is in
/// core, and a training would exceed limits.training_bytes, it is divided into pages. If it is in pages, the result
/// shares them.
///
/// Memory  of the device: a page
std::shared_ptr<DeviceMatrix const> MatrixWithin(std::shared_ptr<DeviceMatrix const> matrix, MemoryLimits const& limits,
                                                 DevicePagePolicy const& policy = {});

/// Returns the bytes that each of `sharers` trainings may take on the current device: its limit, or its part of the
/// free memory if that is less or there is no limit.
std::size_t LimitInBytes(MemoryLimits const& limits, int sharers = 1);

/// Returns the approximate bytes of a training in core: bins and their copies in the order of nodes, the rows' data,
/// and histograms.
std::size_t InCoreBytes(DeviceLayout const& layout, LayoutFacts const& facts, DevicePagePolicy const& policy = {});

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_PAGED_BUILDER_CUDA_H_
