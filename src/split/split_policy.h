/// Tuning numbers of the search for splits on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_SPLIT_SPLIT_POLICY_H_
#define XGBGPU_SPLIT_SPLIT_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct SplitPolicy {
  /// Most memory of a level's candidates; deeper trees grow host-driven.
  std::size_t most_candidate_bytes{std::size_t{256} << 20};
  /// Memory for gains of a symmetric tree's level: the size of a second-level cache. It bounds the nodes whose gains
  /// are computed at a time.
  std::size_t most_gain_bytes{std::size_t{32} << 20};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SPLIT_POLICY_H_
