/// Uploads raw data to a device as dense rows, and keeps them there as columns of sort keys. CUDA builds only.
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

/// The device, threads and memory of a dataset's construction.
struct BuildOptions {
  int device;
  int threads;
  /// Device memory for raw data and scratch; 0: as the policy says. If not all columns fit, groups of at least one
  /// column are read one after the other, each in a pass over the source.
  std::size_t memory_bytes{0};
  int sharers{1};  ///< builds at the same time on this device that share its free memory, this one included
};

/// Returns memory_bytes, or this build's share of the policy's memory (quantile_policy.h) on the current device.
std::size_t MemoryBudget(BuildOptions const& options);

/// Columns of sort keys (quantile_ops.h), with kNoKey for missing values.
struct KeyColumns {
  ColumnRange range;
  std::uint64_t rows;
  DeviceBuffer<std::uint32_t> keys;    ///< [range.size(), rows]
  std::vector<std::uint64_t> present;  ///< [range.size()] number of values that are not missing
};

/// Uploads the rows of a source to the current device, pass after pass. Arrays are copied unchanged
/// (cuda/array_upload.h), one after the other. Batches are packed by host threads into floats, with NaN for missing
/// values.
class RowUpload {
 public:
  /// The source must outlive this object. `threads` is the most host threads at a time.
  RowUpload(RowSource const& source, int threads);

  RowSource const& source() const { return source_; }
  /// Returns the number of pieces in flight in a pass over `columns` columns. Rings are numbered from 0.
  std::size_t rings(FeatureIndex columns) const { return arrays_ ? arrays_->rings(columns) : 1; }
  /// Returns the most rows of a piece of `columns` columns, one or more.
  std::uint64_t most_rows(FeatureIndex columns) const;
  /// Returns the bytes of device memory of a pass over `columns` columns.
  std::size_t device_bytes(FeatureIndex columns) const;

  /// Makes one pass over the columns, and waits. ArrayUpload::Run describes the calls of `use`.
  /// Throws  InvalidArgument (PackRows), OutOfDeviceMemory, DeviceError
  void Run(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use);

 private:
  void RunEntries(ColumnRange const& range, DeviceArena* arena, ArrayUpload::Use const& use);

  RowSource const& source_;
  int threads_;
  std::optional<ArrayUpload> arrays_;
  std::optional<PieceStream> pieces_;
};

/// Transposes rows to columns of keys: keys[c · stride + r], c < columns, r < rows.n. Adds the number of missing values
/// to missing[c], unless `missing` is null.
void TransposeToKeys(ArrayPiece const& rows, FeatureIndex columns, std::uint32_t* keys, std::uint64_t stride,
                     unsigned long long* missing, cudaStream_t stream);

/// Reads the source once, and waits. Memory: 4 bytes a row and column, and upload->device_bytes().
KeyColumns GatherColumns(ColumnRange const& range, DeviceArena* arena, RowUpload* upload);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_COLUMNS_CUDA_H_
