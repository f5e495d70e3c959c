// Allocates device memory, pinned memory, streams and events, and names every failure.
#include "cuda/device.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/message.h"
#include "cuda/launch.h"

namespace xgbgpu {

namespace {

/// Counts events, of which a test lets one fail.
struct FailingEvent {
  std::atomic<std::int64_t> count{0}, failing{-1};

  bool Next() { return count.fetch_add(1, std::memory_order_relaxed) == failing.load(std::memory_order_relaxed); }
  std::int64_t Set(std::int64_t n) {
    std::int64_t const made = count.exchange(0);
    failing.store(n);
    return made;
  }
};
FailingEvent calls, allocations;

}  // namespace

std::int64_t FailCudaCall(std::int64_t n) { return calls.Set(n); }

void CheckCuda(cudaError_t status, char const* what) {
  if (calls.Next()) status = cudaErrorUnknown;
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that can be recovered from must not show up again at the next call
  std::string memory;
  if (status == cudaErrorMemoryAllocation) {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    memory = "; " + std::to_string(free) + " of " + std::to_string(total) + " bytes of GPU memory are free";
  }
  Throw<DeviceError>("CUDA failed while ", what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")",
                     memory,
                     ". The model is as it was before this call. If the error comes again, train with "
                     "gpu_backend=host");
}

DeviceScope::DeviceScope(int device) {
  CheckCuda(cudaGetDevice(&before_), "asking for the current device");
  CheckCuda(cudaSetDevice(device), "choosing the device");
}
DeviceScope::~DeviceScope() {
  // The thread may never have used that device: that it cannot must not show up at our next call.
  if (cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
}

Stream::Stream(bool urgent) {
  int least = 0, greatest = 0;
  CheckCuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "making a stream");
  CheckCuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? greatest : least),
            "making a stream");
}
Stream::~Stream() { cudaStreamDestroy(stream_); }
void Stream::Wait(char const* what) const { CheckCuda(cudaStreamSynchronize(stream_), what); }

namespace {

std::atomic<pid_t> process_in_use{0};  ///< the process that has had memory of a device

}  // namespace

std::int64_t FailDeviceAllocation(std::int64_t n) { return allocations.Set(n); }

bool DeviceIsInUse() { return process_in_use == getpid(); }

cudaError_t DeviceArena::TryAllocate(std::size_t bytes, void** memory) const {
  if (allocations.Next() || (limit_ != 0 && bytes > limit_ - std::min(limit_, bytes_)))
    return cudaErrorMemoryAllocation;
  cudaError_t const status = cudaMalloc(memory, bytes);
  if (status == cudaErrorMemoryAllocation) cudaGetLastError();
  return status;
}

DeviceMemory CurrentMemory() {
  DeviceMemory memory{};
  CheckCuda(cudaMemGetInfo(&memory.free, &memory.total), "asking for free memory");
  return memory;
}

std::size_t DeviceArena::room() const {
  std::size_t const free = CurrentMemory().free;
  return limit_ == 0 ? free : std::min(free, limit_ - std::min(limit_, bytes_));
}

void* DeviceArena::Allocate(char const* part, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  auto found = std::find_if(parts_.begin(), parts_.end(), [&](Part const& p) { return p.name == part; });
  if (found == parts_.end()) found = parts_.insert(found, {part, 0});  // before there is memory that could be lost
  void* memory = nullptr;
  cudaError_t status = TryAllocate(bytes, &memory);
  while (status == cudaErrorMemoryAllocation && give_up_ && give_up_()) status = TryAllocate(bytes, &memory);
  if (status == cudaErrorMemoryAllocation) {
    std::size_t free = 0, total = 0;
    int device = 0;
    cudaMemGetInfo(&free, &total);
    cudaGetDevice(&device);
    std::string const limit = limit_ == 0 ? "" : "; gpu_memory_limit leaves it " + std::to_string(limit_);
    Throw<OutOfDeviceMemory>(owner_, " needs ", bytes, " bytes of GPU memory for ", part, ", beside ", bytes_,
                             " bytes that it holds", limit, "; ", free, " of ", total, " are free on CUDA device ",
                             device, ". Try ", advice_, ", a GPU with more free memory (gpu_id), or gpu_backend=host");
  }
  CheckCuda(status, "allocating memory");
  process_in_use = getpid();
  bytes_ += bytes;
  ++changes_;
  peak_ = std::max(peak_, bytes_);
  found->bytes += bytes;
  return memory;
}

void DeviceArena::Free(char const* part, void* memory, std::size_t bytes) noexcept {
  cudaFree(memory);
  bytes_ -= bytes;
  ++changes_;
  for (Part& p : parts_) {
    if (p.name == part) p.bytes -= bytes;
  }
}

void* AllocatePinned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  cudaError_t const status = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  if (status != cudaSuccess) {
    CheckCuda(status, ("allocating " + std::to_string(bytes) + " bytes of pinned memory of the host").c_str());
  }
  return memory;
}

DeviceLimits CurrentDeviceLimits() {
  DeviceLimits limits{};
  CheckCuda(cudaGetDevice(&limits.device), "asking for the current device");
  auto const attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    CheckCuda(cudaDeviceGetAttribute(&value, which, limits.device), "asking for the device's limits");
    return value;
  };
  limits.processors = attribute(cudaDevAttrMultiProcessorCount);
  limits.block_bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  limits.processor_bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  limits.starts_early = cuda::StartsEarly();
  return limits;
}

ProfilerRange::ProfilerRange(char const* name) { nvtxRangePushA(name); }
ProfilerRange::~ProfilerRange() { nvtxRangePop(); }

}  // namespace xgbgpu
