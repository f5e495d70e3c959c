/// Computes the gradients of a tree on all rows together with their fixed-point form.
#ifndef XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_
#define XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_

#include "gradient/gradient_cuda.h"
#include "objective/objective_cuda.h"

namespace xgbgpu::cuda {

/// The rows of the gradients. Arrays are on the device.
struct LossRows {
  std::uint64_t rows;
  std::uint64_t all_rows;  ///< rows of all devices
  bool alone;              ///< there is one device only
  TreeDraw const* draw;
  GradientState* gradient;
  std::uint8_t* paths;  ///< [rows and up to three more] cleared; nullptr: none
};

/// Computes gradients of the shard's rows, from losses with room for them: early gradients and their format, or, if the
/// prediction fails, pairs. All devices together have at least kNarrowMinRows rows. `paths` is LossRows::paths.
/// Cost  one pass over margins, labels and weights, and 4 bytes a row; a second pass after a wrong prediction
/// Same  bit-equal to gradients of ComputeGradients, quantised by the tree
void QuantiseLosses(DeviceShard const& shard, TreeDraw const* draw, std::uint8_t* paths, RowLosses const& losses,
                    EarlyGradients const& early, GradientState* gradient, DeviceLimits const& limits,
                    cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_QUANTISE_LOSSES_CUDA_H_
