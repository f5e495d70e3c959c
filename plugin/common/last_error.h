/// XGBoost's last error, set by C functions of ours.
#ifndef XGBGPU_PLUGIN_LAST_ERROR_H_
#define XGBGPU_PLUGIN_LAST_ERROR_H_

#include <dmlc/logging.h>
#include <xgboost/c_api.h>

#include <string>
#include <utility>

#include "boundary.h"

namespace xgbgpu::plugin {

/// XGBoost reports what a callback throws.
inline int ThrowText(DataIterHandle text, XGBCallbackSetData*, DataHolderHandle) {
  throw dmlc::Error{*static_cast<std::string const*>(text)};
}

/// Makes `text` what XGBGetLastError tells, by a C function of XGBoost that fails with it.
inline void SetLastError(std::string text) {
  DMatrixHandle none = nullptr;
  XGDMatrixCreateFromDataIter(&text, ThrowText, nullptr, &none);
}

/// Runs the body of a C function: 0, or -1 if it throws; XGBGetLastError then tells the text. `doing` completes "out of
/// memory while …".
template <typename Body>
int CFunction(char const* doing, Body&& body) {
  try {
    AtBoundary(doing, std::forward<Body>(body));
    return 0;
  } catch (dmlc::Error const& error) {
    SetLastError(error.what());
    return -1;
  }
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_LAST_ERROR_H_
