/// Where the workers of a process group train.
#ifndef XGBGPU_PLUGIN_GROUP_GROUP_PLACE_H_
#define XGBGPU_PLUGIN_GROUP_GROUP_PLACE_H_

#include <cstdint>

#include "group/process_group.h"
#include "params/plugin_params.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Returns the place of this worker, which has `rows` rows: a GPU if all workers with rows can train on GPUs together,
/// else the host. The model is the same. Each worker with rows must see a GPU, and no worker may have gpu_backend=host.
/// On several hosts the workers need NCCL, and a GPU each. The GPU is gpu_id if it is set. Otherwise workers with rows
/// are numbered on each host, and their number chooses the GPU: workers of a host get different GPUs. A worker without
/// rows stands by on its host: Place::with_rows. All workers call it at the same time, with the same parameters but
/// gpu_id.
///
/// Cost    two maxima of a few integers; if a worker has no rows, also a sum of one integer for each worker and a few
///         messages; the first time, memory is lent to the other workers, or NCCL connects them
/// Throws  Unsupported on workers with gpu_backend=cuda if a GPU cannot be used; then OtherShardFailed on the others
Place PlaceInGroup(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_GROUP_GROUP_PLACE_H_
