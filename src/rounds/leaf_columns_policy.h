/// The tuned numbers of leaf columns on a device. Results do not depend on them.
#ifndef XGBGPU_ROUNDS_LEAF_COLUMNS_POLICY_H_
#define XGBGPU_ROUNDS_LEAF_COLUMNS_POLICY_H_

#include <cstddef>

namespace xgbgpu::cuda {

struct LeafColumnsPolicy {
  /// Columns that get their memory together: taking it costs some 100 µs and waits for the device.
  std::size_t block{16};
  /// The part of the device's memory that columns leave to trees and metrics.
  double least_free{0.125};
};

constexpr LeafColumnsPolicy kLeafColumnsPolicy{};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_ROUNDS_LEAF_COLUMNS_POLICY_H_
