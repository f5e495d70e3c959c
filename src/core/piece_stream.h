/// Long data to the device in pieces: the host writes one piece while the one before is copied and worked on.
#ifndef XGBGPU_CORE_PIECE_STREAM_H_
#define XGBGPU_CORE_PIECE_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/device.h"

namespace xgbgpu {

/// Bytes of a piece: long enough that waking the host's threads for each is little beside the work; short enough that
/// the pieces stay in the host's cache between packing and copying and that pinning them takes few milliseconds.
constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

/// A few pinned buffers in turn, and a stream. Of the current device.
class PieceStream {
 public:
  /// Every buffer has `bytes` bytes. Each is made when it is first opened: short data need one only.
  explicit PieceStream(std::size_t bytes = kPieceBytes) : own_{std::in_place}, stream_{*own_}, bytes_{bytes} {}
  /// On a stream of the caller's, which outlives this.
  PieceStream(std::size_t bytes, cudaStream_t stream) : stream_{stream}, bytes_{bytes} {}
  ~PieceStream();
  PieceStream(PieceStream const&) = delete;
  PieceStream& operator=(PieceStream const&) = delete;

  /// The next buffer, when what was copied from it has arrived.
  template <typename T>
  T* Open() {
    return reinterpret_cast<T*>(OpenBytes());
  }
  /// After the last copy out of the open buffer was enqueued.
  void Close();

  std::size_t bytes() const { return bytes_; }
  cudaStream_t stream() const { return stream_; }
  void Wait(char const* what) const { CheckCuda(cudaStreamSynchronize(stream_), what); }

 private:
  struct Slot {
    PinnedBuffer<std::uint8_t> buffer;
    Event copied;  ///< what was in it last
  };
  std::uint8_t* OpenBytes();

  std::optional<Stream> own_;
  cudaStream_t stream_;
  std::size_t bytes_;
  std::array<Slot, 3> slots_;
  std::size_t open_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_PIECE_STREAM_H_
