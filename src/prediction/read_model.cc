// Reads the trees of a model into forests.
#include "prediction/read_model.h"

#include <vector>

namespace xgbgpu {

Forest ReadForest(ModelView const& model, std::optional<float> rounding_base) {
  Forest forest;
  std::vector<float> rounded;
  model.visit_trees([&](ModelTree const& tree) {
    TreeArrays arrays = tree.arrays;
    if (rounding_base) {
      rounded.assign(arrays.threshold_or_leaf.begin(), arrays.threshold_or_leaf.end());
      for (std::size_t n = 0; n < rounded.size(); ++n) {
        if (arrays.left[n] == kNoNode) rounded[n] = (*rounding_base + rounded[n]) - *rounding_base;
      }
      arrays.threshold_or_leaf = rounded;
    }
    forest.Add(arrays, tree.output, tree.weight);
  });
  return forest;
}

PathForest ReadPaths(ModelView const& model) {
  PathForest forest;
  model.visit_trees([&](ModelTree const& tree) { forest.Add(tree.arrays, tree.sum_hess, tree.output, tree.weight); });
  return forest;
}

}  // namespace xgbgpu
