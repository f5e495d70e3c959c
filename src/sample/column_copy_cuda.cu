// Copies columns of a dense matrix side by side on a device.
#include <type_traits>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "sample/column_copy_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// The rows of a copy: a sample's, or all rows of a page.
struct CopiedRows {
  RowRecord const* listed;  ///< nullptr: all
  SampleState const* state;
  std::uint32_t capacity;

  __device__ std::uint64_t Count(DeviceMatrixView const& page) const {
    return listed == nullptr ? page.rows : min(state->rows, capacity);
  }
};

/// A thread makes the record of a row in one tile of the copy. Neighbouring threads read the same columns of
/// neighbouring rows, and one source tile after the other, so that a sector is read from memory once.
template <typename Symbol, int kWords>
__global__ void __launch_bounds__(kThreads)
    CopyColumnsKernel(DeviceMatrixView page, std::uint64_t first_row, CopiedRows rows, DeviceMatrixView copy,
                      std::uint8_t* records) {
  constexpr std::uint32_t kOfWord = 4 / sizeof(Symbol), kColumns = kWords * kOfWord;
  constexpr int kPieceWords = kWords < 4 ? kWords : 4;
  using Piece = std::conditional_t<kPieceWords == 4, uint4, std::conditional_t<kPieceWords == 2, uint2, std::uint32_t>>;
  __shared__ std::uint64_t offset[kColumns];
  WaitForKernelBefore();
  std::uint32_t const blocks_of_tile = gridDim.x / copy.tiles, tile = blockIdx.x / blocks_of_tile;
  std::uint32_t const first = tile * kColumns, columns = min(kColumns, copy.columns() - first);
  if (threadIdx.x < columns) offset[threadIdx.x] = page.symbol_offset(copy.feature(first + threadIdx.x));
  __syncthreads();
  std::uint64_t const n = rows.Count(page), step = std::uint64_t{blocks_of_tile} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x % blocks_of_tile} * kThreads + threadIdx.x; i < n; i += step) {
    std::uint64_t row = i, to = first_row + i;
    if (rows.listed != nullptr) {
      row = std::uint64_t{rows.listed[i].row} - first_row;
      if (row >= page.rows) continue;
      to = i;
    }
    std::uint8_t const* const from = page.records + row * page.record_bytes();
    std::uint32_t words[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      words[w] = 0;
#pragma unroll
      for (std::uint32_t s = 0; s < kOfWord; ++s) {
        std::uint32_t const c = w * kOfWord + s;
        if (c >= columns) continue;
        std::uint32_t const symbol = *reinterpret_cast<Symbol const*>(from + offset[c]);
        words[w] |= symbol << (s * 8 * sizeof(Symbol));
      }
    }
    auto* const record = reinterpret_cast<Piece*>(records + (tile * copy.rows + to) * copy.record_bytes());
#pragma unroll
    for (int p = 0; p < kWords / kPieceWords; ++p) {
      Piece piece;
      memcpy(&piece, words + p * kPieceWords, sizeof(piece));
      record[p] = piece;
    }
  }
}

}  // namespace

void CopyColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                 DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits, cudaStream_t stream) {
  CopiedRows const rows = sample != nullptr ? CopiedRows{sample->rows, sample->state, sample->capacity} : CopiedRows{};
  auto const launch = [&](auto symbol) {
    using Symbol = decltype(symbol);
    auto const with = [&](auto* kernel) {
      std::uint64_t const most = sample != nullptr ? sample->capacity : page.rows;
      // Each tile has the same number of blocks.
      unsigned const blocks = Blocks(copy.tiles * ((most + kThreads - 1) / kThreads), 1, limits, kResident);
      LaunchNext("copying columns", kernel, std::max(1U, blocks / copy.tiles) * copy.tiles, kThreads, 0, limits, stream,
                 page, first_row, rows, copy, records);
    };
    switch (copy.record_bytes()) {
      case 32:
        return with(CopyColumnsKernel<Symbol, 8>);
      case 16:
        return with(CopyColumnsKernel<Symbol, 4>);
      case 8:
        return with(CopyColumnsKernel<Symbol, 2>);
      default:
        return with(CopyColumnsKernel<Symbol, 1>);
    }
  };
  copy.symbol_bytes == 1 ? launch(std::uint8_t{}) : launch(std::uint16_t{});
}

}  // namespace xgbgpu::cuda
