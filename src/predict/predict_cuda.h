/// Stage 9 on a CUDA device: rows → leaves, margins, for training rows.
#ifndef XGBGPU_PREDICT_PREDICT_CUDA_H_
#define XGBGPU_PREDICT_PREDICT_CUDA_H_

#include "cuda/device.h"
#include "matrix/device_matrix.h"
#include "tree/device_categories.h"
#include "tree/node.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Margins to which leaf values may be added before the host knows the values. Both arrays [rows] are on the device.
struct SpeculativeMargins {
  float const* from{nullptr};
  float* to{nullptr};  ///< nullptr: none
};

/// host::FindLeaves on the nodes of a finished tree. All arrays are on the device.
void FindLeaves(DeviceMatrixView const& matrix, Node const* nodes, DeviceCategories const& categories,
                NodeIndex* positions, DeviceLimits const& limits, cudaStream_t stream);

/// host::AddLeafValues. All arrays are on the device.
void AddLeafValues(NodeIndex const* positions, std::uint64_t rows, float const* node_values, float* margins,
                   std::size_t stride, DeviceLimits const& limits, cudaStream_t stream);

/// Adds the leaves of a tree of vectors: `leaves` [nodes, outputs]. All arrays are on the device.
void AddVectorLeaves(NodeIndex const* positions, float const* leaves, OutputView<float> margins,
                     DeviceLimits const& limits, cudaStream_t stream);

/// Renumbers positions by node_of[position], and complements of positions by the complement. All arrays are on the
/// device.
void RenumberPositions(NodeIndex const* node_of, NodeIndex* positions, std::uint64_t rows, DeviceLimits const& limits,
                       cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_PREDICT_CUDA_H_
