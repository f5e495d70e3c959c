/// The number of devices that train fastest.
#ifndef XGBGPU_DEVICE_POLICY_H_
#define XGBGPU_DEVICE_POLICY_H_

#include <cstdint>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// The size of a training, as far as it is known before data are quantised.
struct WorkShape {
  std::uint64_t values;  ///< number of values that are not missing
  std::uint64_t features;
  std::uint64_t rows;
  int max_bin, max_depth, max_leaves;
  /// True if no feature is categorical, and trees are neither symmetric nor of vectors. Devices may then search shares
  /// of the features.
  bool may_share{false};
  std::uint32_t trees{1};    ///< trees of a round; one device grows them at the same time
  std::uint32_t outputs{1};  ///< of a tree of vectors
};

/// Returns the number of devices, 1 to `wanted`, that trains fastest. More devices share the rows, but exchange the
/// sums of the nodes that are built. If histograms are large, each device searches a share of the features, and
/// receives only the sums of its share. Asks for no device.
XGBGPU_API int DevicesWorthWhile(int wanted, WorkShape const& shape);

}  // namespace xgbgpu

#endif  // XGBGPU_DEVICE_POLICY_H_
