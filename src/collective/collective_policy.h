/// Tuning numbers of several devices. Changing one changes speed and memory, never a model.
#ifndef XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_
#define XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_

#include <cstddef>

namespace xgbgpu {

constexpr int kMostDevices = 16;  ///< that write to each other's memory, in one process or several

struct CollectivePolicy {
  /// Devices search a share of the features each where a histogram, of 16 bytes a cell, has so many bytes or more on two
  /// devices. A level then waits for the winners and for a plan of its own. 128 columns of 256 bins, which have this
  /// size, took 4.03 ms a round with shares on two H200, and 4.49 with whole sums.
  std::size_t least_shared_bytes{std::size_t{1} << 19};
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_COLLECTIVE_POLICY_H_
