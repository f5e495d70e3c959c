/// XGBoost's C functions that we stand in front of: each notes something for its thread, then calls XGBoost's own.
#include <dlfcn.h>
#include <xgboost/c_api.h>

#include <atomic>

#include "api_call.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

thread_local ApiCall current_call = ApiCall::kOther;
std::atomic<std::uint64_t> epoch{0};

class CallScope {
 public:
  explicit CallScope(ApiCall call) : outer_{current_call} { current_call = call; }
  ~CallScope() { current_call = outer_; }
  CallScope(CallScope const&) = delete;
  CallScope& operator=(CallScope const&) = delete;

 private:
  ApiCall outer_;
};

/// The function of this name in XGBoost: in a library after ours, or, where XGBoost was loaded first, in the one that
/// has a function which we do not stand in front of.
template <typename F>
F* Next(char const* name) {
  void* found = dlsym(RTLD_NEXT, name);
  Dl_info where{};
  if (found == nullptr && dladdr(reinterpret_cast<void*>(&XGBoostVersion), &where) != 0) {
    if (void* const xgboost = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(xgboost, name);
  }
  return reinterpret_cast<F*>(found);
}

/// Before and after: another thread must not take the old labels for the new ones.
class EpochScope {
 public:
  EpochScope() { ++epoch; }
  ~EpochScope() { ++epoch; }
  EpochScope(EpochScope const&) = delete;
  EpochScope& operator=(EpochScope const&) = delete;
};

}  // namespace

ApiCall CurrentApiCall() { return current_call; }
std::uint64_t MetaInfoEpoch() { return epoch; }

}  // namespace xgbgpu::plugin

using xgbgpu::plugin::ApiCall;
using xgbgpu::plugin::CallScope;
using xgbgpu::plugin::EpochScope;
using xgbgpu::plugin::Next;

extern "C" {

XGBGPU_EXPORT int XGBoosterUpdateOneIter(BoosterHandle booster, int iteration, DMatrixHandle data) {
  static auto* const kNext = Next<decltype(XGBoosterUpdateOneIter)>("XGBoosterUpdateOneIter");
  CallScope scope{ApiCall::kUpdate};
  return kNext(booster, iteration, data);
}

XGBGPU_EXPORT int XGBoosterEvalOneIter(BoosterHandle booster, int iteration, DMatrixHandle data[], char const* names[],
                                       bst_ulong n, char const** out) {
  static auto* const kNext = Next<decltype(XGBoosterEvalOneIter)>("XGBoosterEvalOneIter");
  CallScope scope{ApiCall::kEvaluate};
  return kNext(booster, iteration, data, names, n, out);
}

XGBGPU_EXPORT int XGDMatrixSetInfoFromInterface(DMatrixHandle data, char const* field, char const* array) {
  static auto* const kNext = Next<decltype(XGDMatrixSetInfoFromInterface)>("XGDMatrixSetInfoFromInterface");
  EpochScope scope;
  return kNext(data, field, array);
}

XGBGPU_EXPORT int XGDMatrixSetFloatInfo(DMatrixHandle data, char const* field, float const* array, bst_ulong n) {
  static auto* const kNext = Next<decltype(XGDMatrixSetFloatInfo)>("XGDMatrixSetFloatInfo");
  EpochScope scope;
  return kNext(data, field, array, n);
}

XGBGPU_EXPORT int XGDMatrixSetUIntInfo(DMatrixHandle data, char const* field, unsigned const* array, bst_ulong n) {
  static auto* const kNext = Next<decltype(XGDMatrixSetUIntInfo)>("XGDMatrixSetUIntInfo");
  EpochScope scope;
  return kNext(data, field, array, n);
}

XGBGPU_EXPORT int XGDMatrixSetDenseInfo(DMatrixHandle data, char const* field, void const* array, bst_ulong n,
                                        int type) {
  static auto* const kNext = Next<decltype(XGDMatrixSetDenseInfo)>("XGDMatrixSetDenseInfo");
  EpochScope scope;
  return kNext(data, field, array, n, type);
}

XGBGPU_EXPORT int XGDMatrixSetGroup(DMatrixHandle data, unsigned const* group, bst_ulong n) {
  static auto* const kNext = Next<decltype(XGDMatrixSetGroup)>("XGDMatrixSetGroup");
  EpochScope scope;
  return kNext(data, group, n);
}

}  // extern "C"
