// Functions in front that predict from a DMatrix, and from arrays on the host in place.
#include <xgboost/c_api.h>

#include "call/call_state.h"
#include "call/matrices_of_call.h"
#include "data/in_place_arrays.h"
#include "data/plain_array.h"
#include "entry/stock_calls.h"
#include "xgb/c_functions.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

extern "C" {

XGBGPU_EXPORT int XGBoosterPredictFromDMatrix(BoosterHandle booster, DMatrixHandle data, char const* config,
                                              bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromDMatrix);
  MatricesOfCall const matrices{&data, 1};
  return CallStock(booster, [&] { return kNext(booster, data, config, shape, dimensions, out); });
}

XGBGPU_EXPORT int XGBoosterPredict(BoosterHandle booster, DMatrixHandle data, int options, unsigned trees, int training,
                                   bst_ulong* n, float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredict);
  MatricesOfCall const matrices{&data, 1};
  return CallStock(booster, [&] { return kNext(booster, data, options, trees, training, n, out); });
}

XGBGPU_EXPORT int XGBoosterPredictFromDense(BoosterHandle booster, char const* values, char const* config,
                                            DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                            float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  return WithPlainArrays({values}, [&](InPlaceArrays const& arrays) {
    return PredictFromDense(arrays, booster, config, info, shape, dimensions, out);
  });
}

XGBGPU_EXPORT int XGBoosterPredictFromCSR(BoosterHandle booster, char const* indptr, char const* indices,
                                          char const* values, bst_ulong columns, char const* config, DMatrixHandle info,
                                          bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromCSR);
  return WithPlainArrays({values, indptr, indices, columns}, [&](InPlaceArrays const& arrays) {
    CallScope<&CallState::in_place_arrays> scope{
        values == nullptr || indptr == nullptr || indices == nullptr ? nullptr : &arrays};
    MatricesOfCall const matrices{&info, 1};
    return CallStock(booster, [&] {
      return kNext(booster, arrays.indptr, arrays.indices, arrays.values, columns, config, info, shape, dimensions,
                   out);
    });
  });
}

XGBGPU_EXPORT int XGBoosterPredictFromColumnar(BoosterHandle booster, char const* columns, char const* config,
                                               DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                               float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromColumnar);
  InPlaceArrays const arrays = ByColumns(columns);
  CallScope<&CallState::in_place_arrays> scope{columns == nullptr ? nullptr : &arrays};
  MatricesOfCall const matrices{&info, 1};
  return CallStock(booster, [&] { return kNext(booster, columns, config, info, shape, dimensions, out); });
}

}  // extern "C"

}  // namespace xgbgpu::plugin
