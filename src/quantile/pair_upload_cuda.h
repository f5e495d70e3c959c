/// Uploads the entries of a source to a device as (column, key) pairs. CUDA builds only.
#ifndef XGBGPU_QUANTILE_PAIR_UPLOAD_CUDA_H_
#define XGBGPU_QUANTILE_PAIR_UPLOAD_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "cuda/piece_stream.h"
#include "quantile/pack.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// Pairs of one piece in pinned memory, from PackPairs.
struct PairPiece {
  std::uint64_t const* keys;
  float const* weights;  ///< [n], or nullptr
  std::size_t n;
};

/// Reads the source any number of times. Host threads pack one piece during the copy of the piece before.
class PairUpload {
 public:
  /// weights: [rows of the source], or empty. Source and weights must outlive this object.
  PairUpload(RowSource const& source, Span<float const> weights, int threads);

  /// Returns the most pairs of a piece.
  std::size_t most_pairs() const { return pieces_.bytes() / (sizeof(std::uint64_t) + sizeof(float)); }
  cudaStream_t stream() const { return pieces_.stream(); }

  /// Makes one pass, and waits. use(piece) enqueues on stream() everything that reads the piece. Returns the number of
  /// pairs.
  /// Throws  InvalidArgument (PackPairs), DeviceError, and the exceptions of `use`
  std::uint64_t Run(ColumnRange const& range, std::function<void(PairPiece const&)> const& use);

 private:
  RowSource const& source_;
  Span<float const> weights_;
  int threads_;
  PieceStream pieces_;
};

/// Enqueues the copy of a piece to device memory. `weights` may be nullptr if the piece has no weights.
void CopyPairs(PairPiece const& piece, std::uint64_t* keys, float* weights, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_PAIR_UPLOAD_CUDA_H_
