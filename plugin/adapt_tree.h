/// The engine's trees as XGBoost stores them.
#ifndef XGBGPU_PLUGIN_ADAPT_TREE_H_
#define XGBGPU_PLUGIN_ADAPT_TREE_H_

#include <xgboost/host_device_vector.h>
#include <xgboost/tree_model.h>

#include <vector>

#include "xgbgpu/trainer.h"
#include "xgbgpu/tree.h"

namespace xgbgpu::plugin {

/// Copies `tree`, grown with this learning rate, to `out`, a new tree of one node. Node numbers stay the same. Of a
/// leaf XGBoost notes the weight that the gradients gave it, also if the objective has set another value.
void CopyTree(Tree const& tree, float learning_rate, xgboost::RegTree* out);

/// What each leaf adds to the margin, as `tree` has it now (objectives may change leaves); 0 for inner nodes.
std::vector<float> LeafValues(xgboost::RegTree const& tree);

/// Of an objective with adaptive leaves: throws Unsupported if its medians would be those of rows of which the heavy
/// ones were chosen more often, and counted by their weight once more.
void CheckAdaptiveLeaves(TrainParams const& params, xgboost::MetaInfo const& info);

/// Sets the leaves of `tree` as an objective with adaptive leaves (kAbsoluteError) wants them to be. `positions` as
/// CopyPositions makes them, `margins` without the tree. False if stock code has to do it: it has other numbers of
/// margins. Throws InvalidArgument if there is not one label for each row.
bool AdaptLeaves(xgboost::HostDeviceVector<xgboost::bst_node_t> const& positions, xgboost::MetaInfo const& info,
                 xgboost::HostDeviceVector<float> const& margins, int threads, xgboost::RegTree* tree);

/// The leaf of every row in the trainer's last tree, which was grown from `gradients`; as ~leaf where the row was not
/// in the tree's sample or has no hessian, as in stock.
void CopyPositions(Trainer const& trainer, Span<GradientPair const> gradients,
                   xgboost::HostDeviceVector<xgboost::bst_node_t>* out);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ADAPT_TREE_H_
