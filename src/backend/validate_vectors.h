/// Parameters that trees of vectors do not have, on any backend.
#ifndef XGBGPU_BACKEND_VALIDATE_VECTORS_H_
#define XGBGPU_BACKEND_VALIDATE_VECTORS_H_

#include "xgbgpu/params.h"

namespace xgbgpu {

/// Throws Unsupported for parameters that trees of vectors do not have: samples by gradients.
void ValidateVectors(TrainParams const& params);

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_VALIDATE_VECTORS_H_
