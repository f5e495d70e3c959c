/// Which of XGBoost's C functions is running on this thread. docs/adr/0008-rounds-on-the-device.md
#ifndef XGBGPU_PLUGIN_XGB_API_CALL_H_
#define XGBGPU_PLUGIN_XGB_API_CALL_H_

#include <xgboost/c_api.h>

#include <cstdint>

#include "xgbgpu/data_key.h"

namespace xgbgpu::plugin {

/// The call is known for callers that reach XGBoost through our functions of the same names (api_hooks.cc); kOther for
/// all others. It saves work: results are the same without it.
enum class ApiCall : std::uint8_t {
  kOther,
  kUpdate,    ///< XGBoosterUpdateOneIter: nobody outside reads margins or gradients
  kEvaluate,  ///< XGBoosterEvalOneIter: nobody outside reads margins or predictions
};

ApiCall CurrentApiCall();

/// How many matrices the XGBoosterEvalOneIter that runs on this thread evaluates; 0 outside of one, and if the caller
/// reached XGBoost past our functions.
std::uint64_t EvaluatedMatrices();

class ValuesOnDevice;  // device_arrays.h

/// What an in-place prediction was given, in XGBoost's array interface (JSON).
struct InPlaceArrays {
  char const* values;            ///< dense: of two dimensions; CSR: of one
  char const* indptr{nullptr};   ///< null: dense
  char const* indices{nullptr};  ///< CSR only
  std::uint64_t columns{0};      ///< CSR only
  /// The values are on a device; `values` describes room for them on the host. Else null.
  ValuesOnDevice* on_device{nullptr};
};

/// The arrays of the in-place prediction that runs on this thread; null outside of one, or if the caller reached
/// XGBoost past our functions.
InPlaceArrays const* CurrentInPlaceArrays();

/// XGBoost's XGBoosterPredictFromDense for arrays.values, with `arrays` as those of this thread meanwhile.
int PredictFromDense(InPlaceArrays const& arrays, BoosterHandle booster, char const* config, DMatrixHandle info,
                     bst_ulong const** shape, bst_ulong* dimensions, float const** out);

/// Changes whenever labels, weights, groups or margins of any matrix may have been set through our functions.
std::uint64_t MetaInfoEpoch();

/// MetaInfoEpoch() for the engine; without a value if the caller may have reached XGBoost past our functions.
inline DataEpoch KnownEpoch() { return CurrentApiCall() == ApiCall::kOther ? DataEpoch{} : DataEpoch{MetaInfoEpoch()}; }

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_API_CALL_H_
