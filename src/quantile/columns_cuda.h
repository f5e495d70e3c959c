/// Uploads raw data to the device as dense rows, and keeps them there as columns of sort keys. CUDA builds only.
#ifndef XGBGPU_QUANTILE_COLUMNS_CUDA_H_
#define XGBGPU_QUANTILE_COLUMNS_CUDA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/array_upload.h"
#include "cuda/device.h"
#include "cuda/piece_stream.h"
#include "quantile/pack.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// The device, threads and memory that a dataset is built with.
struct BuildOptions {
  int device;
  int threads;
  /// Device memory for raw data and scratch; 0: as the policy says. If not all columns fit, groups of columns are read
  /// one after the other, each in a pass over the source. A group has at least one column.
  std::size_t memory_bytes{0};
  int sharers{1};  ///< builds that go on at the same time on this device and share what is free, this one included
};

/// Returns memory_bytes, or this build's share of what quantile_policy.h gives on the current device.
std::size_t MemoryBudget(BuildOptions const& options);

/// Columns of sort keys (quantile_ops.h); kNoKey where a value is missing.
struct KeyColumns {
  ColumnRange range;
  std::uint64_t rows;
  DeviceBuffer<std::uint32_t> keys;    ///< [range.size(), rows]
  std::vector<std::uint64_t> present;  ///< [range.size()] values that are not missing
};

/// Brings the rows of a source to the current device, pass after pass. Rows of arrays come as they are
/// (cuda/array_upload.h), one array after the other. Others come as floats that host threads pack from entries, NaN
/// where a value is missing.
class RowUpload {
 public:
  /// The source must outlive it. `threads` is the most threads of the host that work at a time.
  RowUpload(RowSource const& source, int threads);

  RowSource const& source() const { return source_; }
  /// Returns how many pieces are worked on at a time in a pass over so many columns. Rings are numbered from 0.
  std::size_t rings(FeatureIndex columns) const { return arrays_ ? arrays_->rings(columns) : 1; }
  /// Returns how many rows a piece of so many columns has at most. It is one or more.
  std::uint64_t most_rows(FeatureIndex columns) const;
  /// Returns the bytes of device memory that a pass over so many columns takes.
  std::size_t device_bytes(FeatureIndex columns) const;

  /// Makes one pass over the columns, and waits. ArrayUpload::Run says how `use` is called.
  /// Throws  InvalidArgument (PackRows), OutOfDeviceMemory, DeviceError
  void Run(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use);

 private:
  void RunEntries(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use);

  RowSource const& source_;
  int threads_;
  std::optional<ArrayUpload> arrays_;
  std::optional<PieceStream> pieces_;
};

/// Turns rows into columns of keys: keys[c · stride + r], c < columns, r < rows.n. Unless `missing` is null, missing[c]
/// grows by the number of missing values.
void TransposeToKeys(ArrayPiece const& rows, FeatureIndex columns, std::uint32_t* keys, std::uint64_t stride,
                     unsigned long long* missing, cudaStream_t stream);

/// Reads the source once, and waits. Memory: 4 bytes a row and column, and upload->device_bytes().
KeyColumns GatherColumns(ColumnRange const& range, DeviceArena* arena, RowUpload* upload);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_COLUMNS_CUDA_H_
