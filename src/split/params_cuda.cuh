/// Parameters of splits, in the units of a tree whose format was chosen on the device.
#ifndef XGBGPU_SPLIT_PARAMS_CUDA_CUH_
#define XGBGPU_SPLIT_PARAMS_CUDA_CUH_

#include "core/fixed_point.h"
#include "split/split.h"

namespace xgbgpu::cuda {

/// `params` without units, and the format of the tree's gradients; both on the device.
__device__ inline SplitParams ParamsOf(SplitParams const& without_units, GradientFormat const& format) {
  SplitParams params = without_units;
  params.grad_unit = ScaleByPowerOfTwo(1.0, -format.grad_shift);
  params.hess_unit = ScaleByPowerOfTwo(1.0, -format.hess_shift);
  return params;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_PARAMS_CUDA_CUH_
