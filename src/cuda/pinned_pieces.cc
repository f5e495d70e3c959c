// Keeps pinned memory that was given back, and lends it again.
#include "cuda/pinned_pieces.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "cuda/device.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20;
constexpr std::size_t kSmallestPiece = std::size_t{1} << 16;  ///< bytes of the smallest piece

/// Returns the size of the piece for `bytes` bytes, a power of two, so that one piece serves many; or `bytes`, if
/// nothing of that size is kept.
std::size_t SizeFor(std::size_t bytes) {
  if (bytes > kMostKept) return bytes;
  std::size_t size = kSmallestPiece;
  while (size < bytes) size *= 2;
  return size;
}

/// Free pieces in the order in which they were given back.
class KeptPieces {
 public:
  struct Piece {
    std::uint8_t* data;
    std::size_t bytes;
  };

  static KeptPieces& Instance() {
    static auto* const kPieces = new KeptPieces;  // never freed: at exit the runtime may be gone already
    return *kPieces;
  }

  /// Returns a piece of this size, or nullptr if there is none.
  std::uint8_t* Take(std::size_t bytes) {
    std::lock_guard<std::mutex> const lock{mutex_};
    auto const found =
        std::find_if(pieces_.rbegin(), pieces_.rend(), [&](Piece const& piece) { return piece.bytes == bytes; });
    if (found == pieces_.rend()) return nullptr;
    std::uint8_t* const data = found->data;
    bytes_ -= bytes;
    pieces_.erase(std::next(found).base());
    return data;
  }

  /// Keeps the piece, in place of older ones where there is no room for all; frees one that is larger than all room.
  void Give(Piece piece) {
    if (piece.bytes > kMostKept) {
      cudaFreeHost(piece.data);
      return;
    }
    {
      std::lock_guard<std::mutex> const lock{mutex_};
      pieces_.push_back(piece);
      bytes_ += piece.bytes;
    }
    while (std::uint8_t* const old = TakeOld()) cudaFreeHost(old);  // without the lock: it takes its time
  }

 private:
  /// Room for all that may be kept, and one for each of some threads that give at the same time: who gives has no
  /// memory to ask for.
  KeptPieces() { pieces_.reserve(kMostKept / kSmallestPiece + 1024); }

  /// Returns the oldest piece if there are too many, else nullptr.
  std::uint8_t* TakeOld() {
    std::lock_guard<std::mutex> const lock{mutex_};
    if (bytes_ <= kMostKept) return nullptr;
    Piece const old = pieces_.front();
    bytes_ -= old.bytes;
    pieces_.erase(pieces_.begin());
    return old.data;
  }

  std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::size_t bytes_{0};
};

}  // namespace

PinnedPiece::PinnedPiece(std::size_t bytes) {
  if (bytes == 0) return;
  bytes_ = SizeFor(bytes);
  data_ = KeptPieces::Instance().Take(bytes_);
  if (data_ == nullptr) data_ = static_cast<std::uint8_t*>(AllocatePinned(bytes_));
}

PinnedPiece::~PinnedPiece() {
  if (data_ != nullptr) KeptPieces::Instance().Give({data_, bytes_});
}

}  // namespace xgbgpu
