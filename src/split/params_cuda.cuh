/// Parameters of splits in the units of a format that the device has chosen.
#ifndef XGBGPU_SPLIT_PARAMS_CUDA_CUH_
#define XGBGPU_SPLIT_PARAMS_CUDA_CUH_

#include "core/fixed_point.h"
#include "split/split.h"

namespace xgbgpu::cuda {

/// Returns `without_units` with the units of the format. Both arguments are on the device.
__device__ inline SplitParams ParamsOf(SplitParams const& without_units, GradientFormat const& format) {
  SplitParams params = without_units;
  params.grad_unit = ScaleByPowerOfTwo(1.0, -format.grad_shift);
  params.hess_unit = ScaleByPowerOfTwo(1.0, -format.hess_shift);
  return params;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_PARAMS_CUDA_CUH_
