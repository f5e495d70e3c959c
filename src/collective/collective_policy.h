/// Tuning numbers of several devices. Changing one changes speed and memory, never a model.
#ifndef XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_
#define XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_

#include <cstddef>

namespace xgbgpu {

constexpr int kMostDevices = 16;  ///< most devices that write to each other's memory, in one process or several

struct CollectivePolicy {
  /// Least bytes of a histogram, 16 bytes a cell, from which two devices each search a share of the features. Shares
  /// make a level wait for the winners and for a plan of its own. With 128 columns of 256 bins, which have this size, a
  /// round took 4.03 ms with shares on two H200, and 4.49 ms with whole sums.
  std::size_t least_shared_bytes{std::size_t{1} << 19};
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_
