/// Raw data on its way through the device: uploaded as dense rows, kept as columns of sort keys. CUDA builds only.
#ifndef XGBGPU_QUANTILE_COLUMNS_CUDA_H_
#define XGBGPU_QUANTILE_COLUMNS_CUDA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/array_upload.h"
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

/// Returns memory_bytes, or what quantile_policy.h gives on the current device.
std::size_t MemoryBudget(BuildOptions const& options);

/// Columns of sort keys (quantile_ops.h); kNoKey where a value is missing.
struct KeyColumns {
  ColumnRange range;
  std::uint64_t rows;
  DeviceBuffer<std::uint32_t> keys;    ///< [range.size(), rows]
  std::vector<std::uint64_t> present;  ///< [range.size()] values that are not missing
};

/// The rows of a source on their way to the current device, pass after pass: those of an array as they are
/// (core/array_upload.h), others as floats that host threads pack from entries, NaN where a value is missing.
class RowUpload {
 public:
  /// The source outlives it. threads: of the host
  RowUpload(RowSource const& source, int threads);

  RowSource const& source() const { return source_; }
  /// Pieces that are worked on at a time, in a pass over so many columns. The ring of a piece is below it.
  std::size_t rings(FeatureIndex columns) const { return array_ ? array_->rings(columns) : 1; }
  /// Rows that a piece of so many columns has at most; one at least.
  std::uint64_t most_rows(FeatureIndex columns) const;
  /// Device memory that a pass over so many columns takes.
  std::size_t device_bytes(FeatureIndex columns) const;

  /// One pass: ArrayUpload::Run. It waits.
  /// Throws  InvalidArgument (PackRows), OutOfDeviceMemory, DeviceError
  void Run(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use);

 private:
  void RunEntries(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use);

  RowSource const& source_;
  int threads_;
  std::optional<ArrayUpload> array_;
  std::optional<PieceStream> pieces_;
};

/// Turns rows into columns of keys: keys[c · stride + r], c < columns, r < rows.n. missing[c], unless null, grows by
/// the number of missing values.
void TransposeToKeys(ArrayPiece const& rows, FeatureIndex columns, std::uint32_t* keys, std::uint64_t stride,
                     unsigned long long* missing, cudaStream_t stream);

/// Reads the source once, and waits. Memory: 4 bytes a row and column, and upload->device_bytes().
KeyColumns GatherColumns(ColumnRange const& range, DeviceArena* arena, RowUpload* upload);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_COLUMNS_CUDA_H_
