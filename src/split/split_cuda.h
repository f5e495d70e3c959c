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

/// What the search for splits sees. Arrays are on the device.
struct SplitView {
  GrowingTree tree;
  DeviceMatrixView matrix;
  DeviceHistograms histograms;    ///< those of siblings are made on the way, by subtraction
  SplitParams const* params;      ///< its units are not set
  GradientState const* gradient;  ///< has the units
  SplitGroup const* groups;       ///< [group_count]
  std::uint32_t group_count;
  WarpGroup const* warp_groups;  ///< [warp_group_count] looked at instead of groups, if there are any
  std::uint32_t warp_group_count;
  SplitCandidate* candidates;  ///< [children of the families, group_count]
  FeatureSetsView features;    ///< the features that nodes may be split by
  NodeLimitsView limits;       ///< what constraints leave to each node
  DeviceCategories categories;
  bool all_rows_here{
      true};  ///< is there no other device, so that a node's sums are of the rows that the node has here?
};

constexpr std::size_t kWarpSplitStaticBytes = 8 << 10;  ///< of shared memory at most, beside the cells of the warps

/// Has a block that looks for splits by warps room for the cells of its warps? Not before compute capability 8.0.
bool WarpSplitsFit(DeviceLimits const& limits);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_CUDA_H_
