// Computes interactions of rows on a device, with a thread for each row and output.
#include <algorithm>

#include "cuda/grid.h"
#include "predict/interactions_cuda.h"
#include "predict/interactions_ops.h"
#include "predict/paths_cuda.cuh"
#include "predict/row_stream_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr unsigned kBlockRows = 64;                    // few, because results are many and blocks of rows short
constexpr unsigned kMostGridRows = 65535;              // CUDA's limit of a grid's second dimension
constexpr std::size_t kResultBytes = 4 * kPieceBytes;  // of a block of rows: enough work for every multiprocessor

/// Returns the rows of a tile: fewer than 32 if the matrix has fewer.
XGBGPU_HD std::uint32_t Lanes(std::uint64_t rows) {
  return rows < kTileRows ? static_cast<std::uint32_t>(rows) : kTileRows;
}

XGBGPU_HD std::uint64_t Tiles(std::uint64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

/// The sums of a row: every lanes-th element.
struct RowSums {
  double* first;
  std::uint32_t lanes;

  __device__ double& operator()(std::size_t i) const { return first[i * lanes]; }
};

/// Writes the rows of a tile, one after the other. A warp calls it.
__device__ void Store(InteractionSums const& layout, double const* tile, std::uint32_t lanes, std::uint64_t first_row,
                      std::uint32_t output, float mean, InteractionsView const& out) {
  std::uint32_t const lane = threadIdx.x % kTileRows;
  std::size_t const columns = out.columns();
  for (std::uint32_t r = 0; r < lanes && first_row + r < out.rows; ++r) {
    float* const to = out.at(first_row + r, output);
    for (std::size_t a = 0; a < columns; ++a) {
      for (std::size_t b = lane; b < columns; b += kTileRows) {
        float value = 0.0f;
        if (a < layout.features && b < layout.features) {
          auto const x = static_cast<FeatureIndex>(a), y = static_cast<FeatureIndex>(b);
          value = static_cast<float>(tile[(x == y ? layout.of(x) : layout.of(x, y)) * lanes + r]);
        } else if (a + 1 == columns && b + 1 == columns) {
          value = mean;
        }
        to[a * columns + b] = value;
      }
    }
  }
}

/// Block (x, y) has rows from x · kBlockRows on, one a thread, and outputs y, y + gridDim.y, …
template <bool kCategorical>
__global__ void __launch_bounds__(kBlockRows)
    InteractionsKernel(RawView matrix, PathsView paths, InteractionsView out, double* scratch) {
  __shared__ ElementWeights weights[kChunkEntries];
  std::uint64_t const row = std::uint64_t{blockIdx.x} * kBlockRows + threadIdx.x;
  std::uint32_t const lane = threadIdx.x % kTileRows, lanes = Lanes(matrix.rows);
  std::uint64_t const tile = row / kTileRows;
  bool const active = row < matrix.rows;
  InteractionSums const layout{paths.features};
  // Sums of warps beyond the last row are not read.
  double* const sums = scratch + (blockIdx.y * Tiles(matrix.rows) + tile) * layout.size() * lanes;
  RowSums const own{sums + lane, lanes};
  float const* const values = matrix.tiles + tile * kTileRows * matrix.features + lane;
  auto const value = [values](FeatureIndex f, int) { return __ldg(values + std::uint64_t{f} * kTileRows); };
  auto const add = [own, layout](FeatureIndex f, int, float what) {
    double& sum = own(layout.of(f));
    sum = sum + what;
  };
  auto const add_pair = [own, layout](FeatureIndex a, FeatureIndex b, int, float what) {
    double& sum = own(layout.of(a, b));
    sum = sum + what;
  };
  for (std::uint32_t o = blockIdx.y; o < out.outputs; o += gridDim.y) {
    for (std::size_t i = 0; active && i < layout.size(); ++i) own(i) = 0.0;
    ForEachPath<kCategorical>(
        paths, o, active, weights,
        [&](auto const& elements, Path const& path, QuadratureGroup const* groups, auto const& made) {
          AddPath<1>(elements, path, groups, made, value, add);
          AddPathPairs<1>(elements, path, groups, made, value, add_pair);
        });
    if (active) KeepOwnEffects(layout, own);
    __syncwarp();
    Store(layout, sums, lanes, tile * kTileRows, o, paths.means[o], out);
    __syncwarp();  // the sums are overwritten next
  }
}

class InteractionJob final : public RowMajorJob {
 public:
  InteractionJob(DevicePaths const& paths, InteractionsView const& out, int threads)
      : RowMajorJob{out.features, out.row_size(), out.data, threads}, paths_{paths}, out_{out} {}

  std::size_t block_bytes() const override { return kResultBytes; }
  std::size_t Scratch(std::uint64_t rows) const override {
    return InteractionScratch(rows, out_.outputs, paths_.view().features);
  }
  void Enqueue(RawView const& rows, float* results, double* scratch, cudaStream_t stream) const override {
    InteractionsView const out{results, rows.rows, out_.outputs, out_.features};
    PredictInteractions(rows, paths_, out, scratch, stream);
  }

 private:
  DevicePaths const& paths_;
  InteractionsView out_;  ///< of all rows, on the host
};

}  // namespace

std::size_t InteractionScratch(std::uint64_t rows, std::uint32_t outputs, FeatureIndex tested) {
  return Tiles(rows) * Lanes(rows) * InteractionSums{tested}.size() * std::min(outputs, kMostGridRows);
}

void PredictInteractions(RawView const& tiles, DevicePaths const& paths, InteractionsView const& out, double* scratch,
                         cudaStream_t stream) {
  if (tiles.rows == 0 || out.outputs == 0) return;
  dim3 const grid{static_cast<unsigned>((tiles.rows + kBlockRows - 1) / kBlockRows),
                  std::min(out.outputs, kMostGridRows)};
  auto* const kernel = paths.categorical() ? &InteractionsKernel<true> : &InteractionsKernel<false>;
  kernel<<<grid, kBlockRows, 0, stream>>>(tiles, paths.view(), out, scratch);
  CheckLaunch("computing interactions");
}

void PredictInteractionsStreamed(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                                 InteractionsView out, int device, int threads) {
  CheckInteractions(out, source, forest);
  CheckTreeRange(first, last, forest.trees());
  DeviceScope const scope{device};
  DeviceArena arena{"Computing interactions on the GPU"};
  DevicePaths const paths{forest, first, last, out.outputs, false, &arena};
  RowStream{}.Run(source, InteractionJob{paths, out, threads});
}

}  // namespace xgbgpu::cuda
