/// Where the workers of a process group train.
#ifndef XGBGPU_PLUGIN_GROUP_GROUP_PLACE_H_
#define XGBGPU_PLUGIN_GROUP_GROUP_PLACE_H_

#include <cstdint>

#include "group/process_group.h"
#include "params/plugin_params.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Returns the place of this worker, which has `rows` rows: a GPU, if all workers with rows can train on one together,
/// else the host, where the model is the same. That is so if each of these sees a GPU and no worker has
/// gpu_backend=host; on several hosts, if they have NCCL and no two of them the same GPU. The GPU is gpu_id where that
/// is set, else that of the worker's number among those with rows on its host, so that they have different ones. A
/// worker without rows stands by on its host: Place::with_rows. All workers call it at the same time, with the same
/// parameters but gpu_id.
///
/// Cost    two maxima of a few integers, and if a worker has no rows a sum of one for each worker and a few messages
///         more; the first time, memory is lent to the other workers, or NCCL connects them
/// Throws  Unsupported on workers with gpu_backend=cuda if a GPU cannot be used; then OtherShardFailed on the others
Place PlaceInGroup(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_GROUP_GROUP_PLACE_H_
