/// The ways in which a tree of histograms grows on a CUDA device.
#ifndef XGBGPU_TREES_CUDA_TREE_GROWTH_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_GROWTH_CUDA_H_

#include "growth/make_tree.h"
#include "predict/predict_cuda.h"
#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

/// The limits of the growth of a tree, beside its splits: members of TreeSettings.
struct GrowthLimits {
  float min_split_loss;
  int max_depth;   ///< 0: there is no limit
  int max_leaves;  ///< 0: there is no limit
};
/// Levels of symmetric trees are limited, and weak ones are cut off by the host.
inline GrowthLimits LimitsOfSymmetric(TrainParams const& params) { return {0.0f, params.SymmetricDepth(), 0}; }

/// One way to grow. HistTree chooses a way for each tree; all ways give the same tree. Calls come in the order of
/// declaration, on TreeParts that know the request.
class TreeGrowth {
 public:
  virtual ~TreeGrowth() = default;

  /// Reserves the memory of the tree.
  virtual void Reserve(SpeculativeMargins const& speculative) = 0;
  /// Tells the device the features of the tree, and reserves the features of nodes, where the device chooses splits.
  virtual void SetFeatures() = 0;
  virtual GrowthLimits limits() const = 0;
  /// Enqueues the part of the tree that needs no wait. The settings have been told.
  virtual void Start() = 0;
  /// Grows the tree to its end.
  virtual void Grow() = 0;
  /// Waits for the tree. Returns false if it cannot be grown in this way.
  virtual bool Finish() = 0;
  /// Gives the tree up, instead of Finish: waits until only rows that walk are under way.
  virtual void Discard() = 0;
  /// Takes the tree, after Finish. It is valid until the next tree begins, and undefined if a gradient is not finite.
  virtual GrownTree Take() = 0;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_GROWTH_CUDA_H_
