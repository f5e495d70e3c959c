/// Trees of histograms on a CUDA device, one at a time, on one matrix.
#ifndef XGBGPU_TREES_CUDA_HIST_TREE_CUDA_H_
#define XGBGPU_TREES_CUDA_HIST_TREE_CUDA_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "split/category_split.h"
#include "trees_cuda/device_driven_tree_cuda.h"
#include "trees_cuda/host_driven_symmetric_tree_cuda.h"
#include "trees_cuda/host_driven_tree_cuda.h"
#include "trees_cuda/tree_growth_cuda.h"
#include "trees_cuda/tree_leaves_cuda.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

/// Grows device-driven trees. Trees that are too large for that are host-driven (growth/choose_shape.h), and
/// host-driven symmetric trees have a class of their own.
class HistTree {
 public:
  /// The arguments are the arguments of TreeParts.
  HistTree(DeviceMatrix const& matrix, PageStream* pages, ColumnLists* lists, DeviceShard const& shard,
           DeviceArena* arena, Stream const& stream, std::size_t histogram_budget);
  ~HistTree();
  HistTree(HistTree const&) = delete;
  HistTree& operator=(HistTree const&) = delete;

  /// Starts a tree, and enqueues all of it if it is device-driven. Throws InvalidArgument (constraints on features
  /// that are not there). Gradients and their maxima are unchanged until Finish. `speculative`: see
  /// margins_are_speculative.
  void Begin(TreeRequest request, DeviceGradients const& gradients, SpeculativeMargins const& speculative = {});
  /// Starts a tree that computes its gradients from losses. ComputesGradients(params) must hold. `losses.pairs` is set
  /// exactly if rows are not sampled; if they are, all gradients must be finite. Margins, labels and weights stay where
  /// they are until Finish or Discard. all(): the gradients of all rows, by the margins, labels and weights of this
  /// call. Finish calls it if the tree must be grown again.
  void Begin(TreeRequest request, RowLosses const& losses, std::function<DeviceGradients()> all,
             SpeculativeMargins const& speculative);
  /// Grows a host-driven tree to its end; nothing is left to do for a device-driven one.
  void Grow() { growth_->Grow(); }
  /// Grow for several trees on one stream. Trees in pages share the visits of the pages, if they can.
  static void GrowTogether(std::vector<HistTree*> const& trees);
  /// Gives the tree up, instead of Finish: waits until only rows that walk are under way. Without a timeline.
  void Discard() { growth_->Discard(); }

  struct Result {
    GrownTree tree;
    GradientFormat format;
    bool finite;  ///< false: a gradient is NaN or infinite, and the nodes mean nothing
  };
  /// Waits for the tree; rows may still look for their leaves then, on the stream.
  Result Finish();
  /// Tells whether SpeculativeMargins::to are the margins after the finished tree: the margins before it plus the leaf
  /// values that MakeTree gives. Otherwise SpeculativeMargins::to is undefined.
  bool margins_are_speculative() const { return leaves_.margins_are_speculative(); }
  /// Returns the constraints that the tree is grown under.
  Constraints const& constraints() const { return parts_.splits.constraints(); }

  /// Tells whether each device searches a share of the features, in trees with a search for each node.
  bool deals_features() const { return parts_.splits.deals_features(); }
  /// Tells whether a tree of `params` would be device-driven.
  bool CanGrowDeviceDriven(TrainParams const& params) const;
  /// Tells whether a tree of `params` may compute its gradients itself.
  bool ComputesGradients(TrainParams const& params) const;
  /// From the next tree on kernels are fitted to `part` of the device. shared: other trees grow at the same time.
  void SetShare(double part, bool shared) {
    parts_.device.limits.processors = std::max(1, static_cast<int>(part * processors_));
    parts_.device.limits.shared = shared;
  }

  /// Says whether trees, from the next one on, visit the pages together with other trees (GrowTogether), and copy no
  /// sample.
  void SetTogether(bool together) { together_ = together; }

  /// From the next tree on stages are timed; nullptr ends that.
  void SetTimeline(Timeline* timeline) { parts_.device.timer.SetTimeline(timeline); }
  bool has_timeline() const { return parts_.device.timed(); }
  /// Times work beside trees on the same stream.
  StageTimer const& timer() const { return parts_.device.timer; }

  /// The leaves of all rows in the finished tree.
  TreeLeaves const& leaves() const { return leaves_; }

 private:
  void BeginOn(TreeRequest request, SpeculativeMargins const& speculative);
  void Start(Constraints constraints);
  TreeGrowth* GrowthOf(TrainParams const& params);
  void ReportBytes(Span<Node const> nodes);

  TreeParts parts_;
  TreeLeaves leaves_;
  DeviceDrivenTree device_driven_;
  HostDrivenTree host_driven_;
  HostDrivenSymmetricTree symmetric_;
  TreeGrowth* growth_{&device_driven_};  ///< of the tree that grows now, or has grown last
  int processors_;                       ///< number of processors of the whole device
  std::optional<TrainParams> before_;    ///< parameters of the last tree, if its memory was reserved
  SpeculativeMargins speculative_;
  bool together_{false};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_HIST_TREE_CUDA_H_
