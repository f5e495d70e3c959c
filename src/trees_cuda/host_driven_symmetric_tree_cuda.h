/// A host-driven symmetric tree: the CUDA device scores the candidates of a level, the host chooses one, and the
/// device divides all nodes of the level by it. docs/adr/0022-symmetric-trees.md
#ifndef XGBGPU_TREES_CUDA_HOST_DRIVEN_SYMMETRIC_TREE_CUDA_H_
#define XGBGPU_TREES_CUDA_HOST_DRIVEN_SYMMETRIC_TREE_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "split/level_gains_cuda.h"
#include "split/level_scores.h"
#include "trees_cuda/level_slots_cuda.h"
#include "trees_cuda/symmetric_nodes_cuda.h"
#include "trees_cuda/tree_growth_cuda.h"
#include "trees_cuda/tree_leaves_cuda.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Waits twice a level: for the scores, and for the sums that the chosen split divides nodes into. The histograms of
/// all nodes of a level are on the device at the same time.
class HostDrivenSymmetricTree : public TreeGrowth {
 public:
  HostDrivenSymmetricTree(TreeParts* parts, TreeLeaves* leaves);

  void Reserve(SpeculativeMargins const& speculative) override;
  /// Does nothing: the host chooses splits.
  void SetFeatures() override {}
  GrowthLimits limits() const override { return LimitsOfSymmetric(parts_.request.params); }
  void Start() override { parts_.EnqueueStart(1); }
  /// Throws OutOfDeviceMemory if a level has more histograms than there is room for.
  void Grow() override;
  bool Finish() override;
  void Discard() override { device_.stream.Wait("giving up a tree"); }
  GrownTree Take() override { return {symmetric_.nodes(), symmetric_.weights(), scores_.category_sets()}; }

 private:
  void VisitPages(PageStep const& step, int depth);
  void SumLevel(std::uint32_t families, int depth);
  bool LearnRoot();
  void SortCategories();
  LevelView UploadLevel();
  LevelSplit FindSplit(LevelView const& view);
  void Divide(LevelView const& view, LevelSplit const& split);

  TreeParts& parts_;
  TreeDevice& device_;
  TreeLeaves& leaves_;
  SymmetricNodes symmetric_;
  SymmetricTree& tree_;
  LevelScores scores_;
  LevelSlots slots_;
  std::uint32_t node_chunk_{1};  ///< nodes whose gains fit the memory

  DeviceBuffer<LevelNodeInSlot> level_nodes_;
  DeviceBuffer<LevelFeature> level_features_;
  DeviceBuffer<BinIndex> sorted_;
  DeviceBuffer<double> gains_;
  DeviceBuffer<double> device_scores_;
  DeviceBuffer<GradientSum> lefts_;
  // Sources of copies, which stay until the stream has been waited for.
  std::vector<LevelNodeInSlot> host_nodes_;
  std::vector<LevelFeature> host_features_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_HOST_DRIVEN_SYMMETRIC_TREE_CUDA_H_
