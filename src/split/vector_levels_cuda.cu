// Scores the candidates of a level of a symmetric tree of vectors on a device, and writes the chosen split.
#include "cuda/grid.h"
#include "split/vector_categories_cuda.h"
#include "split/vector_cells.cuh"
#include "split/vector_levels_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kWarp = 32;

/// A thread takes a cell, which stands for both candidates of its bin. blockIdx.y: the node.
template <bool kMonotone>
__global__ void __launch_bounds__(kThreads)
    VectorLevelGainsKernel(VectorLevelView view, std::uint32_t first, double* gains) {
  DeviceMatrixView const& m = view.matrix;
  std::uint32_t const outputs = view.cells.outputs;
  std::uint64_t const n = first + blockIdx.y;
  LevelNode const* const node = view.numbers + n * outputs;
  std::int64_t const* const sums = view.sums(n);
  double* const missing_right = gains + std::uint64_t{blockIdx.y} * 2 * view.bins;
  double* const missing_left = missing_right + view.bins;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < m.cells;
       i += std::uint64_t{gridDim.x} * kThreads) {
    CellPlace const place{m, i};
    FeatureIndex const f = place.feature;
    if (!place.exists || view.may_divide[f] == 0) continue;
    std::uint64_t const last = m.first_cell(f) + (m.bins(f) - std::uint64_t{1}) * m.cell_stride();
    int const direction = kMonotone ? view.directions[f] : 0;
    std::uint64_t const candidate = std::uint64_t{m.cut_ptr[f]} + place.bin;
    auto const up_to = [&](std::uint32_t k) { return view.cells.Load(sums, place.cell, k); };
    auto const above = [&](std::uint32_t k) { return node[k].total - up_to(k); };
    double const gain = DivisionGainOfOutputs<kMonotone>(view.params, up_to, above, node, direction);
    missing_right[candidate] = gain;
    bool misses = false;
    for (std::uint32_t k = 0; k < outputs && !misses; ++k) {
      misses = !(view.cells.Load(sums, last, k) == node[k].total);
    }
    if (!misses) {  // the same division, one bin further
      if (place.bin == 0) missing_left[candidate] = 0.0;
      if (place.bin + 1 < m.bins(f)) missing_left[candidate + 1] = gain;
      continue;
    }
    auto const from_here = [&](std::uint32_t k) {
      GradientSum sum = view.cells.Load(sums, last, k);
      if (place.bin != 0) sum -= view.cells.Load(sums, place.cell - m.cell_stride(), k);
      return sum;
    };
    auto const rest = [&](std::uint32_t k) { return node[k].total - from_here(k); };
    missing_left[candidate] = DivisionGainOfOutputs<kMonotone>(view.params, rest, from_here, node, direction);
  }
}

/// A warp takes a node.
__global__ void __launch_bounds__(kWarp)
    WriteVectorLevelSplitKernel(VectorLevelView view, SplitCandidate split, std::uint32_t const* right_categories,
                                Node* nodes, GradientSum* lefts) {
  std::uint32_t const outputs = view.cells.outputs;
  VectorBins const bins{view.matrix, view.cells, view.sums(blockIdx.x), split.feature};
  std::uint64_t const numbers = std::uint64_t{blockIdx.x} * outputs;
  if (threadIdx.x == 0) nodes[view.nodes[blockIdx.x].number].split = split;
  if (right_categories != nullptr) {
    for (std::uint32_t k = 0; k < outputs; ++k) {
      GradientSum const right = bins.In(right_categories, k);
      if (threadIdx.x != 0) continue;
      lefts[numbers + k] = (split.default_left ? view.numbers[numbers + k].total : bins.Present(k)) - right;
    }
    return;
  }
  for (std::uint32_t k = threadIdx.x; k < outputs; k += kWarp) {
    GradientSum left;
    if (split.bin != 0) left = bins.UpTo(split.bin - 1, k);
    if (split.default_left) left += view.numbers[numbers + k].total - bins.Present(k);
    lefts[numbers + k] = left;
  }
}

}  // namespace

void FindVectorLevelGains(VectorLevelView const& view, std::uint32_t first, std::uint32_t count, double* gains,
                          DeviceLimits const& limits, cudaStream_t stream) {
  dim3 const grid{Blocks(view.matrix.cells, kThreads, limits, kResident), count};
  auto* const kernel = view.directions != nullptr ? VectorLevelGainsKernel<true> : VectorLevelGainsKernel<false>;
  kernel<<<grid, kThreads, 0, stream>>>(view, first, gains);
  CheckLaunch("scoring splits of a level");
  if (view.categorical_count != 0) FindVectorLevelCategoryGains(view, first, count, gains, limits, stream);
}

void WriteVectorLevelSplit(VectorLevelView const& view, LevelSplit const& split, std::uint32_t const* right_categories,
                           std::uint32_t count, Node* nodes, GradientSum* lefts, cudaStream_t stream) {
  SplitCandidate const candidate{0.0f, split.feature, split.bin, split.default_left, split.categorical, {}, {}};
  WriteVectorLevelSplitKernel<<<count, kWarp, 0, stream>>>(view, candidate, right_categories, nodes, lefts);
  CheckLaunch("dividing a level");
}

}  // namespace xgbgpu::cuda
