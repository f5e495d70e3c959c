// Copies rows of raw values to a device, as tiles or sparse rows.
#include <algorithm>

#include "cuda/grid.h"
#include "cuda/piece_stream.h"
#include "predict/raw_matrix_cuda.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kWhat = "copying raw values to the device";
constexpr char const* kPart = "raw values";
constexpr unsigned kStripes = 8;  // warps of a block, each with a row of the square at a time

/// Writes rows to tiles. A value equal to `mark` is missing. Block (x, y) has tile x of the rows' tiles, and squares y,
/// y + gridDim.y, … of 32 features each.
template <typename T>
__global__ void __launch_bounds__(kTileRows* kStripes)
    TileRowsKernel(T const* rows, float mark, std::uint64_t n, FeatureIndex features, std::uint64_t first_row,
                   float* tiles) {
  __shared__ float square[kTileRows][kTileRows + 1];
  std::uint64_t const tile = first_row / kTileRows + blockIdx.x;
  auto const has = [&](std::uint32_t r) { return tile * kTileRows + r - first_row < n; };  // wraps below first_row
  for (std::uint64_t f = std::uint64_t{blockIdx.y} * kTileRows; f < features; f += gridDim.y * kTileRows) {
    for (std::uint32_t r = threadIdx.y; r < kTileRows; r += kStripes) {
      if (has(r) && f + threadIdx.x < features) {
        square[r][threadIdx.x] =
            ValueOrNaN(rows[(tile * kTileRows + r - first_row) * features + f + threadIdx.x], mark);
      }
    }
    __syncthreads();
    for (std::uint32_t c = threadIdx.y; c < kTileRows; c += kStripes) {
      if (has(threadIdx.x) && f + c < features) {
        tiles[(tile * features + f + c) * kTileRows + threadIdx.x] = square[threadIdx.x][c];
      }
    }
    __syncthreads();
  }
}

}  // namespace

void TileRows(ArrayPiece const& rows, FeatureIndex features, float* tiles, cudaStream_t stream) {
  if (rows.n == 0 || features == 0) return;
  constexpr std::uint32_t kMostSquares = 1024;
  std::uint64_t const touched = (rows.first_row + rows.n - 1) / kTileRows - rows.first_row / kTileRows + 1;
  dim3 const grid{static_cast<unsigned>(touched),
                  static_cast<unsigned>(std::min((features - 1) / kTileRows + 1, kMostSquares))};
  VisitValues(rows.values, [&](auto const* values) {
    TileRowsKernel<<<grid, dim3{kTileRows, kStripes}, 0, stream>>>(values, rows.values.missing, rows.n, features,
                                                                   rows.first_row, tiles);
  });
  CheckLaunch("laying raw values out");
}

void ClearLastTile(std::uint64_t rows, FeatureIndex features, float* tiles, cudaStream_t stream) {
  constexpr int kNanByte = 0xFF;
  if (rows % kTileRows == 0 || features == 0) return;
  FillBytes(tiles + rows / kTileRows * kTileRows * features, kNanByte, std::size_t{kTileRows} * features, stream,
            "laying raw values out");
}

std::size_t RawMatrix::Bytes(std::uint64_t rows, FeatureIndex features, std::uint64_t values) {
  return RowsAreDense(rows, features, values) ? TiledValues(rows, features) * sizeof(float)
                                              : (rows + 1) * sizeof(std::uint64_t) + values * sizeof(Entry);
}

RawMatrix::RawMatrix(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads) {
  if (source.arrays()) {
    FillArrays(source, arena, stream, threads);
    return;
  }
  std::uint64_t values = 0, longest = 0;
  source.ForEachBatch([&](RowBatch const& batch) {
    for (std::uint64_t r = 0; r < batch.rows(); ++r) {
      longest = std::max(longest, batch.offsets[r + 1] - batch.offsets[r]);
    }
    if (batch.rows() != 0) values += batch.offsets[batch.rows()] - batch.offsets[0];
  });
  view_.rows = source.rows();
  view_.features = source.features();
  view_.dense = RowsAreDense(view_.rows, view_.features, values);
  if (view_.dense) {
    MakeTiles(arena, stream);
    FillDense(source, arena, stream, threads);
  } else {
    row_ptr_ = {arena, kPart, view_.rows + 1};
    entries_ = {arena, kPart, values};
    view_.row_ptr = row_ptr_.data();
    view_.entries = entries_.data();
    FillSparse(source, values, longest, stream, threads);
  }
}

