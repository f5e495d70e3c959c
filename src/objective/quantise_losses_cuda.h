/// The gradients of a tree on all rows, computed on the way into fixed point.
#ifndef XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_
#define XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_

#include "gradient/gradient_cuda.h"
#include "objective/objective_cuda.h"

namespace xgbgpu::cuda {

/// The rows whose gradients are computed. Arrays are on the device.
struct LossRows {
  std::uint64_t rows;
  TreeDraw const* draw;
  GradientState* gradient;
  std::uint8_t* paths;  ///< [rows and up to three more] cleared on the way; nullptr: there are none
};

/// Gradients of all rows, of which there are kNarrowMinRows at least, from losses that have room for them: early ones
/// and their format, or, if that was not foreseen, pairs.
/// Cost  one pass over margins, labels and weights, and 4 bytes a row; a second pass if the format was foreseen wrongly
/// Same  bit-equal to gradients that ComputeGradients makes and the tree quantises
void QuantiseLosses(LossRows const& rows_of_tree, RowLosses const& losses, EarlyGradients const& early,
                    DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_
