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
  cudaStreamSynchronize(stream_);  // an error on the way here may leave copies out of the buffers running
  for (Slot const& slot : slots_) {
    if (slot.copied != nullptr) cudaEventDestroy(slot.copied);
  }
}

std::uint8_t* PieceStream::OpenBytes() {
  Slot const& slot = slots_[open_];
  if (slot.copied != nullptr) CheckCuda(cudaEventSynchronize(slot.copied), "copying data to the device");
  return slot.buffer.data();
}

void PieceStream::Close() {
  Slot& slot = slots_[open_];
  if (slot.copied == nullptr) {
    CheckCuda(cudaEventCreateWithFlags(&slot.copied, cudaEventDisableTiming), "making an event");
  }
  CheckCuda(cudaEventRecord(slot.copied, stream_), "copying data to the device");
  open_ = (open_ + 1) % slots_.size();
}

}  // namespace xgbgpu
