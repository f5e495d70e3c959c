// Copies columns of a dense matrix side by side on a device.
#include <type_traits>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "matrix/record_pieces.cuh"
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

/// The records of a block's rows in one tile, a word of each record after the other: the thread's own words.
class OwnWords {
 public:
  __device__ OwnWords(DeviceMatrixView const& page, std::uint32_t* shared)
      : page_{page}, words_{shared + threadIdx.x} {}
  /// Loads the record of a row in a tile.
  __device__ void Load(std::uint32_t tile, std::uint64_t row) {
    std::uint32_t const bytes = page_.record_bytes();
    std::uint8_t const* const from = page_.records + (tile * page_.rows + row) * bytes;
    WithPiece(bytes, [&](auto piece) {
      using Piece = decltype(piece);
      constexpr int kWords = sizeof(Piece) / 4;
      for (std::uint32_t p = 0; p < bytes / sizeof(Piece); ++p) {
        piece = reinterpret_cast<Piece const*>(from)[p];
        std::uint32_t own[kWords];
        memcpy(own, &piece, sizeof(piece));
#pragma unroll
        for (int w = 0; w < kWords; ++w) words_[(p * kWords + w) * kThreads] = own[w];
      }
    });
  }
  template <typename Symbol>
  __device__ std::uint32_t At(std::uint32_t column) const {
    std::uint32_t const byte = column * sizeof(Symbol), shifted = words_[byte / 4 * kThreads] >> (byte % 4 * 8);
    return static_cast<Symbol>(shifted);
  }

 private:
  DeviceMatrixView const& page_;
  std::uint32_t* words_;
};

/// A thread makes the records of a row in the copy's tiles, one after the other. It reads each record of the page that
/// has a wanted column once.
template <typename Symbol, int kWords>
__global__ void __launch_bounds__(kThreads)
    CopyColumnsKernel(DeviceMatrixView page, std::uint64_t first_row, CopiedRows rows, DeviceMatrixView copy,
                      std::uint8_t* records) {
  constexpr std::uint32_t kOfWord = 4 / sizeof(Symbol), kColumns = kWords * kOfWord, kMostWords = 8;
  constexpr int kPieceWords = kWords < 4 ? kWords : 4;
  using Piece = std::conditional_t<kPieceWords == 4, uint4, std::conditional_t<kPieceWords == 2, uint2, std::uint32_t>>;
  __shared__ std::uint32_t words_of_rows[kMostWords * kThreads];
  WaitForKernelBefore();
  OwnWords own{page, words_of_rows};
  std::uint32_t const columns = copy.columns();
  int const tile_bits = __ffs(static_cast<int>(page.tile_columns)) - 1;
  std::uint64_t const n = rows.Count(page), step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    std::uint64_t row = i, to = first_row + i;
    if (rows.listed != nullptr) {
      row = std::uint64_t{rows.listed[i].row} - first_row;
      if (row >= page.rows) continue;
      to = i;
    }
    std::uint32_t loaded = ~0U;
    for (std::uint32_t tile = 0; tile < copy.tiles; ++tile) {
      std::uint32_t words[kWords];
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        words[w] = 0;
#pragma unroll
        for (std::uint32_t s = 0; s < kOfWord; ++s) {
          std::uint32_t const column = tile * kColumns + w * kOfWord + s;
          if (column >= columns) continue;
          FeatureIndex const f = copy.feature(column);
          if (f >> tile_bits != loaded) own.Load(loaded = f >> tile_bits, row);
          words[w] |= own.At<Symbol>(f & ((1U << tile_bits) - 1)) << (s * 8 * sizeof(Symbol));
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
}

}  // namespace

void CopyColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                 DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits, cudaStream_t stream) {
  CopiedRows const rows = sample != nullptr ? CopiedRows{sample->rows, sample->state, sample->capacity} : CopiedRows{};
  auto const launch = [&](auto symbol) {
    using Symbol = decltype(symbol);
    auto const with = [&](auto* kernel) {
      unsigned const blocks = Blocks(sample != nullptr ? sample->capacity : page.rows, kThreads, limits, kResident);
      LaunchNext("copying columns", kernel, blocks, kThreads, 0, limits, stream, page, first_row, rows, copy, records);
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
