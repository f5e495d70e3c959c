/// Cuts of a data set, found by the host.
#ifndef XGBGPU_BACKEND_HOST_CUTS_H_
#define XGBGPU_BACKEND_HOST_CUTS_H_

#include "quantile/cut_request.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/dataset.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Returns true if the rows of a dataset are in several shards.
inline bool IsSharded(Place const& place) { return place.shards != nullptr && place.shards->shards() > 1; }

/// Returns the communicator of all shards.
inline Collective& ShardsOf(Place const& place) { return place.shards != nullptr ? *place.shards : NoOtherShards(); }

/// Finds the cuts of the rows of all shards of `place`. All shards call it at the same time and get the same cuts.
///
/// Memory  as host::ComputeCuts, within place.memory.training_bytes if that is at least 32 MiB
/// Throws  as host::ComputeCuts and host::CutsFromBinEdges; OutOfHostMemory
Cuts FindCutsOnHost(RowSource const& source, CutRequest const& wanted, Place const& place, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_HOST_CUTS_H_