void RawMatrix::MakeTiles(DeviceArena* arena, cudaStream_t stream) {
  tiles_ = {arena, kPart, TiledValues(view_.rows, view_.features)};
  view_.tiles = tiles_.data();
  ClearLastTile(view_.rows, view_.features, tiles_.data(), stream);
}

void RawMatrix::FillArrays(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads) {
  FeatureIndex const features = source.features();
  view_.rows = source.rows();
  view_.features = features;
  view_.dense = true;
  MakeTiles(arena, stream);
  CheckCuda(cudaStreamSynchronize(stream), kWhat);  // pieces come on other streams
  ArrayUpload upload{*source.arrays(), view_.rows, features, threads};
  source.ForEachArray([&](ArrayBatch const& array) {
    upload.Run(array, 0, features, arena, [&](ArrayPiece const& piece, std::size_t, cudaStream_t piece_stream) {
      TileRows(piece, features, tiles_.data(), piece_stream);
    });
  });
}

void RawMatrix::FillDense(RowSource const& source, DeviceArena* arena, cudaStream_t stream, int threads) {
  FeatureIndex const features = view_.features;
  std::size_t const row_bytes = std::max<std::size_t>(1, features) * sizeof(float);
  std::uint64_t const most =
      std::clamp<std::uint64_t>(view_.rows, 1, std::max(std::size_t{1}, kPieceBytes / row_bytes));
  DeviceBuffer<float> const device{arena, "raw values on their way", most * features};
  PieceStream pieces{most * row_bytes, stream};
  ForEachRun(source, most, UINT64_MAX, [&](RowRun const& run) {
    auto* const piece = pieces.Open<float>();
    PackDenseRows(run, features, piece, threads);
    CopyToDevice(device.data(), piece, run.n * features, stream, kWhat);
    pieces.Close();
    TileRows({{device.data()}, features, run.first_row(), run.n}, features, tiles_.data(), stream);
  });
  pieces.Wait(kWhat);
}

void RawMatrix::FillSparse(RowSource const& source, std::uint64_t values, std::uint64_t longest, cudaStream_t stream,
                           int threads) {
  // A piece has offsets of the rows, then their entries: half the piece for each, or as much as one row needs.
  std::uint64_t const most_rows = std::clamp<std::uint64_t>(view_.rows, 1, kPieceBytes / 2 / sizeof(std::uint64_t));
  std::uint64_t const most_values = std::max(longest, std::min<std::uint64_t>(values, kPieceBytes / 2 / sizeof(Entry)));
  PieceStream pieces{(most_rows + 1) * sizeof(std::uint64_t) + most_values * sizeof(Entry), stream};
  std::uint64_t before = 0;
  FillBytes(row_ptr_.data(), 0, 1, stream, kWhat);  // also for a source without rows
  ForEachRun(source, most_rows, most_values, [&](RowRun const& run) {
    auto* const offsets = pieces.Open<std::uint64_t>();
    auto* const entries = reinterpret_cast<Entry*>(offsets + run.n + 1);
    PackSparseRows(run, view_.features, before, offsets, entries, threads);
    CopyToDevice(row_ptr_.data() + run.first_row(), offsets, run.n + 1, stream, kWhat);
    CopyToDevice(entries_.data() + before, entries, run.values(), stream, kWhat);
    pieces.Close();
    before += run.values();
  });
  pieces.Wait(kWhat);
}

}  // namespace xgbgpu::cuda
