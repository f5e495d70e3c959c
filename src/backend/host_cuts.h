/// Cuts of a data set, found by the host.
#ifndef XGBGPU_BACKEND_HOST_CUTS_H_
#define XGBGPU_BACKEND_HOST_CUTS_H_

#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/dataset.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// The way to find cuts.
struct CutRule {
  int max_bin;                ///< most bins of a column; 0: every distinct value is the lower end of a bin
  Span<float const> weights;  ///< [rows] or empty
};

/// Returns true if the rows of a dataset are in several shards.
inline bool IsSharded(Place const& place) { return place.shards != nullptr && place.shards->shards() > 1; }

/// Returns the communicator of all shards.
inline Collective& ShardsOf(Place const& place) { return place.shards != nullptr ? *place.shards : NoOtherShards(); }

/// Finds the cuts of the rows of all shards of `place`. All shards call it at the same time and get the same cuts.
///
/// Memory  as host::ComputeCuts, within place.memory.training_bytes if that is at least 32 MiB
/// Throws  as host::ComputeCuts and host::CutsFromBinEdges; OutOfHostMemory
Cuts FindCutsOnHost(RowSource const& source, CutRule const& rule, Place const& place, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_HOST_CUTS_H_
