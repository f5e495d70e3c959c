/// Sends long data to the device in pieces: the host writes a piece while the previous piece is copied and processed.
#ifndef XGBGPU_CUDA_PIECE_STREAM_H_
#define XGBGPU_CUDA_PIECE_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "cuda/device.h"
#include "cuda/pinned_pieces.h"

namespace xgbgpu {

/// Bytes of a piece. It is long enough: waking the host's threads takes little time beside the work. It is short
/// enough: it stays in the host's cache between packing and copying, and pinning it takes few milliseconds.
constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

/// Has a few pinned buffers, which are used in turn, and a stream of the current device.
class PieceStream {
 public:
  /// Every buffer has `bytes` bytes. Each is made when it is first opened: short data need one only.
  explicit PieceStream(std::size_t bytes = kPieceBytes) : own_{std::in_place}, stream_{*own_}, bytes_{bytes} {}
  /// Copies on a stream of the caller's, which outlives this.
  PieceStream(std::size_t bytes, cudaStream_t stream) : stream_{stream}, bytes_{bytes} {}
  ~PieceStream();
  PieceStream(PieceStream const&) = delete;
  PieceStream& operator=(PieceStream const&) = delete;

  /// Returns the next buffer, after earlier copies from it have arrived.
  template <typename T>
  T* Open() {
    return reinterpret_cast<T*>(OpenBytes());
  }
  /// Call it after the last copy out of the open buffer was enqueued.
  void Close();

  std::size_t bytes() const { return bytes_; }
  cudaStream_t stream() const { return stream_; }
  void Wait(char const* what) const { CheckCuda(cudaStreamSynchronize(stream_), what); }

 private:
  struct Slot {
    PinnedPiece buffer;
    Event copied;  ///< the last copies out of it are over
  };
  std::uint8_t* OpenBytes();

  std::optional<Stream> own_;
  cudaStream_t stream_;
  std::size_t bytes_;
  std::array<Slot, 3> slots_;
  std::size_t open_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_PIECE_STREAM_H_
