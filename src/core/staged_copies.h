/// Copies of small arrays between the host and a device that wait only where the host must read. CUDA builds only.
#ifndef XGBGPU_CORE_STAGED_COPIES_H_
#define XGBGPU_CORE_STAGED_COPIES_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/device.h"

namespace xgbgpu {

/// Arrays go through pinned memory: one behind the other until the stream is waited for, then from its beginning again.
class StagedCopies {
 public:
  /// `stream` must outlive it. Nothing may be enqueued any more when it goes.
  explicit StagedCopies(Stream const& stream) : stream_{stream} {}

  /// Enqueues; `from` may go at once.
  template <typename T>
  void ToDevice(T* to, T const* from, std::size_t n, char const* what) {
    if (n == 0) return;
    char* const room = Room(n * sizeof(T), what);
    std::memcpy(room, from, n * sizeof(T));
    CopyToDevice(reinterpret_cast<char*>(to), room, n * sizeof(T), stream_, what);
  }
  /// Waits for all that was enqueued.
  template <typename T>
  void ToHost(T* to, T const* from, std::size_t n, char const* what) {
    if (n == 0) return Wait(what);
    char* const room = Room(n * sizeof(T), what);
    CopyToHost(room, reinterpret_cast<char const*>(from), n * sizeof(T), stream_, what);
    Wait(what);
    std::memcpy(to, room, n * sizeof(T));
  }
  void Wait(char const* what) {
    stream_.Wait(what);
    used_ = 0;
  }

 private:
  char* Room(std::size_t bytes, char const* what) {
    constexpr std::size_t kAlignment = 64, kLeast = 1 << 16;
    std::size_t const first = used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ <= memory_.size()) return memory_.data() + first;
    std::size_t const size = std::max(2 * used_, kLeast);
    Wait(what);  // for the memory that goes
    memory_ = PinnedBuffer<char>{size};
    return Room(bytes, what);
  }

  Stream const& stream_;
  PinnedBuffer<char> memory_;
  std::size_t used_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_STAGED_COPIES_H_
