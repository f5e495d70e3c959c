// Makes lists of a sparse matrix by columns on a device, and records of some columns from the lists.
#include <cub/device/device_scan.cuh>

#include "core/search.h"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "sample/column_copy_cuda.cuh"
#include "sample/column_lists_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kPart = "copied columns";
constexpr char const* kWhat = "listing values by columns";

/// Calls visit(cell) for the values of a row.
template <typename Visit>
__device__ void ForEachCellOf(DeviceMatrixView const& m, std::uint64_t row, Visit&& visit) {
  if (!m.sparse_in_tiles()) {
    for (std::uint64_t i = m.row_ptr[row]; i < m.row_ptr[row + 1]; ++i) visit(m.row_cells[i]);
    return;
  }
  for (std::uint32_t t = 0; t < m.tiles; ++t) {
    std::uint32_t const* const place = m.tile_ptr + t * m.rows + row;
    auto const first_cell = static_cast<BinIndex>(m.tile[t].first_cell);
    for (std::uint32_t i = place[0]; i < place[1]; ++i) visit(first_cell + m.tile_cells[i]);
  }
}

/// Without values: adds the length of each list to `places`. With values: `places` are those of the next values.
template <bool kWithValues>
__global__ void __launch_bounds__(kThreads)
    ListValuesKernel(DeviceMatrixView m, std::uint32_t* places, ListedValue* values) {
  for (std::uint64_t row = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; row < m.rows;
       row += std::uint64_t{gridDim.x} * kThreads) {
    std::uint32_t* const of_chunk = places + row / kListRows * m.features;
    ForEachCellOf(m, row, [&](BinIndex cell) {
      FeatureIndex const f = RangeOf(m.features, cell, [&](FeatureIndex i) { return m.cut_ptr[i]; });
      std::uint32_t const at = atomicAdd(of_chunk + f, 1U);
      if constexpr (kWithValues) {
        values[at] = {static_cast<std::uint16_t>(row % kListRows), static_cast<std::uint16_t>(cell - m.cut_ptr[f])};
      }
    });
  }
}

/// Every block makes the records of a chunk in one tile of the copy.
template <typename Symbol, int kWords>
__global__ void __launch_bounds__(kThreads)
    CopyListsKernel(ColumnListsView lists, DeviceMatrixView copy, std::uint8_t* records) {
  constexpr std::uint32_t kOfWord = 4 / sizeof(Symbol), kColumns = kWords * kOfWord;
  constexpr std::uint32_t kWarps = kThreads / 32;
  __shared__ __align__(16) std::uint32_t words[kListRows * kWords];
  WaitForKernelBefore();
  std::uint32_t const tile = blockIdx.x % copy.tiles, chunk = blockIdx.x / copy.tiles;
  std::uint32_t const columns = min(kColumns, copy.columns() - tile * kColumns);
  auto* const symbols = reinterpret_cast<Symbol*>(words);
  std::uint32_t const own = threadIdx.x % kWords * kOfWord;  // the thread's word is the same in all its records
  std::uint32_t none = 0;
  for (std::uint32_t c = 0; c < kOfWord; ++c) {
    if (own + c < columns) none |= copy.tile->bins << (c * 8 * sizeof(Symbol));
  }
  static_assert(kThreads % kWords == 0);
  for (std::uint32_t i = threadIdx.x; i < kListRows * kWords; i += kThreads) words[i] = none;
  __syncthreads();
  for (std::uint32_t c = threadIdx.x / 32; c < columns; c += kWarps) {
    std::uint32_t const* const begin =
        lists.begin + std::uint64_t{chunk} * lists.features + copy.feature(tile * kColumns + c);
    for (std::uint32_t i = begin[0] + threadIdx.x % 32; i < begin[1]; i += 32) {
      ListedValue const value = lists.values[i];
      symbols[value.row * kColumns + c] = static_cast<Symbol>(value.bin);
    }
  }
  __syncthreads();
  std::uint64_t const first = std::uint64_t{chunk} * kListRows;
  auto const n = static_cast<std::uint32_t>(min(std::uint64_t{kListRows}, copy.rows - first));
  for (std::uint32_t r = threadIdx.x; r < n; r += kThreads) {
    WriteRecord<kWords>(copy, records, tile, first + r, words + r * kWords);
  }
}

}  // namespace

std::uint64_t ColumnLists::Lists() const {
  return (matrix_.view.rows + kListRows - 1) / kListRows * matrix_.view.features;
}

std::uint64_t ColumnLists::BytesToMake() const {
  if (begin_.size() != 0) return 0;
  return 2 * (Lists() + 1) * sizeof(std::uint32_t) + matrix_.stored * sizeof(ListedValue);
}

void ColumnLists::Make(Stream const& stream) {
  if (begin_.size() != 0) return;
  std::uint64_t const places = Lists() + 1;
  DeviceBuffer<std::uint32_t> begin{arena_, kPart, places};
  DeviceBuffer<ListedValue> values{arena_, kPart, matrix_.stored};
  DeviceBuffer<std::uint32_t> const next{arena_, kPart, places};
  std::size_t bytes = 0;
  auto const sum = [&](void* scratch) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, next.data(), begin.data(), places,
                                         static_cast<cudaStream_t>(stream));
  };
  CheckCuda(sum(nullptr), kWhat);
  DeviceBuffer<std::uint8_t> const scratch{arena_, kPart, bytes};
  unsigned const blocks = Blocks(matrix_.view.rows, kThreads, CurrentDeviceLimits(), kResident);
  FillBytes(next.data(), 0, places, stream, kWhat);
  ListValuesKernel<false><<<blocks, kThreads, 0, stream>>>(matrix_.view, next.data(), nullptr);
  CheckLaunch(kWhat);
  CheckCuda(sum(scratch.data()), kWhat);
  CheckCuda(
      cudaMemcpyAsync(next.data(), begin.data(), places * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream),
      kWhat);
  ListValuesKernel<true><<<blocks, kThreads, 0, stream>>>(matrix_.view, next.data(), values.data());
  CheckLaunch(kWhat);
  stream.Wait(kWhat);
  begin_ = std::move(begin);
  values_ = std::move(values);
}

void CopyLists(ColumnListsView const& lists, DeviceMatrixView const& copy, std::uint8_t* records,
               DeviceLimits const& limits, cudaStream_t stream) {
  auto const chunks = static_cast<unsigned>((copy.rows + kListRows - 1) / kListRows);
  WithRecord(copy, [&](auto symbol, auto words) {
    LaunchNext("copying columns", CopyListsKernel<decltype(symbol), decltype(words)::value>, chunks * copy.tiles,
               kThreads, 0, limits, stream, lists, copy, records);
  });
}

}  // namespace xgbgpu::cuda
