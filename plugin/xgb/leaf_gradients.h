/// Separate gradients of an objective for leaf values.
#ifndef XGBGPU_PLUGIN_XGB_LEAF_GRADIENTS_H_
#define XGBGPU_PLUGIN_XGB_LEAF_GRADIENTS_H_

#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Returns true if leaves and splits have different gradients (split_grad of an objective in Python).
inline bool HasOtherLeafGradients(XgbGradients const& XGBGPU_SINCE_302(gradients)) {
  XGBGPU_SINCE_302(return gradients.HasValueGrad();)
  XGBGPU_BEFORE_302(return false;)
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_LEAF_GRADIENTS_H_
