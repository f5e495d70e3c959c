/// The gradients of a tree on all rows, computed on the way into fixed point.
#ifndef XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_
#define XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_

#include "gradient/gradient_cuda.h"
#include "objective/objective_cuda.h"

namespace xgbgpu::cuda {

/// The rows whose gradients are computed. Arrays are on the device.
struct LossRows {
  std::uint64_t rows;
  std::uint64_t all_rows;  ///< rows of all devices
  bool alone;              ///< is there no other device?
  TreeDraw const* draw;
  GradientState* gradient;
  std::uint8_t* paths;  ///< [rows and up to three more] cleared on the way; nullptr: there are none
};

/// Gradients of the shard's rows, from losses that have room for them: early ones and their format, or, if that was not
/// foreseen, pairs. All devices together have kNarrowMinRows rows at least. `paths` is LossRows::paths.
/// Cost  one pass over margins, labels and weights, and 4 bytes a row; a second pass if the format was foreseen wrongly
/// Same  bit-equal to gradients that ComputeGradients makes and the tree quantises
void QuantiseLosses(DeviceShard const& shard, TreeDraw const* draw, std::uint8_t* paths, RowLosses const& losses,
                    EarlyGradients const& early, GradientState* gradient, DeviceLimits const& limits,
                    cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_
