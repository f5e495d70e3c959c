// Functions in front that predict from a DMatrix, and from arrays on the host in place.
#include <xgboost/c_api.h>

#include "data/plain_array.h"
#include "entry/stock_calls.h"
#include "xgb/api_call.h"
#include "xgb/next_function.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

extern "C" {

XGBGPU_EXPORT int XGBoosterPredictFromDMatrix(BoosterHandle booster, DMatrixHandle data, char const* config,
                                              bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromDMatrix);
  return WithAdvice(booster, kNext(booster, data, config, shape, dimensions, out));
}

XGBGPU_EXPORT int XGBoosterPredictFromDense(BoosterHandle booster, char const* values, char const* config,
                                            DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                            float const** out) {
  return WithPlainArrays({values}, [&](InPlaceArrays const& arrays) {
    return PredictFromDense(arrays, booster, config, info, shape, dimensions, out);
  });
}

XGBGPU_EXPORT int XGBoosterPredictFromCSR(BoosterHandle booster, char const* indptr, char const* indices,
                                          char const* values, bst_ulong columns, char const* config, DMatrixHandle info,
                                          bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = XGBGPU_NEXT(XGBoosterPredictFromCSR);
  return WithPlainArrays({values, indptr, indices, columns}, [&](InPlaceArrays const& arrays) {
    CallScope<&CallState::in_place_arrays> scope{
        values == nullptr || indptr == nullptr || indices == nullptr ? nullptr : &arrays};
    return WithAdvice(booster, kNext(booster, arrays.indptr, arrays.indices, arrays.values, columns, config, info,
                                     shape, dimensions, out));
  });
}

}  // extern "C"

}  // namespace xgbgpu::plugin
