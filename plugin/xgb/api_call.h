/// Which of XGBoost's C functions is running on this thread. docs/adr/0008-rounds-on-the-device.md
#ifndef XGBGPU_PLUGIN_XGB_API_CALL_H_
#define XGBGPU_PLUGIN_XGB_API_CALL_H_

#include <cstdint>

#include "xgbgpu/data_key.h"

namespace xgbgpu::plugin {

/// The call is known for callers that reach XGBoost through our functions of the same names (entry/). It is kOther for
/// all others. To know it saves work: results are the same without it.
enum class ApiCall : std::uint8_t {
  kOther,
  kUpdate,    ///< XGBoosterUpdateOneIter: no caller reads margins or gradients
  kEvaluate,  ///< XGBoosterEvalOneIter: no caller reads margins or predictions
};

/// Returns the call that runs on this thread.
ApiCall CurrentApiCall();

/// Returns the number of matrices that the XGBoosterEvalOneIter evaluates which runs on this thread. It is 0 outside of
/// one, and if the caller reached XGBoost past our functions.
std::uint64_t EvaluatedMatrices();

class ValuesOnDevice;  // device_arrays.h

/// The arrays that an in-place prediction was given, in XGBoost's array interface (JSON).
struct InPlaceArrays {
  char const* values;            ///< dense: of two dimensions; CSR: of one
  char const* indptr{nullptr};   ///< null: dense
  char const* indices{nullptr};  ///< CSR only
  std::uint64_t columns{0};      ///< CSR only
  /// The values are on a device; `values` describes room for them on the host. Else null.
  ValuesOnDevice* on_device{nullptr};
};

/// Returns the arrays of the in-place prediction that runs on this thread. Null outside of one, or if the caller
/// reached XGBoost past our functions.
InPlaceArrays const* CurrentInPlaceArrays();

/// Returns a number that changes whenever labels, weights, groups or margins of any matrix may have been set through
/// our functions.
std::uint64_t MetaInfoEpoch();

/// Returns MetaInfoEpoch() for the engine; without a value if the caller may have reached XGBoost past our functions.
inline DataEpoch KnownEpoch() { return CurrentApiCall() == ApiCall::kOther ? DataEpoch{} : DataEpoch{MetaInfoEpoch()}; }

// Functions in front make the scopes below, on the stack, before they call XGBoost's.

/// While it is alive, this call runs on this thread.
class ApiCallScope {
 public:
  /// `matrices`: EvaluatedMatrices().
  explicit ApiCallScope(ApiCall call, std::uint64_t matrices = 0);
  ~ApiCallScope();
  ApiCallScope(ApiCallScope const&) = delete;
  ApiCallScope& operator=(ApiCallScope const&) = delete;

 private:
  ApiCall outer_;
  std::uint64_t outer_matrices_;
};

/// While it is alive, an in-place prediction of `arrays` runs on this thread. Null: arrays that XGBoost is to refuse.
class InPlaceScope {
 public:
  explicit InPlaceScope(InPlaceArrays const* arrays);
  ~InPlaceScope();
  InPlaceScope(InPlaceScope const&) = delete;
  InPlaceScope& operator=(InPlaceScope const&) = delete;

 private:
  InPlaceArrays const* outer_;
};

/// While it is alive, labels, weights, groups or margins of a matrix may change. The epoch changes before and after, so
/// that no other thread takes the old labels for the new ones.
class EpochScope {
 public:
  EpochScope();
  ~EpochScope();
  EpochScope(EpochScope const&) = delete;
  EpochScope& operator=(EpochScope const&) = delete;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_API_CALL_H_
