/// Tuning numbers of the search for splits on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_SPLIT_SPLIT_POLICY_H_
#define XGBGPU_SPLIT_SPLIT_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct SplitPolicy {
  /// The candidates of a level take at most so much memory; deeper trees are host-driven.
  std::size_t most_candidate_bytes{std::size_t{256} << 20};
  /// The gains of a symmetric tree's level are found for as many nodes at a time as fit into so much memory: that of a
  /// second-level cache.
  std::size_t most_gain_bytes{std::size_t{32} << 20};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SPLIT_POLICY_H_
