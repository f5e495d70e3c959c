/// Stage 4 on a CUDA device: samples the rows of one tree on the device.
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

/// The state of a tree's sample. On the device; zero before the first kernel.
struct SampleState {
  std::int64_t rows_of_all;   ///< sampled rows of all devices; valid with several devices
  std::uint32_t rows;         ///< sampled rows: more than SampleView::capacity if the room is too small
  GradientMaxima maxima;      ///< over all rows, unless known before
  std::uint32_t largest_key;  ///< of all rows, if chances depend on gradients
  SampleRule rule;            ///< chances of rows, if they depend on gradients
};

/// Counts of rows by their keys. On the device; zero before the first kernel.
struct alignas(16) KeyCounts {
  std::uint32_t of[kKeys];       ///< zero between trees
  std::uint32_t largest_before;  ///< key of the tree before
};

/// The output of a sample. Arrays are on the device.
struct SampleView {
  std::uint32_t capacity;   ///< rows that fit the arrays
  RowRecord* rows;          ///< [capacity], in any order, without gradients
  GradientPair* gradients;  ///< [capacity] of `rows`, divided by their chances; or nullptr: see by_row
  GradientPair* by_row;     ///< [rows of the matrix] written for sampled rows only; or nullptr
  std::uint8_t* records;    ///< [tiles, capacity, record] bins of `rows`; or nullptr
  KeyCounts* key_counts;    ///< nullptr unless chances depend on gradients
  std::uint16_t* keys;      ///< [RoomForKeys] of all rows, if chances depend on gradients
  SampleState* state;
  EarlyGradients early;  ///< [capacity] in the order of `rows`; none if rows are not copied, or are few
  std::uint8_t* paths;   ///< [capacity] cleared for sampled rows; or nullptr

  /// Returns the number of sampled rows in the arrays.
  XGBGPU_HD std::uint32_t size() const { return state->rows < capacity ? state->rows : capacity; }
};

/// The parameters of a sample, in the terms of TrainParams.
struct SampleDraw : TreeDraw {
  std::uint64_t threshold;  ///< uniform: chance of every row
  SampleTarget target;
};

/// Elements of SampleView::keys, which kernels read and write in fours.
constexpr std::uint64_t KeyCapacity(std::uint64_t rows) { return (rows + 3) / 4 * 4; }

/// Draws rows of `matrix` like host::SampleRows, and fills *gradient from the sampled rows: maxima, format. A gradient
/// that is not finite shows in the maxima even outside the sample. *draw is on the device. `matrix` has the shard's
/// rows; the sample is drawn from all devices' rows.
/// `losses`: nullptr, or the source of gradients, which are computed where and as often as needed. They are finite
/// then, and SampleView::gradients is set.
/// Cost  one pass over gradients and 4 bytes a row if chances depend on them; one pass if their maxima are not known;
///       the copies
void SampleRows(DeviceGradients const& gradients, RowLosses const* losses, DeviceMatrixView const& matrix,
                SampleDraw const* draw, SampleView const& sample, GradientState* gradient, DeviceShard const& shard,
                DeviceLimits const& limits, cudaStream_t stream);

/// Divisors of rows' gradients, if chances depend on gradients.
struct RowChances {
  std::uint16_t const* keys{nullptr};  ///< [rows]; nullptr: no division
  SampleRule const* rule{nullptr};     ///< on the device

  /// Returns the weighted gradient of a sampled row. A gradient that is not finite stays unchanged.
  XGBGPU_HD GradientPair Weigh(std::uint64_t row, GradientPair v) const {
    bool const finite = MagnitudeBits(v.grad) < kNotFiniteBits && MagnitudeBits(v.hess) < kNotFiniteBits;
    return keys == nullptr || !finite ? v : DivideByChance(v, ChanceOf(*rule, keys[row]));
  }
};

/// Draws the same rows as SampleRows, and fills *gradient like it, but lists no rows: nodes[row] becomes 0, or ~0 for a
/// row outside the sample. Uses only the members of `sample` for chances.
void MarkRows(DeviceGradients const& gradients, std::uint64_t rows, SampleDraw const* draw, SampleView const& sample,
              NodeIndex* nodes, GradientState* gradient, DeviceShard const& shard, DeviceLimits const& limits,
              cudaStream_t stream);

/// Copies the records of a page's sampled rows to sample.records. The page's first row is row `first_row`. With pages
/// SampleRows gets no records.
void CopySampledRecords(DeviceMatrixView const& page, std::uint64_t first_row, SampleView const& sample,
                        DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_SAMPLE_CUDA_H_
