/// Owners of resources of a CUDA device: memory, streams, events. Every failure becomes a DeviceError.
///
/// From  RAPIDS Memory Manager (ownership of device memory by RAII types bound to a resource), in idea
#ifndef XGBGPU_CUDA_DEVICE_H_
#define XGBGPU_CUDA_DEVICE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "xgbgpu/error.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Throws DeviceError "<what>: <CUDA's text>; <advice>" unless `status` is cudaSuccess.
void CheckCuda(cudaError_t status, char const* what);

/// For tests: the n-th call of CUDA that CheckCuda sees from now on is an error, after it was made (n = 0: the next); a
/// negative n ends that. Returns how many calls were made since the last call.
std::int64_t FailCudaCall(std::int64_t n);

/// Makes `device` current for this thread, and at its end the device that was current before.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(DeviceScope const&) = delete;
  DeviceScope& operator=(DeviceScope const&) = delete;

 private:
  int before_{0};
};

/// A stream that does not wait for the default stream. Work in an urgent stream goes before work that waits in
/// others, as far as the device knows priorities.
class Stream {
 public:
  explicit Stream(bool urgent = false);
  ~Stream();
  Stream(Stream const&) = delete;
  Stream& operator=(Stream const&) = delete;

  operator cudaStream_t() const { return stream_; }
  /// Waits for everything enqueued; errors of earlier kernels appear here. `what` names the work.
  void Wait(char const* what) const;

 private:
  cudaStream_t stream_{nullptr};
};

/// A point on a stream that others can wait for: other streams, and the host.
class Event {
 public:
  Event() { CheckCuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(Event const&) = delete;
  Event& operator=(Event const&) = delete;

  void Record(cudaStream_t stream) const { CheckCuda(cudaEventRecord(event_, stream), "recording an event"); }
  /// Makes later work on `stream` wait for the last Record. Without a Record it does not wait.
  void HoldUp(cudaStream_t stream) const { CheckCuda(cudaStreamWaitEvent(stream, event_, 0), "ordering streams"); }
  /// The host waits for the last Record.
  void Wait(char const* what) const { CheckCuda(cudaEventSynchronize(event_), what); }

 private:
  cudaEvent_t event_{nullptr};
};

/// Memory of the current device, in bytes.
struct DeviceMemory {
  std::size_t free;
  std::size_t total;
};
/// Throws DeviceError
DeviceMemory CurrentMemory();

/// The device memory of one owner (a dataset, a training session), by name of its parts. The device must be
/// current whenever the arena is used. Not thread-safe.
class DeviceArena {
 public:
  struct Part {
    std::string name;
    std::size_t bytes;
  };

  /// `owner` begins the messages about memory, as in "Training on the GPU". `advice` is the first advice of each
  /// message.
  explicit DeviceArena(std::string owner, std::string advice = "a smaller max_bin, max_depth or max_leaves")
      : owner_{std::move(owner)}, advice_{std::move(advice)} {}
  DeviceArena(DeviceArena const&) = delete;
  DeviceArena& operator=(DeviceArena const&) = delete;

  /// Returns uninitialised memory, 256-byte aligned; nullptr for 0 bytes. Throws OutOfDeviceMemory, which names the
  /// needed bytes, the part, the free bytes and remedies.
  void* Allocate(char const* part, std::size_t bytes);
  void Free(char const* part, void* memory, std::size_t bytes) noexcept;

  /// Limits the arena to `bytes` bytes; 0: the memory of the device.
  void SetLimit(std::size_t bytes) { limit_ = bytes; }
  /// Calls give_up() if memory is short. It frees dispensable memory of its owner in this arena, and returns true if
  /// there was any. Empty: there is no such owner.
  void OnShortage(std::function<bool()> give_up) { give_up_ = std::move(give_up); }
  /// Returns the bytes that the arena may still take of the free memory of the device.
  std::size_t room() const;

  std::size_t bytes() const { return bytes_; }
  std::size_t peak_bytes() const { return peak_; }
  std::uint64_t changes() const { return changes_; }         ///< calls that took or gave memory
  std::vector<Part> const& parts() const { return parts_; }  ///< the parts held now, in order of first use

 private:
  cudaError_t TryAllocate(std::size_t bytes, void** memory) const;

