/// Shared code of kernels that copy columns.
#ifndef XGBGPU_SAMPLE_COLUMN_COPY_CUDA_CUH_
#define XGBGPU_SAMPLE_COLUMN_COPY_CUDA_CUH_

#include <type_traits>

#include "sample/column_copy_cuda.h"

namespace xgbgpu::cuda {

/// The rows of a copy: a sample's, or all rows of a page.
struct CopiedRows {
  RowRecord const* listed;  ///< nullptr: all
  SampleState const* state;
  std::uint32_t capacity;

  static CopiedRows Of(SampleView const* sample) {
    return sample != nullptr ? CopiedRows{sample->rows, sample->state, sample->capacity} : CopiedRows{};
  }
  __device__ std::uint64_t Count(DeviceMatrixView const& page) const {
    return listed == nullptr ? page.rows : min(state->rows, capacity);
  }
};

constexpr int kMostPieceWords = 4;  ///< 16 bytes

/// A piece of a record of the copy that one access writes: all of it, or half.
template <int kWords>
struct RecordPieces {
  static constexpr int kPieceWords = kWords < kMostPieceWords ? kWords : kMostPieceWords;
  static constexpr int kPieces = kWords / kPieceWords;
  using Piece = std::conditional_t<kPieceWords == 4, uint4, std::conditional_t<kPieceWords == 2, uint2, std::uint32_t>>;

  /// Writes piece `p` of the record of row `to` in a tile of the copy. words [kPieceWords]: the piece.
  __device__ static void Write(DeviceMatrixView const& copy, std::uint8_t* records, std::uint32_t tile,
                               std::uint64_t to, std::uint32_t p, std::uint32_t const* words) {
    Piece piece;
    memcpy(&piece, words, sizeof(piece));
    reinterpret_cast<Piece*>(records + (tile * copy.rows + to) * copy.record_bytes())[p] = piece;
  }
};

/// Writes the record of row `to` in a tile of the copy. words [kWords]: the record.
template <int kWords>
__device__ void WriteRecord(DeviceMatrixView const& copy, std::uint8_t* records, std::uint32_t tile, std::uint64_t to,
                            std::uint32_t const* words) {
  using Pieces = RecordPieces<kWords>;
#pragma unroll
  for (std::uint32_t p = 0; p < Pieces::kPieces; ++p) {
    Pieces::Write(copy, records, tile, to, p, words + p * Pieces::kPieceWords);
  }
}

/// Calls with(symbol, words) for the copy's type of symbols and the words of its records, as constants.
template <typename With>
void WithRecord(DeviceMatrixView const& copy, With&& with) {
  auto const of_symbol = [&](auto symbol) {
    switch (copy.record_bytes()) {
      case 32:
        return with(symbol, std::integral_constant<int, 8>{});
      case 16:
        return with(symbol, std::integral_constant<int, 4>{});
      case 8:
        return with(symbol, std::integral_constant<int, 2>{});
      default:
        return with(symbol, std::integral_constant<int, 1>{});
    }
  };
  copy.symbol_bytes == 1 ? of_symbol(std::uint8_t{}) : of_symbol(std::uint16_t{});
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_COLUMN_COPY_CUDA_CUH_
