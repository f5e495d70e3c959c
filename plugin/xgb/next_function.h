/// XGBoost's functions that functions of this library, with the same names, stand in front of.
#ifndef XGBGPU_PLUGIN_XGB_NEXT_FUNCTION_H_
#define XGBGPU_PLUGIN_XGB_NEXT_FUNCTION_H_

#include <dlfcn.h>
#include <xgboost/c_api.h>

namespace xgbgpu::plugin {

/// Returns XGBoost's function of this name. The loader finds it in a library after ours. Where XGBoost was loaded
/// first, we look in the library that has XGBoostVersion, which ours does not export.
template <typename F>
F* NextFunction(char const* name) {
  void* found = dlsym(RTLD_NEXT, name);
  Dl_info where{};
  if (found == nullptr && dladdr(reinterpret_cast<void*>(&XGBoostVersion), &where) != 0) {
    if (void* const xgboost = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(xgboost, name);
  }
  return reinterpret_cast<F*>(found);
}

/// NextFunction of a function that XGBoost's header declares.
#define XGBGPU_NEXT(function) ::xgbgpu::plugin::NextFunction<decltype(function)>(#function)

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_NEXT_FUNCTION_H_
