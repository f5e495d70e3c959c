/// The ways in which a tree of histograms grows on a CUDA device.
#ifndef XGBGPU_TREES_CUDA_TREE_GROWTH_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_GROWTH_CUDA_H_

#include "growth/make_tree.h"
#include "predict/predict_cuda.h"
#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

/// What ends the growth of a tree, beside its splits: members of TreeSettings.
struct GrowthLimits {
  float min_split_loss;
  int max_depth;   ///< 0: there is no limit
  int max_leaves;  ///< 0: there is no limit
};
/// Levels of symmetric trees are limited, and weak ones are cut off by the host.
inline GrowthLimits LimitsOfSymmetric(TrainParams const& params) { return {0.0f, params.SymmetricDepth(), 0}; }

/// One of these ways. HistTree chooses one for each tree; the tree is the same whichever it is. The calls come in this
/// order, all of them on TreeParts that have been told the parameters of the tree.
class TreeGrowth {
 public:
  virtual ~TreeGrowth() = default;

  /// Makes room for the tree.
  virtual void Reserve(SpeculativeMargins const& speculative) = 0;
  /// Tells the device the tree's features, where the device chooses splits, and makes room for those of nodes.
  virtual void SetFeatures() = 0;
  virtual GrowthLimits limits() const = 0;
  /// Enqueues the tree, as far as that can be done without waiting, when its settings are told.
  virtual void Start() = 0;
  /// Grows the tree to its end.
  virtual void Grow() = 0;
  /// Waits for the tree. False: it cannot be grown in this way.
  virtual bool Finish() = 0;
  /// Instead of Finish: waits until nothing of the tree is under way but rows that walk.
  virtual void Discard() = 0;
  /// Takes the tree, after Finish. It is valid until the next tree begins. Its nodes mean nothing if a gradient is not finite.
  virtual GrownTree Take() = 0;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_GROWTH_CUDA_H_
