/// Memory of samples on a CUDA device.
#ifndef XGBGPU_SAMPLE_SAMPLE_WORKSPACE_CUDA_H_
#define XGBGPU_SAMPLE_SAMPLE_WORKSPACE_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

/// Owns what the sample of one growing tree takes: its bins and 16 bytes for each row that is copied, 8 for each row of
/// the matrix if weighted rows are not, and 2 for each if gradients decide.
class SampleWorkspace {
 public:
  /// `matrix` is what rows are sampled from. It and `arena` must outlive this.
  SampleWorkspace(DeviceMatrixView const& matrix, DeviceArena* arena) : whole_{matrix}, copy_{matrix}, arena_{arena} {}

  /// Makes room for samples of at most `copied` rows that lie side by side, or, if that is 0, of any size, listed
  /// elsewhere. weighted: gradients decide who is in, and are divided by the chance. True if the memory has moved.
  bool Reserve(std::uint32_t copied, bool weighted, Stream const& stream);
  /// Makes room for samples of any size that rows are marked for (MarkRows). True if the memory has moved.
  bool ReserveMarks(bool weighted, Stream const& stream);
  std::uint32_t copied() const { return copied_; }
  /// The matrix of copied rows, with room for the largest sample.
  DeviceMatrixView const& copy() const { return copy_; }
  /// Gradients of copied rows, side by side; else, if weighted, by row of the matrix.
  GradientPair* gradients() const { return gradients_.data(); }
  /// A view with the members whose memory is here. Listed rows that are not copied, paths and early gradients are
  /// elsewhere, and so is the state.
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
