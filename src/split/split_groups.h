/// How the split kernel deals features and bins to its threads.
#ifndef XGBGPU_SPLIT_SPLIT_GROUPS_H_
#define XGBGPU_SPLIT_SPLIT_GROUPS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/types.h"

namespace xgbgpu {
class DeviceMatrix;
}

namespace xgbgpu::cuda {

constexpr int kSplitThreads = 256;  ///< of one item
constexpr int kSplitResident = 2;   ///< blocks of the split kernel on a multiprocessor, at most
constexpr int kSplitBins = 4;  ///< neighbouring bins of a feature that one thread of the split kernel looks at at once

/// Rows of a matrix up to which the split kernel starts early: there a level is little more than its launches.
constexpr std::uint64_t kMostEarlyRows = 1 << 20;

/// Features that one item of the split kernel looks at.
struct SplitGroup {
  FeatureIndex first;
  std::uint16_t features;
  std::uint16_t segments;  ///< threads that share the bins of a feature: a power of two
  bool categorical;        ///< one feature, for the whole block
};

/// Groups of neighbouring features, ascending, never of two tiles.
std::vector<SplitGroup> MakeSplitGroups(DeviceMatrix const& matrix);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_GROUPS_H_
