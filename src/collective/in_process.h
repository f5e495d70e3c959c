/// Shards that threads of this process hold.
#ifndef XGBGPU_COLLECTIVE_IN_PROCESS_H_
#define XGBGPU_COLLECTIVE_IN_PROCESS_H_

#include <functional>

#include "collective/collective.h"

namespace xgbgpu {

/// Calls work(collective) once for each of `shards` shards, at the same time, each in a thread of its own, and waits
/// for all. A collective lives as long as its call.
///
/// Cost    two meetings of all threads for each call of a collective; each thread adds up its share of the elements, in
///         place
/// Throws  what work threw in the first shard, by number, that failed for a reason of its own. Shards that wait for one
///         that has left get OtherShardFailed
void RunShards(int shards, std::function<void(Collective&)> const& work);

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_IN_PROCESS_H_
