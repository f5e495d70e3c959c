/// Predictions and explanations with a policy other than the default one, for tests.
#ifndef XGBGPU_PREDICTION_WITH_POLICY_H_
#define XGBGPU_PREDICTION_WITH_POLICY_H_

#include "prediction/prediction_policy.h"
#include "xgbgpu/device_prediction.h"
#include "xgbgpu/explanation.h"

namespace xgbgpu {

/// Does what the constructor does, with this policy.
DevicePrediction MakeDevicePrediction(Warn warn, bool rounds_leaves, PredictionPolicy const& policy);

/// Does what the constructor does, with this policy.
Explanation MakeExplanation(Warn warn, PredictionPolicy const& policy);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_WITH_POLICY_H_
