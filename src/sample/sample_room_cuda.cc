#include "sample/sample_room_cuda.h"

namespace xgbgpu::cuda {

bool SampleRoom::Reserve(std::uint32_t copied, bool weighted, Stream const& stream) {
  copied_ = copied;
  weighted_ = weighted;
  bool changed = false;
  // New memory is cleared: structures are read whole, their padding too.
  auto const grow = [&](auto* buffer, char const* part, std::size_t size) {
    if (!xgbgpu::Reserve(buffer, arena_, part, size)) return;
    changed = true;
    FillBytes(buffer->data(), 0, buffer->size(), stream, "clearing new memory");
  };
  if (copied != 0) grow(&records_, "sampled rows", copied);
  if (copied != 0 || weighted) grow(&gradients_, "sampled gradients", copied != 0 ? copied : rows_);
  if (!weighted) return changed;
  grow(&key_counts_, "state", 1);
  grow(&keys_, "sampled rows", RoomForKeys(rows_));
  return changed;
}

SampleView SampleRoom::View() const {
  SampleView sample{};
  if (weighted_) {
    sample.key_counts = key_counts_.data();
    sample.keys = keys_.data();
  }
  if (copied_ != 0) {
    sample.capacity = copied_;
    sample.rows = records_.data();
    sample.gradients = gradients_.data();
  } else if (weighted_) {
    sample.by_row = gradients_.data();
  }
  return sample;
}

}  // namespace xgbgpu::cuda
