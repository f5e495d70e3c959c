/// Brings arrays to kernels in their own type, piece after piece, through pinned memory that several threads fill.
#ifndef XGBGPU_CUDA_ARRAY_UPLOAD_H_
#define XGBGPU_CUDA_ARRAY_UPLOAD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cuda/device.h"
#include "cuda/piece_stream.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Some rows of an array, or of some of its columns, where kernels of the current device can read them.
struct ArrayPiece {
  DenseValues values;    ///< data: the first wanted column of row first_row
  std::uint64_t stride;  ///< values from one row to the next
  std::uint64_t first_row;
  std::uint64_t n;  ///< rows
};

/// Reads arrays of one source, as often as needed, on the current device.
///
/// An array of the host goes through *rings*. A ring is a few pinned buffers, used in turn, and a stream; one thread
/// fills it. One thread copies at a seventh of the link's speed and eight at three quarters of it, so there are up to
/// eight rings, but never more than pieces. Rings stay from one pass to the next, because pinning memory takes
/// milliseconds. Kernels read an array of the current device where it is. The devices copy an array of another device,
/// piece by piece. All writes to an array on a device must have finished before.
class ArrayUpload {
 public:
  /// `values` is RowSource::arrays(): their type and device. No array has more than `rows` rows. `threads` is the most
  /// threads of the host that work at a time.
  ArrayUpload(DenseValues const& values, std::uint64_t rows, FeatureIndex features, int threads);

  /// use(piece, ring, stream) enqueues on `stream` the work on a piece. Several threads call it at a time, each with a
  /// ring of its own, and pieces come in any order. The next call with the same ring may get the same memory.
  using Use = std::function<void(ArrayPiece const& piece, std::size_t ring, cudaStream_t stream)>;

  /// Returns the number of rings of a pass over `columns` columns.
  std::size_t rings(FeatureIndex columns) const;
  /// Returns the most rows of a piece of `columns` columns, one or more.
  std::uint64_t most_rows(FeatureIndex columns) const;
  /// Returns the bytes of device memory that a pass over `columns` columns takes.
  std::size_t device_bytes(FeatureIndex columns) const;

  /// Makes one pass over columns first … last - 1 of an array. Waits until all that was enqueued is done. Pieces have
  /// the numbers that rows have in the whole matrix.
  ///
  /// Cost    every wanted value crosses the link once
  /// Throws  OutOfDeviceMemory, DeviceError, and errors of `use`
  void Run(ArrayBatch const& array, FeatureIndex first, FeatureIndex last, DeviceArena* arena, Use const& use);

 private:
  bool on_host() const { return values_.device == kHostMemory; }
  bool here() const { return values_.device == device_; }
  /// Returns the bytes of a row of a piece. Rows that come from the host leave the other columns out.
  std::size_t row_bytes(FeatureIndex columns) const;
  std::uint64_t pieces(FeatureIndex columns, std::uint64_t rows) const;
  std::size_t buffer_bytes(FeatureIndex columns) const;
  /// Copies the columns of the piece, of which `first` is the first, to `to`, in device memory.
  ArrayPiece Bring(ArrayPiece const& piece, FeatureIndex first, FeatureIndex columns, std::uint8_t* to,
                   PieceStream* ring) const;

  DenseValues values_;  ///< common facts of all arrays
  std::uint64_t rows_;
  FeatureIndex features_;
  int threads_;
  int device_{0};  ///< the current one
  std::vector<std::unique_ptr<PieceStream>> rings_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_ARRAY_UPLOAD_H_
