// Reserves and clears the memory of a tree's sample on a device.
#include "sample/sample_workspace_cuda.h"

namespace xgbgpu::cuda {

/// New memory is cleared, because structures are read whole, with their padding.
template <typename T>
bool SampleWorkspace::Grow(DeviceBuffer<T>* buffer, char const* part, std::size_t size, Stream const& stream) {
  if (!xgbgpu::Reserve(buffer, arena_, part, size)) return false;
  FillBytes(buffer->data(), 0, buffer->size(), stream, "clearing new memory");
  return true;
}

bool SampleWorkspace::ReserveKeys(Stream const& stream) {
  bool const changed = Grow(&key_counts_, "state", 1, stream);
  return Grow(&keys_, "sampled rows", KeyCapacity(whole_.rows), stream) || changed;
}

bool SampleWorkspace::Reserve(std::uint32_t copied, DeviceMatrixView const& layout, bool weighted,
                              Stream const& stream) {
  copied_ = copied;
  weighted_ = weighted;
  bool changed = false;
  if (copied != 0) {
    std::size_t const bins = layout.tiles * std::size_t{copied} * layout.record_bytes();
    changed = Grow(&rows_, "sampled rows", copied, stream);
    changed = Grow(&bins_, "sampled bins", bins, stream) || changed;
    copy_ = layout;
    copy_.records = bins_.data();
    copy_.rows = copied;
  }
  if (copied != 0 || weighted) {
    changed = Grow(&gradients_, "sampled gradients", copied != 0 ? copied : whole_.rows, stream) || changed;
  }
  return (weighted && ReserveKeys(stream)) || changed;
}

bool SampleWorkspace::ReserveMarks(bool weighted, Stream const& stream) {
  copied_ = 0;
  weighted_ = weighted;
  return weighted && ReserveKeys(stream);
}

SampleView SampleWorkspace::View() const {
  SampleView sample{};
  if (weighted_) {
    sample.key_counts = key_counts_.data();
    sample.keys = keys_.data();
  }
  if (copied_ != 0) {
    sample.capacity = copied_;
    sample.rows = rows_.data();
    sample.gradients = gradients_.data();
    sample.records = bins_.data();
  } else if (weighted_) {
    sample.by_row = gradients_.data();
  }
  return sample;
}

}  // namespace xgbgpu::cuda
