/// How many devices a training is worth.
#ifndef XGBGPU_DEVICE_POLICY_H_
#define XGBGPU_DEVICE_POLICY_H_

#include <cstdint>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// What a training is about, as far as it is known before data are quantised.
struct WorkShape {
  std::uint64_t values;  ///< that are not missing
  std::uint64_t features;
  std::uint64_t rows;
  int max_bin, max_depth, max_leaves;
  /// True if no feature is categorical and trees are not symmetric: devices may search shares of the features.
  bool may_share{false};
};

/// Returns how many of `wanted` devices, 1 or more, train fastest: more of them divide the rows, but have to tell each
/// other the sums of the nodes that are built, of which a level has half as many as nodes. Where histograms are large,
/// each searches a share of the features (split/split_shares.h). A device sends every other one all of its sums, or those
/// of that one's share alone. There are kMostDevices at most.
XGBGPU_API int DevicesWorthWhile(int wanted, WorkShape const& shape);

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICE_POLICY_H_
