// Copies columns of a dense matrix side by side on a device.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "matrix/record_pieces.cuh"
#include "sample/column_copy_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int kResident = 6;

constexpr std::uint32_t kRecordWords = 8;  ///< of the largest record

/// The columns of one tile of a copy, and where a thread finds their symbols in its words.
///
/// A thread loads the records of its row in kTiles tiles of the page together: a batch. The tiles of a batch need not
/// be neighbours.
struct TilePlan {
  static constexpr std::uint32_t kTiles = 4, kColumns = 4 * kRecordWords;

  std::uint32_t tiles;                ///< of the page that have a column
  std::uint32_t tile[kColumns];       ///< their numbers
  std::uint32_t first[kColumns + 1];  ///< the first column of each, and the end of the last one's
  std::uint32_t offset[kColumns];     ///< bytes from the thread's first word to the column's symbol

  /// One warp calls it: a lane takes a column. `columns`: of the tile.
  __device__ void Make(DeviceMatrixView const& page, DeviceMatrixView const& copy, std::uint32_t first_column,
                       std::uint32_t columns) {
    std::uint32_t const c = threadIdx.x;
    bool const in = c < columns;
    FeatureIndex const f = copy.feature(first_column + min(c, columns - 1));
    std::uint32_t const of_page = f / page.tile_columns;
    std::uint32_t const before = __shfl_up_sync(kAllLanes, of_page, 1);
    std::uint32_t const firsts = __ballot_sync(kAllLanes, in && (c == 0 || of_page != before));
    std::uint32_t const number = static_cast<std::uint32_t>(__popc(firsts & (2U << c) - 1)) - 1;
    if ((firsts >> c & 1) != 0) {
      tile[number] = of_page;
      first[number] = c;
    }
    std::uint32_t const byte = f % page.tile_columns * page.symbol_bytes;
    offset[c] = (number % kTiles * kRecordWords + byte / 4) * kThreads * 4 + byte % 4;
    if (c == 0) {
      tiles = static_cast<std::uint32_t>(__popc(firsts));
      first[tiles] = columns;
    }
  }
};

/// Loads the records of a row in the tiles of a batch to a thread's words, which are kThreads words apart. All loads
/// are in flight before the first is stored.
__device__ void LoadBatch(DeviceMatrixView const& page, TilePlan const& plan, std::uint32_t batch, std::uint64_t row,
                          std::uint32_t* words) {
  std::uint32_t const bytes = page.record_bytes();
  WithPiece(bytes, [&](auto type) {
    using Piece = decltype(type);
    constexpr int kWords = sizeof(Piece) / 4, kPieces = kWords < 4 ? 1 : 2;
    Piece pieces[TilePlan::kTiles][kPieces];
    auto const for_all = [&](auto&& f) {
#pragma unroll
      for (std::uint32_t t = 0; t < TilePlan::kTiles; ++t) {
#pragma unroll
        for (int p = 0; p < kPieces; ++p) {
          if (batch + t < plan.tiles && p * sizeof(Piece) < bytes) f(t, p);
        }
      }
    };
    for_all([&](std::uint32_t t, int p) {
      std::uint8_t const* const from = page.records + (plan.tile[batch + t] * page.rows + row) * bytes;
      pieces[t][p] = reinterpret_cast<Piece const*>(from)[p];
    });
    for_all([&](std::uint32_t t, int p) {
      std::uint32_t own[kWords];
      memcpy(own, &pieces[t][p], sizeof(Piece));
#pragma unroll
      for (int w = 0; w < kWords; ++w) words[(t * kRecordWords + p * kWords + w) * kThreads] = own[w];
    });
  });
}

/// Every block has one tile of the copy. A thread makes the record of a row.
template <typename Symbol, int kWords>
__global__ void __launch_bounds__(kThreads)
    CopyColumnsKernel(DeviceMatrixView page, std::uint64_t first_row, CopiedRows rows, DeviceMatrixView copy,
                      std::uint8_t* records) {
  constexpr std::uint32_t kOfWord = 4 / sizeof(Symbol), kColumns = kWords * kOfWord;
  __shared__ TilePlan plan;
  __shared__ std::uint32_t words_of_rows[TilePlan::kTiles * kRecordWords * kThreads];
  WaitForKernelBefore();
  std::uint32_t const blocks_of_tile = gridDim.x / copy.tiles, tile = blockIdx.x / blocks_of_tile;
  if (threadIdx.x < 32) plan.Make(page, copy, tile * kColumns, min(kColumns, copy.columns() - tile * kColumns));
  __syncthreads();
  std::uint32_t* const own = words_of_rows + threadIdx.x;
  auto const* const symbols = reinterpret_cast<std::uint8_t const*>(own);
  std::uint64_t const n = rows.Count(page), step = std::uint64_t{blocks_of_tile} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x % blocks_of_tile} * kThreads + threadIdx.x; i < n; i += step) {
    std::uint64_t row = i, to = first_row + i;
    if (rows.listed != nullptr) {
      row = std::uint64_t{rows.listed[i].row} - first_row;
      if (row >= page.rows) continue;
      to = i;
    }
    std::uint32_t words[kWords]{};
    for (std::uint32_t batch = 0; batch < plan.tiles; batch += TilePlan::kTiles) {
      LoadBatch(page, plan, batch, row, own);
      std::uint32_t const begin = plan.first[batch], end = plan.first[min(batch + TilePlan::kTiles, plan.tiles)];
#pragma unroll
      for (std::uint32_t c = 0; c < kColumns; ++c) {
        if (c < begin || c >= end) continue;
        std::uint32_t const symbol = *reinterpret_cast<Symbol const*>(symbols + plan.offset[c]);
        words[c / kOfWord] |= symbol << (c % kOfWord * 8 * sizeof(Symbol));
      }
    }
    WriteRecord<kWords>(copy, records, tile, to, words);
  }
}

}  // namespace

void CopyColumns(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const* sample,
                 DeviceMatrixView const& copy, std::uint8_t* records, DeviceLimits const& limits, cudaStream_t stream) {
  CopiedRows const rows = CopiedRows::Of(sample);
  std::uint64_t const most = sample != nullptr ? sample->capacity : page.rows;
  WithRecord(copy, [&](auto symbol, auto words) {
    auto* const kernel = CopyColumnsKernel<decltype(symbol), decltype(words)::value>;
    // Each tile has the same number of blocks.
    unsigned const blocks = Blocks(copy.tiles * ((most + kThreads - 1) / kThreads), 1, limits, kResident);
    LaunchNext("copying columns", kernel, std::max(1U, blocks / copy.tiles) * copy.tiles, kThreads, 0, limits, stream,
               page, first_row, rows, copy, records);
  });
}

}  // namespace xgbgpu::cuda
