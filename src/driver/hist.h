/// The histogram algorithm, for every backend and growth policy.
#ifndef XGBGPU_DRIVER_HIST_H_
#define XGBGPU_DRIVER_HIST_H_

#include "backend/backend.h"

namespace xgbgpu {

/// One tree. Depth-wise growth takes a level per turn of the loop, loss-guided growth one or more of the best nodes.
///
/// From  Mitchell, Adinets, Rao, Frank, "XGBoost: Scalable GPU Accelerated Learning", arXiv:1806.11248, section 2
Tree GrowHistTree(TreeBuilder* builder, TrainParams const& params, Span<GradientPair const> gradients, TreeKey key);

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_HIST_H_
