/// Checks that this library and the XGBoost of the process have the same layouts of classes.
#ifndef XGBGPU_PLUGIN_XGB_LAYOUTS_H_
#define XGBGPU_PLUGIN_XGB_LAYOUTS_H_

namespace xgbgpu::plugin {

/// Compares members of matrices, learners, contexts and trees as both sides see them. Registers nothing, and starts no
/// CUDA driver. Throws Unsupported if a member differs. Cost: less than a millisecond.
void CheckLayouts();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_LAYOUTS_H_