  std::string owner_, advice_;
  std::size_t limit_{0};
  std::function<bool()> give_up_;
  std::size_t bytes_{0};
  std::size_t peak_{0};
  std::uint64_t changes_{0};
  std::vector<Part> parts_;
};

/// For tests: the n-th device allocation of this process from now on fails as if memory were short (n = 0: the next);
/// a negative n ends that. Returns how many allocations were made since the last call.
std::int64_t FailDeviceAllocation(std::int64_t n);

/// An owning array on the device. It is move-only, and its contents are undefined until written. Its arena must outlive
/// it.
template <typename T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceArena* arena, char const* part, std::size_t size)
      : arena_{arena}, part_{part}, data_{static_cast<T*>(arena->Allocate(part, size * sizeof(T)))}, size_{size} {}
  ~DeviceBuffer() { Release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { Swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    Release();
    Swap(other);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  void Release() noexcept {
    if (data_ != nullptr) arena_->Free(part_, data_, bytes());
    data_ = nullptr;
    size_ = 0;
  }
  void Swap(DeviceBuffer& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(part_, other.part_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  DeviceArena* arena_{nullptr};
  char const* part_{nullptr};
  T* data_{nullptr};
  std::size_t size_{0};
};

/// Tells whether this process has had memory of a device. If not, its first use waits for the driver. A process that
/// was forked later has had none.
bool DeviceIsInUse();

/// Makes room for `size` elements. If there was less, the contents are lost: the old buffer is freed first, so that
/// there are never two. Returns whether the buffer is a new one.
template <typename T>
bool Reserve(DeviceBuffer<T>* buffer, DeviceArena* arena, char const* part, std::size_t size) {
  if (buffer->size() >= size) return false;
  *buffer = {};
  *buffer = {arena, part, size};
  return true;
}

/// Makes room for `size` elements, of which the first `kept` stay. If there was less, the old buffer lives until `stream`
/// has copied it. Waits then. Returns whether the buffer is a new one.
template <typename T>
bool Enlarge(DeviceBuffer<T>* buffer, DeviceArena* arena, char const* part, std::size_t kept, std::size_t size,
             cudaStream_t stream) {
  if (buffer->size() >= size) return false;
  DeviceBuffer<T> larger{arena, part, size};
  CheckCuda(cudaMemcpyAsync(larger.data(), buffer->data(), kept * sizeof(T), cudaMemcpyDeviceToDevice, stream), part);
  CheckCuda(cudaStreamSynchronize(stream), part);
  *buffer = std::move(larger);
  return true;
}

/// Returns host memory for PinnedBuffer; nullptr for 0 bytes. Throws DeviceError, which names the needed bytes.
void* AllocatePinned(std::size_t bytes);

/// Host memory that the device copies from and to at full speed, without a copy in between.
template <typename T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size) : size_{size} {
    data_.reset(static_cast<T*>(AllocatePinned(size * sizeof(T))));
  }

  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { cudaFreeHost(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_{0};
};

/// The copies below keep the order of the stream. Host memory must stay as it is until the stream gets there.
template <typename T>
void CopyToDevice(T* to, T const* from, std::size_t n, cudaStream_t stream, char const* what) {
  CheckCuda(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, stream), what);
}
template <typename T>
void CopyToHost(T* to, T const* from, std::size_t n, cudaStream_t stream, char const* what) {
  CheckCuda(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream), what);
}
/// Copies `from`, which may be any host memory, to a new buffer, and waits for the copy.
template <typename T>
DeviceBuffer<T> Upload(DeviceArena* arena, char const* part, T const* from, std::size_t n) {
  DeviceBuffer<T> to{arena, part, n};
  Stream const stream;
  CopyToDevice(to.data(), from, n, stream, "copying to the device");
  stream.Wait("copying to the device");
  return to;
}
template <typename T>
void FillBytes(T* to, int byte, std::size_t n, cudaStream_t stream, char const* what) {
  CheckCuda(cudaMemsetAsync(to, byte, n * sizeof(T), stream), what);
}

/// The properties of a device that kernels are fitted to.
struct DeviceLimits {
  int device;
  int processors;               ///< streaming multiprocessors
  std::size_t block_bytes;      ///< shared memory that one block may ask for
  std::size_t processor_bytes;  ///< shared memory of one multiprocessor
  bool starts_early;            ///< cuda::StartsEarly (cuda/launch.h)
  bool shared{false};           ///< kernels of other trees run on the same multiprocessors
};
/// Returns the limits of the current device.
DeviceLimits CurrentDeviceLimits();

/// A named range in the timeline of a profiler (NVTX).
class ProfilerRange {
 public:
  explicit ProfilerRange(char const* name);
  ~ProfilerRange();
  ProfilerRange(ProfilerRange const&) = delete;
  ProfilerRange& operator=(ProfilerRange const&) = delete;
};

}  // namespace xgbgpu

#endif  // XGBGPU_CUDA_DEVICE_H_
