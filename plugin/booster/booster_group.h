/// What workers of a process group have in common.
#ifndef XGBGPU_PLUGIN_BOOSTER_BOOSTER_GROUP_H_
#define XGBGPU_PLUGIN_BOOSTER_BOOSTER_GROUP_H_

#include <vector>

#include "group/process_group.h"

namespace xgbgpu::plugin {

/// Returns the list that all workers with rows have. A worker without rows (`has_rows` is false) may have none: Dask
/// gives it a matrix that knows nothing of the others'. All workers must call it. Throws InvalidArgument if lists
/// differ.
std::vector<float> OfWorkersWithRows(ProcessGroup* group, bool has_rows, std::vector<float> const& values);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_BOOSTER_GROUP_H_
