/// Stage 2 on a CUDA device: in core if the training fits the limits of memory, else in pages. docs/adr/0024-pages.md
#ifndef XGBGPU_MATRIX_PAGED_BUILDER_CUDA_H_
#define XGBGPU_MATRIX_PAGED_BUILDER_CUDA_H_

#include <cstdint>
#include <memory>

#include "matrix/device_matrix.h"
#include "matrix/page_policy_cuda.h"
#include "quantile/quantile_cuda.h"
#include "xgbgpu/memory_limits.h"

namespace xgbgpu::cuda {

/// Does what BuildMatrix does, or, if a training on the result would take more than the limits allow, makes the bins in
/// pages. An array is then read once for its bins, batches too. options.device must be current.
///
/// Memory  of the device beside the result: as BuildMatrix within the limit; in pages, a few pages
/// Throws  as BuildMatrix and PageStore; InvalidArgument (the limit is less than what pages take)
std::unique_ptr<DeviceMatrix> BuildMatrixWithin(RowSource const& source, CutsWanted const& wanted,
                                                BuildOptions const& options, MemoryLimits const& limits,
                                                DevicePagePolicy const& policy = {});
/// Does the same with cuts that are given.
std::unique_ptr<DeviceMatrix> QuantiseMatrixWithin(RowSource const& source, Cuts cuts, BuildOptions const& options,
                                                   MemoryLimits const& limits, DevicePagePolicy const& policy = {});

/// Makes the bins of these rows in pages, with a layout that other rows may have, too. `own`: facts of these rows.
/// `bytes`: what a training on them may take on the device.
std::unique_ptr<DeviceMatrix> MakePages(RowSource const& rows, Cuts const& cuts, DeviceLayout layout,
                                        LayoutFacts const& own, BuildOptions const& options, MemoryLimits const& limits,
                                        std::size_t bytes, DevicePagePolicy const& policy = {});

/// Returns the matrix for a training within other limits, whose device must be current. If it is in core, and a
/// training would take more than limits.training_bytes, pages are made of it. If it is in pages, the result has the
/// same pages.
///
/// Memory  of the device: a page
std::shared_ptr<DeviceMatrix const> MatrixWithin(std::shared_ptr<DeviceMatrix const> matrix, MemoryLimits const& limits,
                                                 DevicePagePolicy const& policy = {});

/// Returns the bytes that each of `sharers` trainings may take on the current device: its limit, or its part of what is
/// free if that is less or there is no limit.
std::size_t LimitInBytes(MemoryLimits const& limits, int sharers = 1);

/// Returns the bytes that a training takes in core, about: bins and their copies in the order of nodes, what its rows
/// take, and histograms.
std::size_t InCoreBytes(DeviceLayout const& layout, LayoutFacts const& facts, DevicePagePolicy const& policy = {});

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_PAGED_BUILDER_CUDA_H_
