/// Trees of histograms on a CUDA device, one after the other on one matrix.
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

/// Grows device-driven trees, or host-driven ones where they are too large for that (growth/choose_shape.h). Symmetric
/// trees that are host-driven grow in a way of their own.
class HistTree {
 public:
  /// The arguments are those of TreeParts.
  HistTree(DeviceMatrix const& matrix, PageStream* pages, DeviceShard const& shard, DeviceArena* arena,
           Stream const& stream, std::size_t histogram_budget);
  ~HistTree();
  HistTree(HistTree const&) = delete;
  HistTree& operator=(HistTree const&) = delete;

  /// Starts a tree, and enqueues all of it if it is device-driven. Throws InvalidArgument (constraints on features
  /// that are not there). Gradients and their maxima are unchanged until Finish. `speculative`: see
  /// margins_are_speculative.
  void Begin(TreeRequest request, DeviceGradients const& gradients, SpeculativeMargins const& speculative = {});
  /// Starts a tree without gradients, if ComputesGradients(params): it computes them from losses, with `pairs` exactly
  /// if rows are not sampled, and, if they are, such that all gradients would be finite. Margins, labels and weights
  /// stay where they are until Finish or Discard. all(): the gradients of all rows, of the same margins, labels and
  /// weights even if these have changed; asked for in Finish, if the tree must be grown again.
  void Begin(TreeRequest request, RowLosses const& losses, std::function<DeviceGradients()> all,
             SpeculativeMargins const& speculative);
  /// Grows a host-driven tree to its end; nothing is left to do for a device-driven one.
  void Grow() { growth_->Grow(); }
  /// Does what Grow does for trees on one stream. Those in pages share the visits of these, if they can.
  static void GrowTogether(std::vector<HistTree*> const& trees);
  /// Instead of Finish: waits until nothing of the tree is under way but rows that walk. Without a timeline.
  void Discard() { growth_->Discard(); }

  struct Result {
    GrownTree tree;
    GradientFormat format;
    bool finite;  ///< false: a gradient is NaN or infinite, and the nodes mean nothing
  };
  /// Waits for the tree; rows may still look for their leaves then, on the stream.
  Result Finish();
  /// Has the finished tree enqueued the margins after it to SpeculativeMargins::to, which are those before it plus the
  /// leaf values that MakeTree tells? If not, what is there means nothing.
  bool margins_are_speculative() const { return leaves_.margins_are_speculative(); }
  /// Returns the constraints that the tree is grown under.
  Constraints const& constraints() const { return parts_.splits.constraints(); }

  /// Tells whether each device searches a share of the features, in trees whose nodes are searched one by one.
  bool deals_features() const { return parts_.splits.deals_features(); }
  /// Would a tree of these parameters be device-driven?
  bool CanGrowDeviceDriven(TrainParams const& params) const;
  /// May a tree of these parameters compute its gradients itself?
  bool ComputesGradients(TrainParams const& params) const;
  /// From the next tree on kernels are fitted to this part of the device. shared: other trees grow at the same time.
  void SetShare(double part, bool shared) {
    parts_.device.limits.processors = std::max(1, static_cast<int>(part * processors_));
    parts_.device.limits.shared = shared;
  }

  /// Says whether trees, from the next one on, grow as they visit the pages together with others (GrowTogether), and
  /// copy no sample.
  void SetTogether(bool together) { together_ = together; }

  /// From the next tree on stages are timed; nullptr ends that.
  void SetTimeline(Timeline* timeline) { parts_.device.timer.SetTimeline(timeline); }
  bool has_timeline() const { return parts_.device.timed(); }
  /// Times work beside trees on the same stream.
  StageTimer const& timer() const { return parts_.device.timer; }

  /// Knows the leaf of every row in the finished tree, and adds leaf values to margins.
  TreeLeaves const& leaves() const { return leaves_; }

 private:
  void BeginOn(TreeRequest request, SpeculativeMargins const& speculative);
  void Start(Constraints constraints);
  TreeSettings Settings(GrowthLimits const& limits) const;
  TreeGrowth* GrowthOf(TrainParams const& params);
  void ReportBytes(Span<Node const> nodes);

  TreeParts parts_;
  TreeLeaves leaves_;
  DeviceDrivenTree device_driven_;
  HostDrivenTree host_driven_;
  HostDrivenSymmetricTree symmetric_;
  TreeGrowth* growth_{&device_driven_};  ///< of the tree that grows now, or has grown last
  int processors_;                       ///< number of processors of the whole device
  std::optional<TrainParams> before_;    ///< parameters of the last tree, which no memory was short for
  SpeculativeMargins speculative_;
  bool together_{false};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_HIST_TREE_CUDA_H_
