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

/// The leaf of every row in the trainer's last tree, which was grown from `gradients`; as ~leaf where the row was not
/// in the tree's sample or has no hessian, as in stock.
std::vector<NodeIndex> LeafPositions(Trainer const& trainer, Span<GradientPair const> gradients);

/// Makes the leaves of `tree` medians (objective/leaf_median.h) of the labels of `info` without `margins`, which are
/// those before the tree. `positions` as LeafPositions gives them. Throws InvalidArgument if there is not one label,
/// one margin and no or one weight for each row.
void AdaptLeaves(Span<NodeIndex const> positions, xgboost::MetaInfo const& info, Span<float const> margins, int threads,
                 xgboost::RegTree* tree);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ADAPT_TREE_H_
