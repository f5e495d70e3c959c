#include "core/pinned_pieces.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/device.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20;

/// Pieces that nobody has.
class KeptPieces {
 public:
  static KeptPieces& Instance() {
    static auto* const kPieces = new KeptPieces;  // never freed: at exit the runtime may be gone already
    return *kPieces;
  }

  /// Returns the smallest piece of `bytes` bytes or more, and its size, or nullptr if there is none or it is so large
  /// that others may need it.
  std::pair<std::uint8_t*, std::size_t> Take(std::size_t bytes) {
    std::lock_guard<std::mutex> const lock{mutex_};
    auto const found = pieces_.lower_bound(bytes);
    if (found == pieces_.end() || found->first > 2 * bytes) return {nullptr, 0};
    auto const piece = std::make_pair(found->second, found->first);
    bytes_ -= piece.second;
    pieces_.erase(found);
    return piece;
  }

  /// Returns whether the piece is kept.
  bool Give(std::uint8_t* data, std::size_t bytes) {
    std::lock_guard<std::mutex> const lock{mutex_};
    if (bytes_ + bytes > kMostKept) return false;
    pieces_.emplace(bytes, data);
    bytes_ += bytes;
    return true;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, std::uint8_t*> pieces_;  ///< by bytes
  std::size_t bytes_{0};
};

}  // namespace

PinnedPiece::PinnedPiece(std::size_t bytes) {
  if (bytes == 0) return;
  std::tie(data_, bytes_) = KeptPieces::Instance().Take(bytes);
  if (data_ != nullptr) return;
  data_ = static_cast<std::uint8_t*>(AllocatePinned(bytes));
  bytes_ = bytes;
}

PinnedPiece::~PinnedPiece() {
  if (data_ != nullptr && !KeptPieces::Instance().Give(data_, bytes_)) cudaFreeHost(data_);
}

}  // namespace xgbgpu
