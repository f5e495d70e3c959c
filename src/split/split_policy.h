/// Tuning numbers of the search for splits on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_SPLIT_SPLIT_POLICY_H_
#define XGBGPU_SPLIT_SPLIT_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct SplitPolicy {
  /// The candidates of a level take at most so much memory; deeper trees are grown attended.
  std::size_t most_candidate_bytes{std::size_t{256} << 20};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_SPLIT_POLICY_H_
