// Copies columns of a dense matrix whose tiles have columns from all over the matrix.
#include <algorithm>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "matrix/record_pieces.cuh"
#include "sample/column_copy_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int kMostResident = 12;

constexpr std::uint32_t kRows = 32;  ///< whose records a block stages together
constexpr std::uint32_t kThreadsOfRow = kThreads / kRows;
constexpr std::uint32_t kRecordWords = 8;  ///< of the largest record
constexpr std::uint32_t kMostStaged = 32;  ///< tiles of a page, so that a tile of a copy always finds its columns
constexpr std::uint32_t kMostColumns = kMostStaged * 4 * kRecordWords;

/// Neighbouring tiles of a copy whose columns are in few tiles of the page, which are staged together.
struct StagePlan {
  std::uint32_t first, end;         ///< tiles of the copy
  std::uint32_t staged;             ///< number of tiles of the page
  std::uint32_t tile[kMostStaged];  ///< their numbers
  alignas(16)
      std::uint32_t offset[kMostColumns];  ///< [columns] bytes from a row's first staged word to the column's symbol

  /// Takes as many tiles from `from` on as fit with at most `room` staged tiles. One warp calls it: a lane takes a
  /// column of a tile, and a staged tile.
  __device__ void Make(DeviceMatrixView const& page, DeviceMatrixView const& copy, std::uint32_t from,
                       std::uint32_t room) {
    std::uint32_t const lane = threadIdx.x;
    std::uint32_t count = 0, held = 0, t = from;  // held: this lane's staged tile, if it is below the count
    for (; t < copy.tiles; ++t) {
      std::uint32_t const begin = t * copy.tile_columns, columns = min(copy.tile_columns, copy.columns() - begin);
      FeatureIndex const f = copy.feature(begin + min(lane, columns - 1));
      std::uint32_t const of_page = f / page.tile_columns;
      std::uint32_t const before = __shfl_up_sync(kAllLanes, of_page, 1);
      std::uint32_t firsts = __ballot_sync(kAllLanes, lane < columns && (lane == 0 || of_page != before));
      std::uint32_t with_these = count, place = 0;
      for (; firsts != 0; firsts &= firsts - 1) {
        std::uint32_t const wanted = __shfl_sync(kAllLanes, of_page, __ffs(static_cast<int>(firsts)) - 1);
        std::uint32_t const there = __ballot_sync(kAllLanes, lane < with_these && held == wanted);
        if (there == 0 && with_these == room) break;
        if (there == 0 && lane == with_these) held = wanted;
        std::uint32_t const at =
            there != 0 ? static_cast<std::uint32_t>(__ffs(static_cast<int>(there))) - 1 : with_these++;
        if (of_page == wanted) place = at;
      }
      if (firsts != 0) break;
      count = with_these;
      std::uint32_t const byte = f % page.tile_columns * page.symbol_bytes;
      if (lane < copy.tile_columns) {
        offset[(t - from) * copy.tile_columns + lane] = (place * kRecordWords + byte / 4) * kRows * 4 + byte % 4;
      }
    }
    if (lane < count) tile[lane] = held;
    if (lane == 0) {
      first = from;
      end = t;
      staged = count;
    }
  }
};

/// Stages this thread's part of the tiles of a row in its words, which are kRows words apart. Loads of several tiles
/// are in flight before the first is stored.
__device__ void StageRow(DeviceMatrixView const& page, StagePlan const& plan, std::uint64_t row, std::uint32_t* words) {
  constexpr std::uint32_t kBatch = 4;  // tiles
  std::uint32_t const bytes = page.record_bytes(), part = threadIdx.x / kRows;
  WithPiece(bytes, [&](auto type) {
    using Piece = decltype(type);
    constexpr int kWords = sizeof(Piece) / 4, kPieces = kWords < 4 ? 1 : 2;
    for (std::uint32_t begin = part; begin < plan.staged; begin += kBatch * kThreadsOfRow) {
      Piece pieces[kBatch][kPieces];
      auto const for_all = [&](auto&& f) {
#pragma unroll
        for (std::uint32_t b = 0; b < kBatch; ++b) {
          std::uint32_t const place = begin + b * kThreadsOfRow;
#pragma unroll
          for (int p = 0; p < kPieces; ++p) {
            if (place < plan.staged && p * sizeof(Piece) < bytes) f(place, b, p);
          }
        }
      };
      for_all([&](std::uint32_t place, std::uint32_t b, int p) {
        std::uint8_t const* const from = page.records + (plan.tile[place] * page.rows + row) * bytes;
        pieces[b][p] = reinterpret_cast<Piece const*>(from)[p];
      });
      for_all([&](std::uint32_t place, std::uint32_t b, int p) {
        std::uint32_t own[kWords];
        memcpy(own, &pieces[b][p], sizeof(Piece));
#pragma unroll
        for (int w = 0; w < kWords; ++w) words[(place * kRecordWords + p * kWords + w) * kRows] = own[w];
      });
    }
  });
}

