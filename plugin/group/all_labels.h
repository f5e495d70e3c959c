/// The labels of all workers, for code of XGBoost that needs all rows. docs/adr/0020-process-groups.md
#ifndef XGBGPU_PLUGIN_GROUP_ALL_LABELS_H_
#define XGBGPU_PLUGIN_GROUP_ALL_LABELS_H_

#include <xgboost/data.h>

#include <cstdint>
#include <memory>

#include "group/process_group.h"

namespace xgbgpu::plugin {

/// Inputs of objectives for the rows of all workers, in the order of ranks.
struct AllLabels {
  std::unique_ptr<xgboost::MetaInfo> info;  ///< labels or bounds, weights, groups of a ranking
  std::uint64_t first_row;                  ///< number of this worker's first row
};

/// Brings the labels of all workers together; `own` are this worker's. All workers call it at the same time.
///
/// Cost    the bytes of all labels, weights and groups on every worker, and messages as long
/// Throws  InvalidArgument on a worker if labels or weights do not fit its rows, or are of another kind than other
///         workers' labels or weights; then OtherShardFailed on the others
AllLabels LabelsOfAll(ProcessGroup* group, xgboost::MetaInfo const& own);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_GROUP_ALL_LABELS_H_
