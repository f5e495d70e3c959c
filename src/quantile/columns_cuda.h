/// Raw data on its way through the device: uploaded as dense rows, kept as columns of sort keys. CUDA builds only.
#ifndef XGBGPU_QUANTILE_COLUMNS_CUDA_H_
#define XGBGPU_QUANTILE_COLUMNS_CUDA_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/device.h"
#include "core/piece_stream.h"
#include "quantile/pack.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// The device, threads and memory that a dataset is built with.
struct BuildOptions {
  int device;
  int threads;
  /// Device memory for raw data and scratch; 0: as the policy says. Columns that do not fit are read in turn, in
  /// several passes over the source. At least one column is always held.
  std::size_t memory_bytes{0};
};

/// Returns memory_bytes, or what quantile_policy.h gives to data of this size on the current device.
std::size_t MemoryBudget(BuildOptions const& options, RowSource const& source);

/// Columns of sort keys (quantile_ops.h); kNoKey where a value is missing.
struct KeyColumns {
  ColumnRange range;
  std::uint64_t rows;
  DeviceBuffer<std::uint32_t> keys;    ///< [range.size(), rows]
  std::vector<std::uint64_t> present;  ///< [range.size()] values that are not missing
};

/// A piece holds one row at least. Calls use(piece, first_row, n) for piece after piece, with device memory that holds
/// rows first_row … first_row + n - 1 of the columns, [n, range.size()], NaN where a value is missing. What `use`
/// enqueues on the stream runs before the next piece arrives.
using UseRows = std::function<void(float const* piece, std::uint64_t first_row, std::uint64_t n)>;
void UploadRows(RowSource const& source, ColumnRange const& range, DeviceArena* arena, PieceStream* pieces, int threads,
                UseRows const& use);

/// Turns row-major floats into columns of keys: keys[c · stride + r]. missing[c], unless null, grows by the number of
/// NaNs.
void TransposeToKeys(float const* rows, std::uint64_t n, FeatureIndex columns, std::uint32_t* keys,
                     std::uint64_t stride, unsigned long long* missing, cudaStream_t stream);

/// Reads the source once, and waits. Memory: 4 bytes a row and column, and a piece.
KeyColumns GatherColumns(RowSource const& source, ColumnRange const& range, DeviceArena* arena, PieceStream* pieces,
                         int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_COLUMNS_CUDA_H_
