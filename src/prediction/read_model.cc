// Reads the trees of a model into forests.
#include "prediction/read_model.h"

#include <vector>

namespace xgbgpu {

Forest ReadForest(ModelView const& model, Span<float const> rounding_bases) {
  Forest forest;
  std::vector<float> rounded;
  model.visit_trees([&](ModelTree const& tree) {
    TreeArrays arrays = tree.arrays;
    if (!rounding_bases.empty()) {
      float const base = rounding_bases[rounding_bases.size() == 1 ? 0 : tree.output];
      rounded.assign(arrays.threshold_or_leaf.begin(), arrays.threshold_or_leaf.end());
      for (std::size_t n = 0; n < rounded.size(); ++n) {
        if (arrays.left[n] == kNoNode) rounded[n] = (base + rounded[n]) - base;
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
