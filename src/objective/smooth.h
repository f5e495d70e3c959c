/// The scales of losses that all rows decide, on the host.
#ifndef XGBGPU_OBJECTIVE_SMOOTH_H_
#define XGBGPU_OBJECTIVE_SMOOTH_H_

#include <vector>

#include "xgbgpu/collective.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// Returns the labels [rows] of an output. All outputs share one column of labels, or each has its own column.
inline OutputView<float const> LabelsOf(ObjectiveParams const& params, TargetView const& targets, std::uint64_t rows,
                                        std::uint32_t output) {
  bool const is_shared = HasAlphas(params.kind) || targets.labels == nullptr;  // no rows have no labels
  if (is_shared) return {targets.labels, rows, 1, 1, 1};
  return {targets.labels + output, rows, 1, targets.label_columns, 1};
}

namespace host {

/// Returns [outputs] the scale of each output, from the rows of all shards. All shards call it at the same time.
///
/// In      an objective with HasScale; as host::ComputeGradients
/// Cost    two passes over margins and labels; a maximum and a sum over the shards
/// Same    bit-equal on every backend, for any number of threads and any shards
std::vector<float> ScalesOfLoss(ObjectiveParams const& params, TargetView const& targets,
                                OutputView<float const> margins, int threads, Collective& collective);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_SMOOTH_H_
