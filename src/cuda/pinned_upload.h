/// Sends small arrays to a device without a wait for the work before them.
#ifndef XGBGPU_CUDA_PINNED_UPLOAD_H_
#define XGBGPU_CUDA_PINNED_UPLOAD_H_

#include <cstddef>

#include "cuda/device.h"

namespace xgbgpu::cuda {

/// Keeps an array in pinned memory until the device has it. The device must be current in every call.
template <typename T>
class PinnedUpload {
 public:
  /// Returns memory for `n` elements, to be filled for Send. Waits only if the array before is still on its way.
  T* Begin(std::size_t n) {
    sent_.Wait("sending to the device");
    if (memory_.size() < n) memory_ = PinnedBuffer<T>{n};
    size_ = n;
    return memory_.data();
  }
  /// Enqueues the copy of the array to `to`.
  void Send(T* to, Stream const& stream, char const* what) const {
    CopyToDevice(to, memory_.data(), size_, stream, what);
    sent_.Record(stream);
  }

 private:
  PinnedBuffer<T> memory_;
  std::size_t size_{0};
  Event sent_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_PINNED_UPLOAD_H_
