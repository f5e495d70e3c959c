/// Device memory that is kept from tree to tree and grows as trees need it.
#ifndef XGBGPU_CUDA_CLEARED_WORKSPACE_H_
#define XGBGPU_CUDA_CLEARED_WORKSPACE_H_

#include <cstdint>

#include "cuda/device.h"

namespace xgbgpu::cuda {

/// Reserves memory on behalf of the parts of one growing tree, and tells whether any of it has moved: a recorded graph
/// holds addresses.
class ClearedWorkspace {
 public:
  /// The arena and the stream must outlive this object.
  ClearedWorkspace(DeviceArena* arena, Stream const& stream) : arena_{arena}, stream_{stream} {}

  /// Makes room for `size` elements. If there was less room, the old elements are lost, and the new memory is cleared:
  /// structures are read with their padding.
  template <typename T>
  void Reserve(DeviceBuffer<T>* buffer, char const* part, std::size_t size) {
    Note([&] {
      if (!xgbgpu::Reserve(buffer, arena_, part, size)) return false;
      FillBytes(buffer->data(), 0, buffer->size(), stream_, "clearing new memory");
      return true;
    });
  }
  /// Calls reserve(), which returns whether memory has moved. If it throws, memory may have moved, too.
  template <typename F>
  void Note(F&& reserve) {
    try {
      if (reserve()) ++version_;
    } catch (OutOfDeviceMemory const&) {
      ++version_;
      throw;
    }
  }
  /// Changes whenever memory has moved.
  std::uint64_t version() const { return version_; }

  DeviceArena* arena() const { return arena_; }
  Stream const& stream() const { return stream_; }

 private:
  DeviceArena* arena_;
  Stream const& stream_;
  std::uint64_t version_{0};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_CUDA_CLEARED_WORKSPACE_H_
