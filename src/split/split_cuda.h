/// Stage 7 on a CUDA device: the best split of every node of a level.
#ifndef XGBGPU_SPLIT_SPLIT_CUDA_H_
#define XGBGPU_SPLIT_SPLIT_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "matrix/device_matrix.h"
#include "sample/feature_sets_cuda.h"
#include "split/category_sets.h"
#include "split/constraints_cuda.h"
#include "split/split.h"
#include "split/split_groups.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// The input and output of the search for splits. Arrays are on the device.
struct SplitView {
  GrowingTree tree;
  DeviceMatrixView matrix;
  DeviceHistograms histograms;    ///< the search makes siblings' histograms by subtraction
  SplitParams const* params;      ///< units are not set
  GradientState const* gradient;  ///< has the units
  SplitGroup const* groups;       ///< [group_count]
  std::uint32_t group_count;
  WarpGroup const* warp_groups;  ///< [warp_group_count] searched instead of groups, if there are any
  std::uint32_t warp_group_count;
  SplitCandidate* candidates;  ///< [children of the families, group_count]
  FeatureSetsView features;    ///< the features that nodes may be split by
  NodeLimitsView limits;       ///< limits of constraints on each node
  DeviceCategories categories;
  bool all_rows_here{true};  ///< one device only: a node's sums are over its rows on this device
};

constexpr std::size_t kWarpSplitStaticBytes = 8 << 10;  ///< most static shared memory, beside the cells of the warps

/// Returns true if a block that finds splits by warps has room for its warps' cells: from compute capability 8.0 on.
bool WarpSplitsFit(DeviceLimits const& limits);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_CUDA_H_
