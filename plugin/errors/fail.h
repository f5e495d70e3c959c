/// How a C function of ours fails as XGBoost's do.
#ifndef XGBGPU_PLUGIN_ERRORS_FAIL_H_
#define XGBGPU_PLUGIN_ERRORS_FAIL_H_

#include <dmlc/logging.h>

#include <utility>

#include "errors/boundary.h"
#include "xgb/last_error.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

/// Returns false if check() throws, and XGBGetLastError then has the text. `doing` completes "out of memory while …".
template <typename Check>
bool Passes(char const* doing, Check&& check) {
  if (!WhyNotRegistered().empty()) return true;  // another version may have other limits
  try {
    AtBoundary(doing, check);
    return true;
  } catch (dmlc::Error const& error) {
    Fail(error.what());
    return false;
  }
}

/// Runs the body of a C function of ours: 0, or -1 if it throws. `doing` completes "out of memory while …".
template <typename Body>
int Run(char const* doing, Body&& body) {
  if (!WhyNotRegistered().empty()) {
    Fail(WhyNotRegistered());
    return -1;
  }
  return Passes(doing, std::forward<Body>(body)) ? 0 : -1;
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ERRORS_FAIL_H_
