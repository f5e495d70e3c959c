/// Settings that the host copies to a device for one tree.
#ifndef XGBGPU_GROWTH_TREE_SETTINGS_H_
#define XGBGPU_GROWTH_TREE_SETTINGS_H_

#include "sample/feature_ops.h"
#include "sample/sample_cuda.h"
#include "split/split.h"

namespace xgbgpu::cuda {

/// Parameters of one tree, uploaded before it starts.
struct TreeSettings {
  SplitParams split;  ///< without units: the format is chosen on the device
  float min_split_loss;
  int max_depth;
  int max_leaves;
  float learning_rate;
  SampleDraw draw;  ///< its seed and tree also decide rounding and features
  FeatureCounts features;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_TREE_SETTINGS_H_
