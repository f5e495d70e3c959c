#include "core/piece_stream.h"

#include <utility>

namespace xgbgpu {

PieceStream::PieceStream(std::size_t bytes) : own_{std::in_place}, stream_{*own_} {
  for (Slot& slot : slots_) slot.buffer = PinnedBuffer<std::uint8_t>{bytes};
}

PieceStream::PieceStream(std::size_t bytes, cudaStream_t stream) : stream_{stream} {
  for (Slot& slot : slots_) slot.buffer = PinnedBuffer<std::uint8_t>{bytes};
}

PieceStream::~PieceStream() {
  cudaStreamSynchronize(stream_);  // after an error copies may still read the buffers
}

std::uint8_t* PieceStream::OpenBytes() {
  Slot const& slot = slots_[open_];
  slot.copied.Wait("copying data to the device");
  return slot.buffer.data();
}

void PieceStream::Close() {
  slots_[open_].copied.Record(stream_);
  open_ = (open_ + 1) % slots_.size();
}

}  // namespace xgbgpu
