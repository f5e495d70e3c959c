/// Tuning numbers of several devices. Changing one changes speed and memory, never a model.
#ifndef XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_
#define XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct CollectivePolicy {
  /// Devices search a share of the features each where a histogram, of 16 bytes a cell, has so many bytes or more. A
  /// level then waits for the winners and for a plan of its own, about 12 µs. On two devices a histogram of this size
  /// saves about 1 µs of sending, and half of the search for its two children's splits; levels of trees of depth 6 to 8
  /// have 10 to 20 of them on average.
  std::size_t least_shared_bytes{std::size_t{1} << 20};
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_
