/// Pinned memory of the host that is lent again and again. CUDA builds only.
#ifndef XGBGPU_CUDA_PINNED_PIECES_H_
#define XGBGPU_CUDA_PINNED_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace xgbgpu {

/// Memory that devices copy from and to at full speed. A piece that is given back stays with the process, the newest 64
/// MiB of it, and is lent to the next who wants about as much: to pin a MiB takes .7 ms, and to unpin it .5 ms.
///
/// Nothing may be on its way to or from a piece when it ends.
class PinnedPiece {
 public:
  PinnedPiece() = default;
  /// Memory of undefined contents, of `bytes` bytes or more. Throws DeviceError if there is none.
  explicit PinnedPiece(std::size_t bytes);
  ~PinnedPiece();
  PinnedPiece(PinnedPiece&& other) noexcept { Swap(other); }
  PinnedPiece& operator=(PinnedPiece&& other) noexcept {
    Swap(other);
    return *this;
  }

  std::uint8_t* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }  ///< 0: it has no memory

 private:
  void Swap(PinnedPiece& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::uint8_t* data_{nullptr};
  std::size_t bytes_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_PINNED_PIECES_H_
