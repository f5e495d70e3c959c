// Copies pieces to a device while the host writes the next piece.
#include "cuda/piece_stream.h"

namespace xgbgpu {

PieceStream::~PieceStream() {
  cudaStreamSynchronize(stream_);  // after an error copies may still read the buffers
}

std::uint8_t* PieceStream::OpenBytes() {
  Slot& slot = slots_[open_];
  if (slot.buffer.bytes() == 0) slot.buffer = PinnedPiece{bytes_};
  slot.copied.Wait("copying data to the device");
  return slot.buffer.data();
}

void PieceStream::Close() {
  slots_[open_].copied.Record(stream_);
  open_ = (open_ + 1) % slots_.size();
}

}  // namespace xgbgpu
