/// Stage 3 on a CUDA device: format of the gradients of one tree, chosen where the gradients are.
#ifndef XGBGPU_GRADIENT_GRADIENT_CUDA_H_
#define XGBGPU_GRADIENT_GRADIENT_CUDA_H_

#include <cstdint>

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "gradient/gradient.h"

namespace xgbgpu::cuda {

/// Gradients of all rows for a tree, on the device and at a multiple of 16 bytes.
struct DeviceGradients {
  DeviceGradients(GradientPair const* rows = nullptr, GradientMaxima const* largest = nullptr)
      : pairs{rows}, maxima{largest} {}

  GradientPair const* pairs;  ///< [rows]
  /// Maxima of all `pairs`, on the device: kNotFiniteBits or more if one is NaN or infinite. nullptr: nobody has
  /// looked.
  GradientMaxima const* maxima;
};

/// What a tree's random numbers are a function of, beside the row, where its margins are if it computes gradients
/// itself, and the parameter that its format depends on. On the device, because it changes from one tree to the next
/// while their recording stays.
struct TreeDraw {
  std::uint64_t seed;
  std::uint32_t tree;
  std::uint32_t first_row;  ///< number of the device's first row among those of all devices
  float const* margins;     ///< RowLosses::margins
  float min_child_weight;
};

/// Gradients quantised before the format is known, as if it were that of maxima like those of the tree before
/// (early_narrow.cuh). On the device.
struct EarlyGradients {
  NarrowGradient* narrow;         ///< means something if GradientState::foreseen; nullptr: there are none
  GradientMaxima* maxima_before;  ///< 0: there was no tree before, or its format was not narrow

  /// Are there any? The same answer in all kernels of a tree but the last that looks at gradients.
  XGBGPU_HD bool ForeseeNarrow() const {
    return narrow != nullptr && maxima_before->grad != 0 && maxima_before->hess != 0;
  }
};

/// Sums over the early gradients.
struct EarlySums {
  GradientSum narrow;
  GradientSum magnitudes;  ///< sums of the absolute values of what `narrow` sums
  std::int64_t vanishing;  ///< FormatSums::vanishing
};

/// What is known of one tree's gradients, those of all devices from the time on when these have told each other. It
/// lives on the device and is zero before the first kernel.
struct GradientState {
  GradientMaxima maxima;
  FormatSums sums;
  EarlySums early;
  std::uint32_t finished_blocks;
  GradientFormat format;  ///< from here on written by one block
  double grad_scale;      ///< 2^grad_shift
  double hess_scale;
  bool foreseen;  ///< the format is that of the early gradients, and narrow
};

/// Fills *state from the gradients of all rows. Chooses as host::ChooseGradientFormat does. *draw is on the device.
/// Cost  one pass over the gradients from kNarrowMinRows rows on; one if their maxima are not known
void ChooseGradientFormat(DeviceGradients const& gradients, DeviceShard const& shard, TreeDraw const* draw,
                          GradientState* state, DeviceLimits const& limits, cudaStream_t stream);

/// With other devices: tells them the maxima, `own` or those of *state, and what has been summed early. *state then has
/// those of all. `count` and `count_of_all`: DeviceNumbers.
void ShareMaxima(DeviceShard const& shard, GradientMaxima const* own, GradientState* state, cudaStream_t stream,
                 std::uint32_t const* count = nullptr, std::int64_t* count_of_all = nullptr);
/// With other devices: chooses the format from the sums of all of them, unless it was foreseen. rows_of_all: on the
/// device, the rows of a sample; nullptr: all rows.
void FinishFormat(DeviceShard const& shard, std::int64_t const* rows_of_all, TreeDraw const* draw, GradientState* state,
                  DeviceLimits const& limits, cudaStream_t stream);

/// Raises *maxima, on the device, to those of the rows.
void FindLargestGradients(GradientPair const* gradients, std::uint64_t rows, GradientMaxima* maxima,
                          DeviceLimits const& limits, cudaStream_t stream);

/// Gradients of some rows: in the order of their list, or to be looked up by row.
struct SampledGradients {
  RowRecord const* rows;
  GradientPair const* in_order;  ///< or nullptr
  GradientPair const* by_row;
  std::uint32_t const* count;  ///< of the rows, on the device
  std::int64_t const* of_all;  ///< number of such rows of all devices, on the device; nullptr: there is no other device
  EarlyGradients early;

  XGBGPU_HD GradientPair At(std::uint64_t i) const { return in_order != nullptr ? in_order[i] : by_row[rows[i].row]; }
};

/// Does what ChooseGradientFormat does for the first min(*count, most) of the rows, whose maxima *state holds already,
/// those of all devices.
/// Cost  one pass over them, if the format is not foreseen
void ChooseSampleFormat(SampledGradients const& gradients, std::uint64_t most, DeviceShard const& shard,
                        TreeDraw const* draw, GradientState* state, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_GRADIENT_CUDA_H_
