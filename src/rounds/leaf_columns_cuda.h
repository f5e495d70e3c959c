/// Leaf columns on a CUDA device, as DeviceResidentRows keeps them.
#ifndef XGBGPU_ROUNDS_LEAF_COLUMNS_CUDA_H_
#define XGBGPU_ROUNDS_LEAF_COLUMNS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// Does the work of LeafColumns for output-major margins on the device. The device must be current in all calls.
class ColumnStore {
 public:
  /// Copies `base`, the margins of a model without trees, on `stream`. Every output begins at a multiple of 128 bytes
  /// and has room for as much.
  ColumnStore(OutputView<float const> base, DeviceArena* arena, DeviceLimits const& limits, cudaStream_t stream);

  std::size_t columns() const { return outputs_.size(); }
  bool Reserve(std::size_t more);
  /// Adds the next column, filled with zeros on `stream`. The caller adds its leaf values there.
  float* Next(std::uint32_t output, cudaStream_t stream);
  /// Weighs on `stream`, after all work that filled columns. Returns false, and does nothing, if the margins have
  /// `weights` already.
  bool Weigh(Span<float const> weights, OutputView<float> margins, cudaStream_t stream);

 private:
  std::size_t room() const;
  float* column(std::size_t number) const;
  void AddBlock();
  /// Sets `margins` to `from` plus columns first … of one output.
  void Add(std::size_t first, std::uint32_t output, float const* from, float* margins, cudaStream_t stream) const;

  DeviceArena* arena_;
  DeviceLimits limits_;
  std::size_t stride_;                       ///< from one output or column to the next
  DeviceBuffer<float> base_;                 ///< [outputs, stride_]
  std::vector<DeviceBuffer<float>> blocks_;  ///< of several columns each
  std::vector<std::uint32_t> outputs_;       ///< output of each column
  std::vector<float> applied_;               ///< weights of the columns that are in the margins
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_ROUNDS_LEAF_COLUMNS_CUDA_H_
