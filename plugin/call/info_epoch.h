/// Counts changes of labels, weights, groups and margins of matrices.
#ifndef XGBGPU_PLUGIN_CALL_INFO_EPOCH_H_
#define XGBGPU_PLUGIN_CALL_INFO_EPOCH_H_

#include "xgbgpu/data_key.h"

namespace xgbgpu::plugin {

/// Counts before and after a call that sets labels, weights, groups or margins, so that no other thread takes old
/// labels for new ones.
class EpochScope {
 public:
  EpochScope();
  ~EpochScope();
  EpochScope(EpochScope const&) = delete;
  EpochScope& operator=(EpochScope const&) = delete;
};

/// Returns a number that changes whenever labels, weights, groups or margins of any matrix may have been set through
/// our functions. Returns no value if this thread's caller may have bypassed our functions.
DataEpoch KnownEpoch();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_CALL_INFO_EPOCH_H_
