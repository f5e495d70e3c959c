/// The functions of XGBoost that those of the same names in this library stand in front of.
#ifndef XGBGPU_PLUGIN_NEXT_FUNCTION_H_
#define XGBGPU_PLUGIN_NEXT_FUNCTION_H_

#include <dlfcn.h>
#include <xgboost/c_api.h>

namespace xgbgpu::plugin {

/// The function of this name in XGBoost: in a library after ours, or, where XGBoost was loaded first, in the one that
/// has a function which we do not stand in front of.
template <typename F>
F* NextFunction(char const* name) {
  void* found = dlsym(RTLD_NEXT, name);
  Dl_info where{};
  if (found == nullptr && dladdr(reinterpret_cast<void*>(&XGBoostVersion), &where) != 0) {
    if (void* const xgboost = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(xgboost, name);
  }
  return reinterpret_cast<F*>(found);
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_NEXT_FUNCTION_H_
