/// A device-driven tree: the CUDA device chooses the nodes of every level. The host enqueues all levels as one graph
/// and waits once.
#ifndef XGBGPU_TREES_CUDA_DEVICE_DRIVEN_TREE_CUDA_H_
#define XGBGPU_TREES_CUDA_DEVICE_DRIVEN_TREE_CUDA_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "cuda/recorded_graph.h"
#include "tree/tree_shape.h"
#include "trees_cuda/symmetric_nodes_cuda.h"
#include "trees_cuda/tree_growth_cuda.h"
#include "trees_cuda/tree_leaves_cuda.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Returns the key of a recorded tree: if the key differs, the tree is recorded again. `levels`: enqueued.
inline auto MakeGraphKey(TreeParts const& parts, TreeLeaves const& leaves, TreeShape const& shape, int levels) {
  std::uint32_t const open = shape.open ? 1 + shape.most_splits : 0;
  return std::tuple_cat(parts.RecordingKey(), leaves.RecordingKey(), std::tuple{levels, shape.ordered, open});
}
using GraphKey = decltype(MakeGraphKey(std::declval<TreeParts const&>(), std::declval<TreeLeaves const&>(),
                                       std::declval<TreeShape const&>(), 0));

/// The number of levels that are enqueued in one go, for open trees (TreeShape::open): the need of earlier trees.
class LevelForecast {
 public:
  /// Forgets earlier trees, because trees with other limits begin.
  void Forget() {
    likely_ = 0;
    too_deep_ = false;
  }
  int Likely(TreeShape const& shape);
  /// A tree needed `levels` levels at least, and is not finished.
  void Raise(int levels);
  /// A tree is finished, and needed `used` levels.
  void Learn(int used);
  /// A tree was deeper than device-driven trees go. Later trees may be, too.
  void SetTooDeep() { too_deep_ = true; }
  bool too_deep() const { return too_deep_; }

 private:
  int likely_{0};   ///< 0: there was no tree yet
  int shallow_{0};  ///< consecutive trees that needed fewer levels: see GrowthPolicy
  bool too_deep_{false};
};

class DeviceDrivenTree : public TreeGrowth {
 public:
  DeviceDrivenTree(TreeParts* parts, TreeLeaves* leaves) : parts_{*parts}, device_{parts->device}, leaves_{*leaves} {}

  /// Tells whether a tree of `params` would be device-driven.
  bool CanGrow(TrainParams const& params) const;
  /// Tells whether trees of `params` can be grown on a copy of a sample or of columns, in core, where the matrix is in
  /// pages.
  bool CanCopyPages(TrainParams const& params) const;

  void Reserve(SpeculativeMargins const& speculative) override;
  void SetFeatures() override;
  GrowthLimits limits() const override;
  /// Enqueues all of the tree. Rows walk behind it, while the host goes on.
  void Start() override;
  void Grow() override {}
  /// Grows the tree again where memory was short or sums overflowed. Returns false if the tree is deeper than
  /// device-driven trees go.
  bool Finish() override;
  void Discard() override;
  GrownTree Take() override;

  TreeShape const& shape() const { return shape_; }
  int enqueued_levels() const { return enqueued_levels_; }
  LevelForecast& forecast() { return forecast_; }

 private:
  void Wait() const;
  bool SumsOverflowed() const;
  void WaitForTree();
  bool GrowOn();
  void EnqueueLevels(int first, int end);
  void EnqueueTree();
  void EnqueueWalk();

  TreeParts& parts_;
  TreeDevice& device_;
  TreeLeaves& leaves_;
  TreeShape shape_;
  SymmetricNodes symmetric_;
  LevelForecast forecast_;
  int enqueued_levels_{0};
  RecordedGraph graph_;
  std::optional<GraphKey> recorded_;  ///< key of the tree in graph_
  Event returned_;                    ///< the tree is back on the host
  mutable AnswerFor has_memory_;      ///< of CanCopyPages
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_DEVICE_DRIVEN_TREE_CUDA_H_
