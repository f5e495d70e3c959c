/// Stage 4 on a CUDA device: the rows of one tree, chosen where the gradients are.
#ifndef XGBGPU_SAMPLE_SAMPLE_CUDA_H_
#define XGBGPU_SAMPLE_SAMPLE_CUDA_H_

#include <cstdint>

#include "core/fixed_point.h"
#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "matrix/device_matrix.h"
#include "objective/objective_cuda.h"
#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

/// What is known of a tree's sample. It lives on the device and is zero before the first kernel.
struct SampleState {
  std::int64_t rows_of_all;   ///< drawn on all devices; known only if there are several
  std::uint32_t rows;         ///< drawn: more than SampleView::capacity if there was no room for all
  GradientMaxima maxima;      ///< over all rows, if nobody else has found them
  std::uint32_t largest_key;  ///< of all rows, if gradients decide
  SampleRule rule;            ///< the chances of rows, if gradients decide
};

/// Numbers of rows by their keys. They live on the device and are zero before the first kernel.
struct alignas(16) KeyCounts {
  std::uint32_t of[kKeys];       ///< zero between trees
  std::uint32_t largest_before;  ///< key of the tree before
};

/// Where the sample goes. Arrays are on the device.
struct SampleView {
  std::uint32_t capacity;   ///< rows that there is room for
  RowRecord* rows;          ///< [capacity], in any order, without gradients
  GradientPair* gradients;  ///< [capacity] of these rows, divided by their chances; or nullptr: see by_row
  GradientPair* by_row;     ///< [rows of the matrix] those of the sampled rows alone are written; or nullptr
  std::uint8_t* records;    ///< [tiles, capacity, record] their bins; or nullptr
  KeyCounts* key_counts;    ///< if gradients decide; else nullptr
  std::uint16_t* keys;      ///< [KeyCapacity] of all rows, if gradients decide
  SampleState* state;
  EarlyGradients early;  ///< [capacity] in the order of `rows`; none, if rows are not copied, or few
  std::uint8_t* paths;   ///< [capacity] those of sampled rows are cleared; or nullptr

  /// Number of drawn rows that there was room for.
  XGBGPU_HD std::uint32_t size() const { return state->rows < capacity ? state->rows : capacity; }
};

/// What decides which rows are drawn, in the words of TrainParams.
struct SampleDraw : TreeDraw {
  std::uint64_t threshold;  ///< uniform: chance of every row
  SampleTarget target;
};

/// Elements of SampleView::keys: they are read and written in fours.
constexpr std::uint64_t KeyCapacity(std::uint64_t rows) { return (rows + 3) / 4 * 4; }

/// Draws rows of `matrix` as host::SampleRows does, and fills *gradient from those drawn: maxima, format. A gradient
/// that is not finite shows in the maxima wherever it is. *draw is on the device. `matrix` has the rows of the shard;
/// the sample is drawn from those of all devices. Cost  if gradients decide, one pass over them and 4 bytes a row; if
/// their maxima are not known, one pass; and what is copied
/// `losses`: nullptr, or what gradients are computed with instead, where and as often as they are needed; then they are
/// all finite, and there is SampleView::gradients.
void SampleRows(DeviceGradients const& gradients, RowLosses const* losses, DeviceMatrixView const& matrix,
                SampleDraw const* draw, SampleView const& sample, GradientState* gradient, DeviceShard const& shard,
                DeviceLimits const& limits, cudaStream_t stream);

/// What a row's gradient is divided by, if gradients decide who is in the sample.
struct RowChances {
  std::uint16_t const* keys{nullptr};  ///< [rows]; nullptr: by nothing
  SampleRule const* rule{nullptr};     ///< on the device

  /// Returns what the gradient of a row in the sample counts in the tree. One that is not finite stays as it is.
  XGBGPU_HD GradientPair Weigh(std::uint64_t row, GradientPair v) const {
    bool const finite = MagnitudeBits(v.grad) < kNotFiniteBits && MagnitudeBits(v.hess) < kNotFiniteBits;
    return keys == nullptr || !finite ? v : DivideByChance(v, ChanceOf(*rule, keys[row]));
  }
};

/// Draws the rows that SampleRows draws, and fills *gradient as it does, but lists none: nodes[row] becomes 0, or the
/// complement of 0 if the row is not in the sample. Of `sample` it needs what tells chances.
void MarkRows(DeviceGradients const& gradients, std::uint64_t rows, SampleDraw const* draw, SampleView const& sample,
              NodeIndex* nodes, GradientState* gradient, DeviceShard const& shard, DeviceLimits const& limits,
              cudaStream_t stream);

/// Copies the records of the sample's rows that are in a page, whose first row is `first_row`, to sample.records. For
/// pages SampleRows gets no records.
void CopySampledRecords(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const& sample,
                        DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_SAMPLE_CUDA_H_
