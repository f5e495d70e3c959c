// Functions in front that train and evaluate: they note which one is running, and the matrices that it was given.
#include <xgboost/c_api.h>

#include "call/call_state.h"
#include "call/matrices_of_call.h"
#include "entry/stock_calls.h"
#include "xgb/c_functions.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgb/registry.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/host_span.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

extern "C" {

XGBGPU_EXPORT int XGBoosterUpdateOneIter(BoosterHandle booster, int iteration, DMatrixHandle data) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterUpdateOneIter);
  HostSpan span{"update"};
  CallScope<&CallState::call> scope{ApiCall::kUpdate};
  MatricesOfCall const matrices{&data, 1};
  return CallStock(booster, [&] { return kNext(booster, iteration, data); });
}

XGBGPU_EXPORT int XGBoosterEvalOneIter(BoosterHandle booster, int iteration, DMatrixHandle data[], char const* names[],
                                       bst_ulong n, char const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterEvalOneIter);
  HostSpan span{"evaluate"};
  DecorateNewcomers();
  CallScope<&CallState::call> scope{ApiCall::kEvaluate};
  CallScope<&CallState::evaluated_matrices> number{n};
  MatricesOfCall const matrices{data, data == nullptr ? 0 : n};
  return CallStock(booster, [&] { return kNext(booster, iteration, data, names, n, out); });
}

XGBGPU_EXPORT int XGBoosterBoostOneIter(BoosterHandle booster, DMatrixHandle data, float* gradients, float* hessians,
                                        bst_ulong n) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterBoostOneIter);
  MatricesOfCall const matrices{&data, 1};
  return CallStock(booster, [&] { return kNext(booster, data, gradients, hessians, n); });
}

XGBGPU_EXPORT int XGBoosterTrainOneIter(BoosterHandle booster, DMatrixHandle data, int iteration, char const* gradients,
                                        char const* hessians) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterTrainOneIter);
  MatricesOfCall const matrices{&data, 1};
  return CallStock(booster, [&] { return kNext(booster, data, iteration, gradients, hessians); });
}

XGBGPU_EXPORT int XGBoosterTrainOneIterWithSplitGrad(BoosterHandle booster, DMatrixHandle data, int iteration,
                                                     char const* split_gradients, char const* split_hessians,
                                                     char const* value_gradients, char const* value_hessians) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterTrainOneIterWithSplitGrad);
  MatricesOfCall const matrices{&data, 1};
  return CallStock(booster, [&] {
    return kNext(booster, data, iteration, split_gradients, split_hessians, value_gradients, value_hessians);
  });
}

XGBGPU_EXPORT int XGBoosterReset(BoosterHandle booster) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterReset);
  int const status = CallStock(booster, [&] { return kNext(booster); });
  DatasetCache::Instance().DropExpired();  // trainings of the booster had the bins of matrices that are gone
  return status;
}

XGBGPU_EXPORT int XGBoosterGetNumFeature(BoosterHandle booster, bst_ulong* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterGetNumFeature);
  return CallStock(booster, [&] { return kNext(booster, out); });
}

XGBGPU_EXPORT int XGBoosterBoostedRounds(BoosterHandle booster, int* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterBoostedRounds);
  return CallStock(booster, [&] { return kNext(booster, out); });
}

}  // extern "C"

}  // namespace xgbgpu::plugin
