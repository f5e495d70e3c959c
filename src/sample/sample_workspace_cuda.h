/// Memory of samples on a CUDA device.
#ifndef XGBGPU_SAMPLE_SAMPLE_WORKSPACE_CUDA_H_
#define XGBGPU_SAMPLE_SAMPLE_WORKSPACE_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

/// Owns the memory of one growing tree's sample: bins and 16 bytes for each copied row; 8 for each row of the matrix if
/// weighted rows are not copied; 2 for each row if chances depend on gradients.
class SampleWorkspace {
 public:
  /// Rows are sampled from `matrix`. It and `arena` must outlive this object.
  SampleWorkspace(DeviceMatrixView const& matrix, DeviceArena* arena) : whole_{matrix}, copy_{matrix}, arena_{arena} {}

  /// Makes room for samples of at most `copied` contiguous rows, or, with 0, of any size, listed elsewhere. `layout`:
  /// of the copy. weighted: gradients decide on chances, and are divided by them. Returns true if the memory has moved.
  bool Reserve(std::uint32_t copied, DeviceMatrixView const& layout, bool weighted, Stream const& stream);
  /// Makes room for samples of any size by marks (MarkRows). Returns true if the memory has moved.
  bool ReserveMarks(bool weighted, Stream const& stream);
  std::uint32_t copied() const { return copied_; }
  /// Returns the matrix of copied rows, with room for the largest sample.
  DeviceMatrixView const& copy() const { return copy_; }
  /// Returns the gradients of copied rows, contiguous, or, if weighted, by row of the matrix.
  GradientPair* gradients() const { return gradients_.data(); }
  /// Returns a view with the members that have memory in this object. Listed rows without copies, paths, early
  /// gradients and the state are elsewhere.
  SampleView View() const;

 private:
  bool ReserveKeys(Stream const& stream);
  template <typename T>
  bool Grow(DeviceBuffer<T>* buffer, char const* part, std::size_t size, Stream const& stream);

  DeviceMatrixView const& whole_;
  DeviceMatrixView copy_;
  DeviceArena* arena_;
  std::uint32_t copied_{0};
  bool weighted_{false};
  DeviceBuffer<RowRecord> rows_;
  DeviceBuffer<std::uint8_t> bins_;
  DeviceBuffer<GradientPair> gradients_;
  DeviceBuffer<KeyCounts> key_counts_;
  DeviceBuffer<std::uint16_t> keys_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_SAMPLE_WORKSPACE_CUDA_H_
