// Functions in front that set labels, weights and all else of a matrix but its values.
#include <xgboost/c_api.h>

#include <cstdint>
#include <optional>

#include "call/info_epoch.h"
#include "data/device_arrays.h"
#include "data/in_place_arrays.h"
#include "data/plain_array.h"
#include "errors/fail.h"
#include "xgb/c_functions.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kReadingArray[] = "reading an array on a GPU";

/// Calls set(array), with a copy on the host if the array of n values is on a device.
template <typename T, typename Set>
int WithHostArray(T const* array, bst_ulong n, Set&& set) {
  std::optional<HostArray> host;
  bool const passes = Passes(kReadingArray, [&] { host.emplace(array, n, sizeof(T)); });
  return passes ? set(host ? static_cast<T const*>(host->data()) : array) : -1;
}

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGDMatrixSetInfoFromInterface(DMatrixHandle data, char const* field, char const* array) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixSetInfoFromInterface);
  EpochScope scope;
  std::optional<HostArray> host;
  bool const passes = Passes(kReadingArray, [&] { host.emplace(array); });
  if (!passes) return -1;
  return WithPlainArrays({host ? host->text() : array},
                         [&](InPlaceArrays const& arrays) { return kNext(data, field, arrays.values); });
}

XGBGPU_EXPORT int XGDMatrixSetFloatInfo(DMatrixHandle data, char const* field, float const* array, bst_ulong n) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixSetFloatInfo);
  EpochScope scope;
  return WithHostArray(array, n, [&](float const* host) { return kNext(data, field, host, n); });
}

XGBGPU_EXPORT int XGDMatrixSetUIntInfo(DMatrixHandle data, char const* field, unsigned const* array, bst_ulong n) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixSetUIntInfo);
  EpochScope scope;
  return WithHostArray(array, n, [&](unsigned const* host) { return kNext(data, field, host, n); });
}

XGBGPU_EXPORT int XGDMatrixSetDenseInfo(DMatrixHandle data, char const* field, void const* array, bst_ulong n,
                                        int type) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixSetDenseInfo);
  EpochScope scope;
  auto const set = [&](auto const* host) { return kNext(data, field, host, n, type); };
  switch (type) {  // XGBoost's numbers of types
    case 1:
      return WithHostArray(static_cast<float const*>(array), n, set);
    case 2:
      return WithHostArray(static_cast<double const*>(array), n, set);
    case 3:
      return WithHostArray(static_cast<std::uint32_t const*>(array), n, set);
    case 4:
      return WithHostArray(static_cast<std::uint64_t const*>(array), n, set);
    default:
      return kNext(data, field, array, n, type);
  }
}

XGBGPU_EXPORT int XGDMatrixSetGroup(DMatrixHandle data, unsigned const* group, bst_ulong n) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixSetGroup);
  EpochScope scope;
  return WithHostArray(group, n, [&](unsigned const* host) { return kNext(data, host, n); });
}

}  // extern "C"

}  // namespace xgbgpu::plugin
