/// Stage 3 on a CUDA device: chooses the format of one tree's gradients on the device.
#ifndef XGBGPU_GRADIENT_GRADIENT_CUDA_H_
#define XGBGPU_GRADIENT_GRADIENT_CUDA_H_

#include <cstdint>

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "gradient/gradient.h"

namespace xgbgpu::cuda {

/// Gradients of all rows for a tree, on the device, aligned to 16 bytes.
struct DeviceGradients {
  DeviceGradients(GradientPair const* rows = nullptr, GradientMaxima const* largest = nullptr)
      : pairs{rows}, maxima{largest} {}

  GradientPair const* pairs;  ///< [rows]
  /// Maxima of all `pairs`, on the device: kNotFiniteBits or more if a gradient is NaN or infinite. nullptr: unknown.
  GradientMaxima const* maxima;
};

/// Inputs of a tree's kernels that change from one tree to the next while their graph stays: the random numbers' seed
/// and tree, the margins if the tree computes gradients itself, the parameter that decides on its format. On the
/// device.
struct TreeDraw {
  std::uint64_t seed;
  std::uint32_t tree;
  std::uint32_t first_row;  ///< number of the device's first row over all devices
  float const* margins;     ///< RowLosses::margins
  float min_child_weight;
};

/// Gradients quantised before their format is known, in the format for maxima like the last tree's (early_narrow.cuh).
/// On the device.
struct EarlyGradients {
  NarrowGradient* narrow;         ///< valid if GradientState::foreseen; nullptr: none
  GradientMaxima* maxima_before;  ///< 0: no tree before, or its format was not narrow

  /// Returns true if there are early gradients. Constant over a tree's kernels but the last that reads gradients.
  XGBGPU_HD bool ForeseeNarrow() const {
    return narrow != nullptr && maxima_before->grad != 0 && maxima_before->hess != 0;
  }
};

/// Sums over the early gradients.
struct EarlySums {
  GradientSum narrow;
  GradientSum magnitudes;  ///< sums of the absolute values of the terms of `narrow`
  std::int64_t vanishing;  ///< FormatSums::vanishing
};

/// Facts of one tree's gradients: of this device, and after the exchange of all devices. On the device; zero before the
/// first kernel.
struct GradientState {
  GradientMaxima maxima;
  FormatSums sums;
  EarlySums early;
  std::uint32_t finished_blocks;
  GradientFormat format;  ///< one block writes this and the members below
  double grad_scale;      ///< 2^grad_shift
  double hess_scale;
  bool foreseen;  ///< the early gradients' format is the tree's, and narrow
  /// The format is wide, and hessians are multiples of 2^32, as with squared errors without weights.
  bool high_hessians;
};

/// Fills *state from the gradients of all rows. Chooses like host::ChooseGradientFormat. *draw is on the device.
/// Cost  one pass over the gradients from kNarrowMinRows rows on; one pass if their maxima are not known
void ChooseGradientFormat(DeviceGradients const& gradients, DeviceShard const& shard, TreeDraw const* draw,
                          GradientState* state, DeviceLimits const& limits, cudaStream_t stream);

/// Exchanges the maxima, `own` or the maxima in *state, and early sums with all other devices. *state then has the
/// combined numbers. `count` and `count_of_all` are as in DeviceNumbers.
void ShareMaxima(DeviceShard const& shard, GradientMaxima const* own, GradientState* state, cudaStream_t stream,
                 std::uint32_t const* count = nullptr, std::int64_t* count_of_all = nullptr);
/// Chooses the format from the sums of all devices, unless the prediction holds. rows_of_all: the number of a sample's
/// rows, on the device; nullptr: all rows.
void FinishFormat(DeviceShard const& shard, std::int64_t const* rows_of_all, TreeDraw const* draw, GradientState* state,
                  DeviceLimits const& limits, cudaStream_t stream);

/// Raises *maxima, on the device, to the rows' maxima.
void FindLargestGradients(GradientPair const* gradients, std::uint64_t rows, GradientMaxima* maxima,
                          DeviceLimits const& limits, cudaStream_t stream);

/// Gradients of listed rows: in the order of the list, or by row.
struct SampledGradients {
  RowRecord const* rows;
  GradientPair const* in_order;  ///< or nullptr
  GradientPair const* by_row;
  std::uint32_t const* count;  ///< number of rows, on the device
  std::int64_t const* of_all;  ///< number of listed rows of all devices, on the device; nullptr: there is one device
  EarlyGradients early;

  XGBGPU_HD GradientPair At(std::uint64_t i) const { return in_order != nullptr ? in_order[i] : by_row[rows[i].row]; }
};

/// ChooseGradientFormat for the first min(*count, most) rows of the list. *state already has the maxima of all devices'
/// rows.
/// Cost  one pass over the rows, unless the prediction holds
void ChooseSampleFormat(SampledGradients const& gradients, std::uint64_t most, DeviceShard const& shard,
                        TreeDraw const* draw, GradientState* state, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_GRADIENT_CUDA_H_
