/// Copies of small arrays between the host and a device that wait only where the host must read. CUDA builds only.
#ifndef XGBGPU_CUDA_STAGED_COPIES_H_
#define XGBGPU_CUDA_STAGED_COPIES_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/device.h"

namespace xgbgpu {

/// Copies arrays through pinned memory: one behind the other until Wait, then from the beginning of the memory again.
class StagedCopies {
 public:
  /// `stream` must outlive this object. All its copies must have been made before it is destroyed.
  explicit StagedCopies(Stream const& stream) : stream_{stream} {}

  /// Enqueues a copy. `from` may change or be freed as soon as this returns.
  template <typename T>
  void ToDevice(T* to, T const* from, std::size_t n, char const* what) {
    if (n == 0) return;
    char* const room = Room(n * sizeof(T));
    std::memcpy(room, from, n * sizeof(T));
    CopyToDevice(reinterpret_cast<char*>(to), room, n * sizeof(T), stream_, what);
  }
  /// Enqueues a copy. The array can be read after WaitForFetched, until the next Wait.
  template <typename T>
  T const* Fetch(T const* from, std::size_t n, char const* what) {
    if (n == 0) return nullptr;
    char* const room = Room(n * sizeof(T));
    CopyToHost(room, reinterpret_cast<char const*>(from), n * sizeof(T), stream_, what);
    fetched_.Record(stream_);
    return reinterpret_cast<T const*>(room);
  }
  /// Waits for the last Fetch and all earlier work, not for later work.
  void WaitForFetched(char const* what) const { fetched_.Wait(what); }
  /// Fetches an array and waits for all that was enqueued.
  template <typename T>
  void ToHost(T* to, T const* from, std::size_t n, char const* what) {
    T const* const fetched = Fetch(from, n, what);
    Wait(what);
    std::copy(fetched, fetched + n, to);
  }
  void Wait(char const* what) {
    stream_.Wait(what);
    used_ = 0;
    full_.clear();
  }

 private:
  char* Room(std::size_t bytes) {
    constexpr std::size_t kAlignment = 64, kLeast = 1 << 16;
    std::size_t const taken = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ + taken > memory_.size()) {
      PinnedBuffer<char> larger{std::max(2 * (used_ + taken), kLeast)};
      std::swap(memory_, larger);
      full_.push_back(std::move(larger));
      used_ = 0;
    }
    char* const room = memory_.data() + used_;
    used_ += taken;
    return room;
  }

  Stream const& stream_;
  Event fetched_;
  PinnedBuffer<char> memory_;
  std::vector<PinnedBuffer<char>> full_;  ///< full buffers; copies from them may be under way
  std::size_t used_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_STAGED_COPIES_H_
