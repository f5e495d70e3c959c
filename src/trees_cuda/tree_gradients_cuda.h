/// The gradients that a tree is grown on.
#ifndef XGBGPU_TREES_CUDA_TREE_GRADIENTS_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_GRADIENTS_CUDA_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>

#include "gradient/gradient_cuda.h"
#include "objective/objective_cuda.h"
#include "trees_cuda/tree_device_cuda.h"

namespace xgbgpu::cuda {

/// Gradients of all rows, or losses from which the tree computes its gradients.
class TreeGradients {
 public:
  explicit TreeGradients(TreeDevice* device) : device_{*device} {}

  /// The next tree gets `gradients`.
  void Set(DeviceGradients const& gradients) {
    gradients_ = gradients;
    losses_.reset();
  }
  /// The next tree computes its gradients from `losses`. all(): the gradients of all rows, should they be needed.
  void Set(RowLosses const& losses, std::function<DeviceGradients()> all) {
    gradients_ = {losses.pairs};
    losses_ = losses;
    all_ = std::move(all);
  }
  /// From now on the tree is grown on gradients of all rows.
  void UseAll() {
    if (!losses_) return;
    gradients_ = all_();
    losses_.reset();
  }

  /// Reserves the maxima of the last tree. A format is predicted from them.
  void Reserve() { device_.workspace.Reserve(&maxima_before_, "state", 1); }

  DeviceGradients const& all_rows() const { return gradients_; }
  RowLosses const* losses() const { return losses_ ? &*losses_ : nullptr; }
  /// TreeDraw::margins
  float const* margins() const { return losses_ ? losses_->margins : nullptr; }

  /// Returns where early gradients go, if `narrow` has memory for them.
  EarlyGradients EarlyTo(NarrowGradient* narrow) const { return {narrow, maxima_before_.data()}; }
  /// Returns the early gradients of a tree on all rows: there are none unless the tree computes its gradients.
  EarlyGradients EarlyOfAll(NarrowGradient* narrow) const { return losses_ ? EarlyTo(narrow) : EarlyGradients{}; }

  /// Enqueues the format of the gradients of all rows. With losses it computes the gradients first, and clears `paths`
  /// on the way (LossRows::paths).
  void EnqueueFormat(TreeDraw const* draw, std::uint8_t* paths, NarrowGradient* narrow, GradientState* state) const;

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const {
    return std::tuple{gradients_.pairs,
                      gradients_.maxima,
                      losses_.has_value(),
                      losses_ ? losses_->objective : ObjectiveParams{},
                      losses_ ? losses_->labels : nullptr,
                      losses_ ? losses_->weights : nullptr};
  }

 private:
  TreeDevice& device_;
  DeviceGradients gradients_;
  std::optional<RowLosses> losses_;
  std::function<DeviceGradients()> all_;
  DeviceBuffer<GradientMaxima> maxima_before_;  ///< EarlyGradients::maxima_before
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_GRADIENTS_CUDA_H_
