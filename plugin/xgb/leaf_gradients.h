/// Gradients that an objective gives for leaves alone.
#ifndef XGBGPU_PLUGIN_XGB_LEAF_GRADIENTS_H_
#define XGBGPU_PLUGIN_XGB_LEAF_GRADIENTS_H_

#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Returns true if the gradients of leaves are others than those of splits (split_grad of an objective in Python).
inline bool HasOtherLeafGradients(XgbGradients const& XGBGPU_SINCE_302(gradients)) {
  XGBGPU_SINCE_302(return gradients.HasValueGrad();)
  XGBGPU_BEFORE_302(return false;)
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_LEAF_GRADIENTS_H_