/// Gathers neighbouring words of a record of the copy. offset [symbols of the words]: where they are staged. Columns
/// beyond the last one get any symbol.
template <typename Symbol, int kWords>
__device__ void Gather(std::uint8_t const* staged, std::uint32_t const* offset, std::uint32_t (&words)[kWords]) {
  constexpr int kOfWord = 4 / sizeof(Symbol);
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    std::uint32_t word = 0;
#pragma unroll
    for (int s = 0; s < kOfWord; ++s) {
      std::uint32_t const symbol = *reinterpret_cast<Symbol const*>(staged + offset[w * kOfWord + s]);
      word |= symbol << (s * 8 * sizeof(Symbol));
    }
    words[w] = word;
  }
}

/// A block reads all that it needs of its rows once. A thread makes pieces of the records of a row.
template <typename Symbol, int kWords>
__global__ void __launch_bounds__(kThreads)
    CopyColumnsKernel(DeviceMatrixView page, std::uint64_t first_row, CopiedRows rows, DeviceMatrixView copy,
                      std::uint8_t* records, std::uint32_t room) {
  using Pieces = RecordPieces<kWords>;
  constexpr std::uint32_t kColumns = Pieces::kPieceWords * 4 / sizeof(Symbol);  // of a piece
  extern __shared__ std::uint32_t words_of_rows[];
  __shared__ StagePlan plan;
  WaitForKernelBefore();
  std::uint32_t* const own = words_of_rows + threadIdx.x % kRows;
  auto const* const symbols = reinterpret_cast<std::uint8_t const*>(own);
  std::uint64_t const n = rows.Count(page), step = std::uint64_t{gridDim.x} * kRows;
  for (std::uint32_t from = 0; from < copy.tiles; from = plan.end) {
    __syncthreads();  // the plan before is not in use any more
    if (threadIdx.x < 32) plan.Make(page, copy, from, room);
    __syncthreads();
    for (std::uint64_t begin = std::uint64_t{blockIdx.x} * kRows; begin < n; begin += step) {
      std::uint64_t const i = begin + threadIdx.x % kRows;
      std::uint64_t row = i, to = first_row + i;
      bool in = i < n;
      if (in && rows.listed != nullptr) {
        row = std::uint64_t{rows.listed[i].row} - first_row;
        in = row < page.rows;
        to = i;
      }
      if (in) StageRow(page, plan, row, own);
      __syncthreads();
      std::uint32_t const pieces = (plan.end - plan.first) * Pieces::kPieces;
      for (std::uint32_t p = threadIdx.x / kRows; in && p < pieces; p += kThreadsOfRow) {
        std::uint32_t words[Pieces::kPieceWords];
        Gather<Symbol>(symbols, plan.offset + p * kColumns, words);
        Pieces::Write(copy, records, plan.first + p / Pieces::kPieces, to, p % Pieces::kPieces, words);
      }
      __syncthreads();  // the next rows take the same words
    }
  }
}

}  // namespace

void CopyScatteredColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                          DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits,
                          cudaStream_t stream) {
  CopiedRows const rows = CopiedRows::Of(sample);
  std::uint64_t const most = sample != nullptr ? sample->capacity : page.rows;
  std::uint32_t const room = std::min(page.tiles, kMostStaged);
  std::size_t const bytes = std::size_t{room} * kRecordWords * kRows * 4;
  std::size_t const of_block = bytes + sizeof(StagePlan) + kBlockOverhead;
  auto const resident = static_cast<int>(std::min<std::size_t>(kMostResident, limits.processor_bytes / of_block));
  WithRecord(copy, [&](auto symbol, auto words) {
    auto* const kernel = CopyColumnsKernel<decltype(symbol), decltype(words)::value>;
    LaunchNext("copying columns", kernel, Blocks(most, kRows, limits, std::max(1, resident)), kThreads, bytes, limits,
               stream, page, first_row, rows, copy, records, room);
  });
}

}  // namespace xgbgpu::cuda
