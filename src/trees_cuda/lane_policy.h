/// Tuning numbers of trees that grow at the same time. They change speed and memory, never a tree.
#ifndef XGBGPU_TREES_CUDA_LANE_POLICY_H_
#define XGBGPU_TREES_CUDA_LANE_POLICY_H_

#include <cstdint>

namespace xgbgpu {

struct LanePolicy {
  /// The most trees of a round that grow at the same time; 1: one at a time. A device takes kernels from eight streams
  /// at a time. Work on more streams starts without the host.
  std::uint32_t most_lanes{16};
  /// The most rows of all trees in flight. One tree of this size keeps a device busy alone.
  std::uint64_t most_rows{std::uint64_t{8} << 20};
  /// A lane is made while at least this part of the device's memory is free.
  double least_free{0.5};
  /// The kernels of one of n lanes are fitted to share / n of the device, at most to the whole device. Lanes are seldom
  /// at the same kernel. Fewer blocks leave fewer partial histograms to merge.
  double share{2};
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_CUDA_LANE_POLICY_H_
