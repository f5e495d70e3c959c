/// Gradients of the ranking objectives on the host: host::ComputeGradients for ranking.
#ifndef XGBGPU_OBJECTIVE_RANK_H_
#define XGBGPU_OBJECTIVE_RANK_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/objective.h"

namespace xgbgpu::host {

void ComputeRankGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          OutputView<GradientPair> gradients, int threads, Collective& collective,
                          std::vector<std::int64_t>* losses);

}  // namespace xgbgpu::host

#endif  // XGBGPU_OBJECTIVE_RANK_H_
