/// XGBoost's functions that functions of this library, with the same names, stand in front of.
#ifndef XGBGPU_PLUGIN_XGB_NEXT_FUNCTION_H_
#define XGBGPU_PLUGIN_XGB_NEXT_FUNCTION_H_

#include <dlfcn.h>
#include <xgboost/c_api.h>

#include <string>
#include <type_traits>

#include "xgb/last_error.h"

namespace xgbgpu::plugin {

template <typename F>
struct ResultOf;
template <typename Result, typename... Args>
struct ResultOf<Result(Args...)> {
  using Type = Result;
};

/// Fails as the function `name` would, which XGBoost lacks.
template <typename Result>
Result FailWithout(char const* name) {
  Fail(std::string{"This XGBoost has no function "} + name);
  if constexpr (std::is_same_v<Result, bool>) {
    return false;
  } else {
    return Result{-1};
  }
}

/// Returns XGBoost's function of this name, or `otherwise` if it has none. The loader finds it in a library after ours.
/// Where XGBoost was loaded first, we look in the library that has XGBoostVersion, which ours does not export.
template <typename F>
F* NextFunction(char const* name, F* otherwise) {
  void* found = dlsym(RTLD_NEXT, name);
  Dl_info where{};
  if (found == nullptr && dladdr(reinterpret_cast<void*>(&XGBoostVersion), &where) != 0) {
    if (void* const xgboost = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(xgboost, name);
  }
  return found == nullptr ? otherwise : reinterpret_cast<F*>(found);
}

/// Returns XGBoost's function that is declared under this name. If XGBoost lacks it, the function that is returned
/// fails.
#define XGBGPU_NEXT(function)                                                                                  \
  ::xgbgpu::plugin::NextFunction<decltype(function)>(                                                          \
      #function, [](auto...) -> typename ::xgbgpu::plugin::ResultOf<decltype(function)>::Type {                \
        return ::xgbgpu::plugin::FailWithout<::xgbgpu::plugin::ResultOf<decltype(function)>::Type>(#function); \
      })

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_NEXT_FUNCTION_H_
