/// Memory of the search for splits of a growing tree on a device.
#ifndef XGBGPU_SPLIT_SPLIT_WORKSPACE_CUDA_H_
#define XGBGPU_SPLIT_SPLIT_WORKSPACE_CUDA_H_

#include <cstddef>
#include <vector>

#include "cuda/cleared_workspace.h"
#include "matrix/device_matrix.h"
#include "sample/feature_sets_cuda.h"
#include "split/category_sets.h"
#include "split/constraints_cuda.h"
#include "split/split_cuda.h"
#include "split/split_groups.h"

namespace xgbgpu::cuda {

/// Owns the groups of features, the candidates, and the memory for constraints, column samples and categories.
class SplitWorkspace {
 public:
  SplitWorkspace(DeviceMatrix const& matrix, DeviceLimits const& limits, ClearedWorkspace* workspace);

  std::vector<SplitGroup> const& groups() const { return groups_; }
  /// Returns the bytes of the candidates of one node.
  std::size_t candidate_bytes() const { return groups_.size() * sizeof(SplitCandidate); }
  /// Makes room for the candidates of `nodes` nodes of a level, and for the sets of categories of `tree_nodes` nodes.
  void Reserve(std::size_t nodes, std::size_t tree_nodes);
  /// Returns true if the plan of the next level finds the best of each node's candidates. Otherwise the last block of
  /// each node does: with many groups, or with sets of categories to write.
  bool PlanReduces() const { return groups_.size() <= kMostReducedGroups && !categories_.any(); }
  SplitView View(GrowingTree const& tree, DeviceMatrixView const& matrix, DeviceHistograms const& histograms,
                 SplitParams const* params, GradientState const* gradient) const;

  DeviceConstraints& constraints() { return constraints_; }
  DeviceConstraints const& constraints() const { return constraints_; }
  CategorySetWorkspace& categories() { return categories_; }
  CategorySetWorkspace const& categories() const { return categories_; }
  DeviceFeatureSets& features() { return features_; }
  DeviceFeatureSets const& features() const { return features_; }

 private:
  ClearedWorkspace* workspace_;
  std::vector<SplitGroup> groups_;
  std::vector<WarpGroup> warp_groups_;
  DeviceBuffer<SplitGroup> group_array_;
  DeviceBuffer<WarpGroup> warp_group_array_;
  DeviceBuffer<SplitCandidate> candidates_;
  DeviceConstraints constraints_;
  CategorySetWorkspace categories_;
  DeviceFeatureSets features_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_WORKSPACE_CUDA_H_
