/// The engine's trees as XGBoost stores them.
#ifndef XGBGPU_PLUGIN_ADAPT_TREE_H_
#define XGBGPU_PLUGIN_ADAPT_TREE_H_

#include <xgboost/host_device_vector.h>
#include <xgboost/tree_model.h>

#include <vector>

#include "xgbgpu/trainer.h"
#include "xgbgpu/tree.h"

namespace xgbgpu::plugin {

/// Copies `tree` to `out`, a new tree of one node. Node numbers stay the same.
void CopyTree(Tree const& tree, xgboost::RegTree* out);

/// What each leaf adds to the margin, as `tree` has it now (objectives may change leaves); 0 for inner nodes.
std::vector<float> LeafValues(xgboost::RegTree const& tree);

/// The leaf of every row in the trainer's last tree, as ~leaf where the row was not in the tree's sample.
void CopyPositions(Trainer const& trainer, xgboost::HostDeviceVector<xgboost::bst_node_t>* out);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ADAPT_TREE_H_
