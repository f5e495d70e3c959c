/// Memory of the search for splits of a growing tree on a device.
#ifndef XGBGPU_SPLIT_SPLIT_WORKSPACE_CUDA_H_
#define XGBGPU_SPLIT_SPLIT_WORKSPACE_CUDA_H_

#include <cstddef>
#include <vector>

#include "cuda/cleared_workspace.h"
#include "matrix/device_matrix.h"
#include "sample/column_copy_cuda.h"
#include "sample/feature_sets_cuda.h"
#include "split/category_sets.h"
#include "split/constraints_cuda.h"
#include "split/split_cuda.h"
#include "split/split_groups.h"

namespace xgbgpu::cuda {

/// Groups of columns, on the host and on the device.
struct SplitGroups {
  std::vector<SplitGroup> list;
  DeviceBuffer<SplitGroup> array;
};

/// Owns the groups of features, the candidates, and the memory for constraints, column samples and categories.
class SplitWorkspace {
 public:
  SplitWorkspace(DeviceMatrix const& matrix, DeviceLimits const& limits, ClearedWorkspace* workspace);

  /// The next trees are searched in a copy of some columns; null: in the whole matrix.
  void SetColumns(ColumnCopy const* columns);
  /// Returns the groups that are searched.
  std::vector<SplitGroup> const& groups() const { return searched().list; }
  /// Returns the bytes of the candidates of one node of the whole matrix.
  std::size_t candidate_bytes() const { return whole_.list.size() * sizeof(SplitCandidate); }
  /// Makes room for the candidates of `nodes` nodes of a level, and for the sets of categories of `tree_nodes` nodes.
  void Reserve(std::size_t nodes, std::size_t tree_nodes);
  /// Returns true if the plan of the next level finds the best of each node's candidates. Otherwise the last block of
  /// each node does: with many groups, or with sets of categories to write.
  bool PlanReduces() const { return groups().size() <= kMostReducedGroups && !categories_.any(); }
  SplitView View(GrowingTree const& tree, DeviceMatrixView const& matrix, DeviceHistograms const& histograms,
                 SplitParams const* params, GradientState const* gradient) const;

  DeviceConstraints& constraints() { return constraints_; }
  DeviceConstraints const& constraints() const { return constraints_; }
  CategorySetWorkspace& categories() { return categories_; }
  CategorySetWorkspace const& categories() const { return categories_; }
  DeviceFeatureSets& features() { return features_; }
  DeviceFeatureSets const& features() const { return features_; }

 private:
  SplitGroups const& searched() const { return columns_ == 0 ? whole_ : of_copy_; }

  ClearedWorkspace* workspace_;
  Cuts const& cuts_;
  SplitGroups whole_;
  SplitGroups of_copy_;
  FeatureIndex columns_{0};  ///< of the copy that is searched; 0: the whole matrix is
  FeatureIndex grouped_{0};  ///< columns of of_copy_
  std::vector<WarpGroup> warp_groups_;
  DeviceBuffer<WarpGroup> warp_group_array_;
  DeviceBuffer<SplitCandidate> candidates_;
  DeviceConstraints constraints_;
  CategorySetWorkspace categories_;
  DeviceFeatureSets features_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_SPLIT_WORKSPACE_CUDA_H_
