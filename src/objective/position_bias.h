/// Position biases of LambdaRank from round to round.
#ifndef XGBGPU_OBJECTIVE_POSITION_BIAS_H_
#define XGBGPU_OBJECTIVE_POSITION_BIAS_H_

#include "objective/position_bias_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// Returns the biases in host memory, or none without is_unbiased.
BiasView ViewBiases(ObjectiveParams const& params);

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_POSITION_BIAS_H_
