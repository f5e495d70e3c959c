/// What the tests of the bridge share: small XGBoosts, and the sentence of an error.
#ifndef XGBGPU_TESTS_BRIDGE_FAKES_H_
#define XGBGPU_TESTS_BRIDGE_FAKES_H_

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "bridge/error.h"
#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {

/// The path of a small XGBoost.
inline std::string Fake(std::string const& name) { return std::string{FAKES} + "/libfake_" + name + ".so"; }

inline DlHandle Open(std::string const& path) {
  DlHandle handle{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)};
  EXPECT_NE(handle, nullptr) << dlerror();
  return handle;
}

/// What `body` says when it throws.
template <typename Body>
std::string ErrorOf(Body&& body) {
  try {
    body();
  } catch (BridgeError const& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_TESTS_BRIDGE_FAKES_H_
