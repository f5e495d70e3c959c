// Computes contributions of rows on a device, with a thread for each row and output.
#include <algorithm>
#include <type_traits>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "predict/contributions_cuda.h"
#include "predict/paths_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr unsigned kMostBlockRows = 128;
constexpr std::size_t kWeightBytes = kChunkEntries * sizeof(ElementWeights);
constexpr unsigned kMostGridRows = 65535;  // CUDA's limit of a grid's second dimension

/// The data of a thread's row: values, and sums of all tested features.
struct OwnRow {
  float const* values;
  double* sums;
  std::size_t stride;  ///< from one feature's sum to the next

  __device__ float operator()(FeatureIndex f) const { return __ldg(values + std::uint64_t{f} * kTileRows); }
  __device__ float operator()(FeatureIndex f, int) const { return (*this)(f); }
  __device__ double& sum(FeatureIndex f) const { return sums[f * stride]; }
};

template <bool kCategorical>
__device__ void AddExact(PathsView const& paths, std::uint32_t output, bool active, ElementWeights* weights,
                         OwnRow const& row) {
  auto const add = [&row](FeatureIndex f, int, float what) { row.sum(f) = row.sum(f) + what; };
  ForEachPath<kCategorical>(paths, output, active, weights,
                            [&](auto const& elements, Path const& path, QuadratureGroup const* groups,
                                auto const& made) { AddPath<1>(elements, path, groups, made, row, add); });
}

template <typename Sets>
__device__ void AddApproximate(PathsView const& paths, std::uint32_t output, OwnRow const& row) {
  auto const add = [&row](FeatureIndex f, double what) { row.sum(f) = row.sum(f) + what; };
  for (std::uint64_t i = paths.tree_ptr[output]; i < paths.tree_ptr[output + 1]; ++i) {
    std::uint32_t const t = paths.trees[i];
    ForestTree const tree = paths.forest.trees[t];
    Sets const sets = paths.forest.SetsOf<Sets>(t);
    ForestWord const* const words = paths.forest.words + tree.first;
    float const* const means = paths.node_means + tree.first;
    if (tree.wide()) {
      AddSteps<WideNodes>(words, sets, means, row, add);
    } else {
      AddSteps<NarrowNodes>(words, sets, means, row, add);
    }
  }
}

/// Writes the rows' contributions. A warp writes a row at a time.
__device__ void Store(PathsView const& paths, ContributionsView const& out, std::uint32_t output,
                      std::uint64_t first_row, double const* sums, std::size_t stride, bool staged) {
  std::uint32_t const lane = threadIdx.x % kTileRows, warps = blockDim.x / kTileRows;
  for (std::uint32_t r = threadIdx.x / kTileRows; r < blockDim.x && first_row + r < out.rows; r += warps) {
    float* const to = out.at(first_row + r, output);
    // The sums of a block are one array in shared memory. In device memory each tile has its own array.
    double const* const from =
        staged ? sums + r : sums + std::size_t{r / kTileRows} * paths.features * kTileRows + r % kTileRows;
    for (std::size_t f = lane; f < out.features; f += kTileRows) {
      to[f] = f < paths.features ? static_cast<float>(from[f * stride]) : 0.0f;
    }
    if (lane == 0) to[out.features] = paths.means[output];
  }
}

/// Block (x, y) has rows from x · blockDim.x on, one a thread, and outputs y, y + gridDim.y, …
template <bool kApproximate, bool kCategorical>
__global__ void __launch_bounds__(kMostBlockRows)
    ContributionsKernel(RawView matrix, PathsView paths, ContributionsView out, double* scratch) {
  extern __shared__ uint4 shared[];
  auto* const weights = reinterpret_cast<ElementWeights*>(shared);
  std::uint64_t const first_row = std::uint64_t{blockIdx.x} * blockDim.x;
  std::uint64_t const row = first_row + threadIdx.x;
  std::uint32_t const lane = threadIdx.x % kTileRows;
  bool const active = row < matrix.rows;
  bool const staged = scratch == nullptr;
  // A tile of scratch for each warp, including warps without rows.
  std::size_t const output_scratch = std::size_t{gridDim.x} * blockDim.x * paths.features;
  std::size_t const stride = staged ? blockDim.x : kTileRows;
  for (std::uint32_t o = blockIdx.y; o < out.outputs; o += gridDim.y) {
    double* const sums = staged ? reinterpret_cast<double*>(reinterpret_cast<char*>(shared) + kWeightBytes)
                                : scratch + blockIdx.y * output_scratch + first_row * paths.features;
    double* const own = staged ? sums + threadIdx.x : sums + std::size_t{threadIdx.x - lane} * paths.features + lane;
    OwnRow const values{matrix.tiles + (row - lane) * matrix.features + lane, own, stride};
    for (FeatureIndex f = 0; f < paths.features; ++f) values.sum(f) = 0.0;
    if constexpr (kApproximate) {
      if (active) AddApproximate<std::conditional_t<kCategorical, PackedSets, NoSets>>(paths, o, values);
    } else {
      AddExact<kCategorical>(paths, o, active, weights, values);
    }
    __syncthreads();
    Store(paths, out, o, first_row, sums, stride, staged);
    __syncthreads();  // the sums are overwritten next
  }
}

template <bool kApproximate, bool kCategorical>
void Launch(RawView const& matrix, PathsView const& paths, ContributionsView const& out, ContributionPlan const& plan,
            double* scratch, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = &ContributionsKernel<kApproximate, kCategorical>;
  AllowShared(kernel, limits.block_bytes);
  dim3 const grid{static_cast<unsigned>((matrix.rows + plan.block_rows - 1) / plan.block_rows),
                  std::min(out.outputs, kMostGridRows)};
  kernel<<<grid, plan.block_rows, plan.bytes, stream>>>(matrix, paths, out, plan.scratch == 0 ? nullptr : scratch);
  CheckLaunch("computing contributions");
}

}  // namespace

ContributionPlan PlanContributions(std::uint64_t rows, std::uint32_t outputs, FeatureIndex tested,
                                   DeviceLimits const& limits) {
  constexpr std::size_t kResident = 4;  // blocks of a multiprocessor, so that one may wait for its weights
  constexpr std::size_t kOverhead = 1 << 10;
  for (unsigned block_rows = kMostBlockRows; block_rows >= kTileRows; block_rows /= 2) {
    std::size_t const bytes = kWeightBytes + std::size_t{block_rows} * tested * sizeof(double);
    bool const last = block_rows == kTileRows;
    if (bytes <= limits.block_bytes && (last || kResident * (bytes + kOverhead) <= limits.processor_bytes)) {
      return {block_rows, bytes, 0};
    }
  }
  std::uint64_t const padded = (rows + kMostBlockRows - 1) / kMostBlockRows * kMostBlockRows;
  return {kMostBlockRows, kWeightBytes, padded * tested * std::min(outputs, kMostGridRows)};
}

void PredictContributions(RawView const& tiles, DevicePaths const& paths, ContributionsView const& out, double* scratch,
                          DeviceLimits const& limits, cudaStream_t stream) {
  if (tiles.rows == 0 || out.outputs == 0) return;
  ContributionPlan const plan = PlanContributions(tiles.rows, out.outputs, paths.view().features, limits);
  auto* const launch = paths.approximate() ? (paths.categorical() ? Launch<true, true> : Launch<true, false>)
                                           : (paths.categorical() ? Launch<false, true> : Launch<false, false>);
  launch(tiles, paths.view(), out, plan, scratch, limits, stream);
}

}  // namespace xgbgpu::cuda
