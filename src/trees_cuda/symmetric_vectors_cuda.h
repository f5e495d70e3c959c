/// The levels of a symmetric tree of vectors: the CUDA device scores the candidates of a level, the host chooses one,
/// and the device divides all nodes of the level by it. docs/adr/0043-vector-leaves.md
#ifndef XGBGPU_TREES_CUDA_SYMMETRIC_VECTORS_CUDA_H_
#define XGBGPU_TREES_CUDA_SYMMETRIC_VECTORS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "split/level_scores.h"
#include "split/vector_levels_cuda.h"
#include "split/vector_split_cuda.h"
#include "trees_cuda/level_slots_cuda.h"
#include "trees_cuda/symmetric_nodes_cuda.h"
#include "trees_cuda/tree_leaves_cuda.h"
#include "trees_cuda/tree_parts_cuda.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::cuda {

/// Grows trees that VectorTrees has begun: it has chosen formats, and made the gradients and the root. Waits twice a
/// level, as HostDrivenSymmetricTree does. The histograms of all nodes of a level are on the device at the same time.
///
/// Same  bit-equal to host::SymmetricGrowth of vectors
class SymmetricVectors {
 public:
  /// Enqueues the sums of the built children of a number of families at a depth, or of the root.
  using SumLevel = std::function<void(std::uint32_t families, int depth)>;

  /// Both must outlive this object.
  SymmetricVectors(TreeParts* parts, TreeLeaves* leaves);

  /// Makes room for the next tree, but for histograms. Returns the most families of a level.
  std::size_t Reserve(TrainParams const& params, std::uint32_t outputs);
  /// Returns the histograms that the tree takes.
  std::size_t HistogramsFor(TrainParams const& params) const;

  /// Begins the tree. `params` [outputs] have units and min_child_weight; `root`: [outputs]. `train` and `constraints`
  /// must live until Take.
  void Begin(TrainParams const& train, std::vector<SplitParams> params, Constraints const& constraints,
             Span<GradientSum const> root);
  /// Grows the tree. Throws OutOfDeviceMemory if a level has more histograms than there is room for.
  void Grow(VectorSplitView const& view, SumLevel const& sum);
  /// Finds the leaves of all rows, and returns the tree. Waits.
  VectorTree Take();

 private:
  std::uint64_t Divided(int level) const;
  void SortCategories();
  void Accumulate(std::uint32_t families, bool root);
  VectorLevelView UploadLevel();
  LevelSplit FindSplit(VectorLevelView const& level);
  void Divide(VectorLevelView const& level, LevelSplit const& split, SumLevel const& sum);

  TreeParts& parts_;
  TreeDevice& device_;
  TreeLeaves& leaves_;
  SymmetricNodes symmetric_;
  SymmetricTree& tree_;
  LevelScores scores_;
  LevelSlots slots_;
  VectorSplitView view_{};
  Constraints const* constraints_{nullptr};
  float learning_rate_{0};
  std::uint32_t node_chunk_{1};  ///< nodes whose gains fit the memory

  DeviceBuffer<SplitParams> params_;
  DeviceBuffer<NodeInSlot> level_nodes_;
  DeviceBuffer<LevelNode> level_numbers_;
  DeviceBuffer<std::uint8_t> may_divide_;
  DeviceBuffer<LevelFeature> level_categorical_;
  DeviceBuffer<BinIndex> sorted_;
  DeviceBuffer<double> gains_;
  DeviceBuffer<double> device_scores_;
  DeviceBuffer<GradientSum> lefts_;
  // Sources and targets of copies, which stay until the stream has been waited for.
  std::vector<NodeInSlot> host_nodes_;
  std::vector<LevelNode> host_numbers_;
  std::vector<std::uint8_t> host_may_divide_;
  std::vector<LevelFeature> host_categorical_;
  std::vector<GradientSum> host_lefts_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_SYMMETRIC_VECTORS_CUDA_H_
