/// Stage 3 on a CUDA device: format of the gradients of one tree, chosen where the gradients are.
#ifndef XGBGPU_GRADIENT_GRADIENT_CUDA_H_
#define XGBGPU_GRADIENT_GRADIENT_CUDA_H_

#include <cstdint>

#include "core/device.h"
#include "gradient/gradient.h"

namespace xgbgpu::cuda {

/// What is known of one tree's gradients; lives on the device. Zero before the first kernel.
struct GradientState {
  std::uint32_t grad_max;  ///< MagnitudeBits; kNotFiniteBits or more if a gradient is NaN or infinite
  std::uint32_t hess_max;
  unsigned long long grad_coarse;  ///< sums of CoarseMagnitude
  unsigned long long hess_coarse;
  std::uint32_t finished_blocks;
  GradientFormat format;  ///< from here on written by the last block
  double grad_scale;      ///< 2^grad_shift
  double hess_scale;
};

/// Fills *state from gradients [rows], both on the device. The same choice as host::ChooseGradientFormat.
/// Cost  one pass over the gradients for less than kNarrowMinRows rows, else two
void ChooseGradientFormat(GradientPair const* gradients, std::uint64_t rows, GradientState* state,
                          DeviceLimits const& limits, cudaStream_t stream);

/// MagnitudeBits of the largest gradient and hessian; both zero before.
void FindLargestGradients(GradientPair const* gradients, std::uint64_t rows, std::uint32_t* grad_max,
                          std::uint32_t* hess_max, DeviceLimits const& limits, cudaStream_t stream);

/// Gradients of some rows: in the order of their list, or to be looked up by row.
struct SampledGradients {
  RowRecord const* rows;
  GradientPair const* in_order;  ///< or nullptr
  GradientPair const* by_row;
  std::uint32_t const* count;  ///< of the rows, on the device

  XGBGPU_HD GradientPair At(std::uint64_t i) const { return in_order != nullptr ? in_order[i] : by_row[rows[i].row]; }
};

/// As ChooseGradientFormat, for the first min(*count, most) of the rows, whose maxima *state holds already.
void ChooseSampleFormat(SampledGradients const& gradients, std::uint64_t most, GradientState* state,
                        DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_GRADIENT_CUDA_H_
