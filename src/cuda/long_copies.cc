// Copies long arrays through pinned buffers that several threads fill.
#include "cuda/long_copies.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/parallel.h"
#include "cuda/device.h"
#include "cuda/piece_stream.h"
#include "cuda/pinned_pieces.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kLeast = 4 * kPiece;  ///< below this the driver is as fast
constexpr int kMostThreads = 8;             ///< more are no faster (cuda/array_upload.cc)

/// The pieces of an array, which threads take one by one.
class Pieces {
 public:
  explicit Pieces(std::size_t bytes) : bytes_{bytes} {}

  struct Piece {
    std::size_t first, bytes;  ///< no bytes: there is no piece left
  };
  Piece Take() {
    std::size_t const first = std::min(bytes_, next_++ * kPiece);
    return {first, std::min(kPiece, bytes_ - first)};
  }
  /// To be called where one thread has failed.
  void End() { next_ = bytes_ / kPiece + 1; }

 private:
  std::size_t bytes_;
  std::atomic<std::size_t> next_{0};
};

/// Calls copy(&pieces) in several threads, in which the current device is current.
template <typename F>
void InPieces(std::size_t bytes, int threads, F&& copy) {
  int device = 0;
  CheckCuda(cudaGetDevice(&device), "asking for the current device");
  Pieces pieces{bytes};
  int const team = std::clamp(threads, 1, kMostThreads);
  ParallelTasks(team, static_cast<std::size_t>(team), [&](std::size_t, int) {
    DeviceScope const scope{device};
    try {
      copy(&pieces);
    } catch (...) {
      pieces.End();
      throw;
    }
  });
}

/// Copies pieces to the host by way of two pinned ones: the device writes one while the host reads the other.
class Landing {
 public:
  Landing(std::uint8_t* to, std::uint8_t const* from, cudaStream_t stream, char const* what)
      : to_{to}, from_{from}, stream_{stream}, what_{what} {}
  ~Landing() {
    cudaStreamSynchronize(stream_);  // after an error copies may still write the pinned pieces
  }
  Landing(Landing const&) = delete;
  Landing& operator=(Landing const&) = delete;

  void Copy(Pieces::Piece const& piece) {
    Slot& slot = slots_[next_];
    Land(&slot);
    if (slot.pinned.bytes() == 0) slot.pinned = PinnedPiece{kPiece};
    CopyToHost(slot.pinned.data(), from_ + piece.first, piece.bytes, stream_, what_);
    slot.arrived.Record(stream_);
    slot.piece = piece;
    next_ = 1 - next_;
  }
  /// The copies are complete when this returns.
  void End() {
    Land(&slots_[next_]);
    Land(&slots_[1 - next_]);
  }

 private:
  struct Slot {
    PinnedPiece pinned;
    Event arrived;
    Pieces::Piece piece{0, 0};  ///< is on its way to `pinned`
  };

  void Land(Slot* slot) {
    if (slot->piece.bytes == 0) return;
    slot->arrived.Wait(what_);
    std::memcpy(to_ + slot->piece.first, slot->pinned.data(), slot->piece.bytes);
    slot->piece = {0, 0};
  }

  std::uint8_t* to_;
  std::uint8_t const* from_;
  cudaStream_t stream_;
  char const* what_;
  std::array<Slot, 2> slots_;
  std::size_t next_{0};
};

}  // namespace

void CopyLongToDevice(void* to, void const* from, std::size_t bytes, int threads, cudaStream_t stream,
                      char const* what) {
  auto* const target = static_cast<std::uint8_t*>(to);
  auto const* const source = static_cast<std::uint8_t const*>(from);
  if (bytes < kLeast) {
    CopyToDevice(target, source, bytes, stream, what);
    CheckCuda(cudaStreamSynchronize(stream), what);
    return;
  }
  InPieces(bytes, threads, [&](Pieces* pieces) {
    PieceStream pinned{kPiece, stream};
    for (auto piece = pieces->Take(); piece.bytes != 0; piece = pieces->Take()) {
      auto* const room = pinned.Open<std::uint8_t>();
      std::memcpy(room, source + piece.first, piece.bytes);
      CopyToDevice(target + piece.first, room, piece.bytes, stream, what);
      pinned.Close();
    }
    pinned.Wait(what);
  });
}

void CopyLongToHost(void* to, void const* from, std::size_t bytes, int threads, cudaStream_t stream, char const* what) {
  auto* const target = static_cast<std::uint8_t*>(to);
  auto const* const source = static_cast<std::uint8_t const*>(from);
  if (bytes < kLeast) {
    CopyToHost(target, source, bytes, stream, what);
    CheckCuda(cudaStreamSynchronize(stream), what);
    return;
  }
  InPieces(bytes, threads, [&](Pieces* pieces) {
    Landing landing{target, source, stream, what};
    for (auto piece = pieces->Take(); piece.bytes != 0; piece = pieces->Take()) landing.Copy(piece);
    landing.End();
  });
}

}  // namespace xgbgpu
