// Weighs the rows that several devices divide against the sums that they exchange.
#include "backend/device_policy.h"

#include <algorithm>
#include <cmath>

#include "collective/collective_policy.h"
#include "quantile/quantile_policy.h"
#include "tree/shared_bytes.h"
#include "xgbgpu/device_policy.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

int DevicesWorthWhile(int wanted, WorkShape const& shape) {
  DevicePolicy const policy;
  bool const is_dense =
      static_cast<double>(shape.values) >=
      QuantilePolicy{}.dense_from * static_cast<double>(shape.rows) * static_cast<double>(shape.features);
  int const levels = shape.max_depth > 0 ? std::min(shape.max_depth, 30) : policy.deep_levels;
  double nodes = std::exp2(levels - 1);
  if (shape.max_leaves > 0) nodes = std::min(nodes, 0.5 * shape.max_leaves + levels);
  double const cells = static_cast<double>(shape.features) * shape.max_bin;
  auto const shares = [&](int devices) {
    std::size_t const least = LeastSharedBytes(CollectivePolicy{}.least_shared_bytes, devices);
    // Each needs a tile of the columns.
    return is_dense && shape.may_share && shape.max_bin <= policy.most_shared_bins &&
           shape.features > policy.tile_columns * static_cast<std::uint64_t>(devices - 1) &&
           cells * sizeof(GradientSum) >= static_cast<double>(least);
  };
  double const sums = nodes * cells * shape.outputs * policy.cell_bytes * policy.of_byte;
  double const rows = policy.of_value * static_cast<double>(shape.values) * shape.outputs * levels;
  auto const time = [&](int devices) {
    if (devices == 1) return rows;
    bool const shared = shares(devices);
    double const of_tree = policy.of_tree + (shape.trees > 1 ? policy.of_next_tree : 0.0);
    double const waits = of_tree + (policy.of_level + (shared ? policy.of_winners : 0.0)) * levels;
    return rows / devices + waits + sums * (devices - 1) / (shared ? devices : 1);
  };
  int best = 1;
  for (int devices = 2; devices <= std::min(wanted, kMostDevices); ++devices) {
    if (time(devices) < time(best)) best = devices;
  }
  return best;
}

}  // namespace xgbgpu
