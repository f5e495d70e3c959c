// Finds leaves, adds leaf values and renumbers positions of training rows on a device.
#include "cuda/grid.h"
#include "partition/partition_cuda.cuh"
#include "predict/predict.h"
#include "predict/predict_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

template <bool kCategories>
__global__ void __launch_bounds__(kThreads)
    FindLeavesKernel(DeviceMatrixView matrix, Node const* nodes, DeviceCategories categories, NodeIndex* positions) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < matrix.rows; row += step) {
    if (positions[row] >= 0) continue;
    NodeIndex n = ~positions[row];  // 0, or the node where the row was left when the tree had fewer levels
    while (nodes[n].left != kNoNode) {
      RowTest<kCategories> const test{matrix, nodes[n].split, categories};
      n = nodes[n].left + (test.Left(static_cast<RowIndex>(row)) ? 0 : 1);
    }
    positions[row] = ~n;
  }
}

__global__ void __launch_bounds__(kThreads)
    AddLeafValuesKernel(NodeIndex const* positions, std::uint64_t rows, float const* node_values, float* margins,
                        std::size_t stride) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) {
    NodeIndex const p = positions[row];
    margins[row * stride] += __ldg(node_values + (p < 0 ? ~p : p));
  }
}

__global__ void __launch_bounds__(kThreads)
    AddVectorLeavesKernel(NodeIndex const* positions, float const* leaves, OutputView<float> margins) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < margins.rows; row += step) {
    NodeIndex const p = positions[row];
    float const* const own = leaves + static_cast<std::uint64_t>(p < 0 ? ~p : p) * margins.outputs;
    for (std::uint32_t k = 0; k < margins.outputs; ++k) margins.at(row, k) += __ldg(own + k);
  }
}

__global__ void __launch_bounds__(kThreads)
    RenumberKernel(NodeIndex const* node_of, std::uint64_t rows, NodeIndex* positions) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) {
    NodeIndex const p = positions[row];
    positions[row] = p < 0 ? ~node_of[~p] : node_of[p];
  }
}

}  // namespace

void FindLeaves(DeviceMatrixView const& matrix, Node const* nodes, DeviceCategories const& categories,
                NodeIndex* positions, DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(matrix.rows, kThreads, limits, kResident);
  if (categories.sets != nullptr) {
    FindLeavesKernel<true><<<blocks, kThreads, 0, stream>>>(matrix, nodes, categories, positions);
  } else {
    FindLeavesKernel<false><<<blocks, kThreads, 0, stream>>>(matrix, nodes, categories, positions);
  }
  CheckLaunch("looking for the leaves of rows outside the sample");
}

void AddLeafValues(NodeIndex const* positions, std::uint64_t rows, float const* node_values, float* margins,
                   std::size_t stride, DeviceLimits const& limits, cudaStream_t stream) {
  AddLeafValuesKernel<<<Blocks(rows, kThreads, limits, kResident), kThreads, 0, stream>>>(positions, rows, node_values,
                                                                                          margins, stride);
  CheckLaunch("adding leaf values");
}

void AddVectorLeaves(NodeIndex const* positions, float const* leaves, OutputView<float> margins,
                     DeviceLimits const& limits, cudaStream_t stream) {
  AddVectorLeavesKernel<<<Blocks(margins.rows, kThreads, limits, kResident), kThreads, 0, stream>>>(positions, leaves,
                                                                                                    margins);
  CheckLaunch("adding leaf values");
}

void RenumberPositions(NodeIndex const* node_of, NodeIndex* positions, std::uint64_t rows, DeviceLimits const& limits,
                       cudaStream_t stream) {
  RenumberKernel<<<Blocks(rows, kThreads, limits, kResident), kThreads, 0, stream>>>(node_of, rows, positions);
  CheckLaunch("numbering leaves");
}

}  // namespace xgbgpu::cuda
