// Enqueues all levels of a tree as one graph, and grows on where a tree turns out to be deeper or larger.
#include "trees_cuda/device_driven_tree_cuda.h"

#include <algorithm>

#include "gradient/gradient_ops.h"
#include "growth/choose_shape.h"
#include "growth/growth_policy.h"
#include "matrix/page_policy_cuda.h"
#include "partition/partition_policy.h"
#include "trees_cuda/hist_levels_cuda.h"

namespace xgbgpu::cuda {

static_assert(DevicePagePolicy{}.most_copied_tiles == PartitionPolicy{}.most_path_tiles);

int LevelForecast::Likely(TreeShape const& shape) {
  if (likely_ == 0) {
    likely_ = GrowthPolicy{}.more_than_balanced;
    for (std::uint32_t leaves = 1; leaves <= shape.most_splits; leaves *= 2) ++likely_;
  }
  return std::min(likely_, shape.levels);
}

void LevelForecast::Raise(int levels) {
  likely_ = std::max(likely_, std::min(GrowthPolicy{}.most_enqueued_levels, levels));
}

void LevelForecast::Learn(int used) {
  GrowthPolicy const policy;
  shallow_ = used + policy.more_levels < likely_ ? shallow_ + 1 : 0;
  if (shallow_ == policy.shallow_trees) {
    likely_ -= policy.more_levels;
    shallow_ = 0;
  }
}

bool DeviceDrivenTree::CanGrow(TrainParams const& params) const {
  TreeShape const shape = ShapeOf(params, device_.shard.all_rows());
  if (shape.levels == 0 || (forecast_.too_deep() && shape.open)) return false;
  std::size_t const slots = shape.WidestNodes();
  return slots <= parts_.histograms.most_slots() && parts_.splits.CanChoose(params, slots);
}

bool DeviceDrivenTree::CanCopyPages(TrainParams const& params) const {
  bool const copies = params.SamplesRows() || parts_.rows.CopiesColumns(params);
  if (!copies || !CanGrow(params) || !parts_.matrix.view.dense) return false;
  return has_memory_.Answer(params, [&] {
    TreeShape const shape = ShapeOf(params, device_.shard.all_rows());
    std::uint64_t const widest = shape.WidestNodes();
    return parts_.rows.AllDevicesHave(parts_.rows.BytesOfCopy(params) + widest * parts_.histograms.bytes_of_one() +
                                      parts_.splits.BytesFor(params, shape.NodesAfter(shape.levels), widest));
  });
}

void DeviceDrivenTree::Reserve(SpeculativeMargins const& speculative) {
  shape_ = ShapeOf(parts_.request.params, device_.shard.all_rows());
  parts_.rows.ReserveCopy();
  parts_.splits.SearchTree();
  std::size_t const widest = shape_.WidestNodes(), nodes = shape_.NodesAfter(shape_.levels);
  parts_.memory.Reserve(nodes, widest, shape_.ReturnedAfter(shape_.levels));
  parts_.gradients.Reserve();
  parts_.histograms.Reserve(widest, parts_.rows.matrix());
  parts_.splits.ReserveLevels(nodes, widest);
  parts_.order.Reserve(shape_, nodes);
  leaves_.BeginDeviceDriven(shape_, speculative);
  parts_.rows.ReserveLevels(shape_);
}

void DeviceDrivenTree::SetFeatures() {
  parts_.splits.SetFeatures(shape_.WidestNodes(), shape_.levels);
  parts_.rows.TellColumns();
}

GrowthLimits DeviceDrivenTree::limits() const {
  TrainParams const& params = parts_.request.params;
  if (parts_.request.symmetric()) return LimitsOfSymmetric(params);
  return {params.min_split_loss, params.max_depth, shape_.cut ? 0 : params.max_leaves};
}

/// Enqueues levels, and behind them the copy of the nodes to the host.
void DeviceDrivenTree::EnqueueLevels(int first, int end) {
  cuda::EnqueueLevels(parts_, shape_, first, end);
  leaves_.FindUnsampled(parts_.memory.nodes());
  // Every leaf has a row, which bounds the tree. In a symmetric tree every second child may have no row.
  DeviceShard const& shard = device_.shard;
  std::uint64_t const rows = shard.alone() ? parts_.rows.matrix().rows : shard.all_rows();
  std::uint64_t const most = parts_.request.symmetric() ? 2 * rows * static_cast<std::uint64_t>(end) + 1 : 2 * rows - 1;
  auto const most_nodes = static_cast<NodeIndex>(std::min<std::uint64_t>(shape_.ReturnedAfter(end), most));
  parts_.memory.Return(parts_.splits.View(), parts_.Growth(parts_.rows.RootPaths()), most_nodes, leaves_.leaf_values(),
                       leaves_.Numbers(), device_.limits);
}

void DeviceDrivenTree::EnqueueTree() {
  parts_.EnqueueStart(parts_.rows.NeedsClearHistograms() ? parts_.histograms.slots() : 1);
  EnqueueLevels(0, enqueued_levels_);
}

/// Enqueues the tree as a graph, which is recorded when the first tree of its kind comes, or kernel by kernel if it
/// cannot be recorded.
void DeviceDrivenTree::Start() {
  enqueued_levels_ = shape_.open ? forecast_.Likely(shape_) : shape_.levels;
  if (!parts_.CanRecord()) {
    EnqueueTree();
  } else {
    GraphKey const key = MakeGraphKey(parts_, leaves_, shape_, enqueued_levels_);
    if (!graph_.recorded() || recorded_ != key) {
      graph_.Record(device_.stream, [&] { EnqueueTree(); });
      recorded_ = key;
    }
    if (graph_.recorded()) {
      graph_.Start(device_.stream, "starting a tree");
    } else {
      EnqueueTree();  // an error that is ours comes again here
    }
  }
  EnqueueWalk();
}

/// Rows walk behind the event that the host waits for, so the host goes on while they look for their leaves.
void DeviceDrivenTree::EnqueueWalk() {
  returned_.Record(device_.stream);
  leaves_.EnqueueWalk(enqueued_levels_);
}

void DeviceDrivenTree::Wait() const {
  returned_.Wait("growing a tree");
  device_.shard.devices->Check();
}

/// Tells whether the tree is invalid, once for each tree.
bool DeviceDrivenTree::SumsOverflowed() const {
  return device_.shard.devices->SumsOverflowed(parts_.memory.returned().gradient.format.narrow);
}

void DeviceDrivenTree::Discard() {
  Wait();
  SumsOverflowed();
}

void DeviceDrivenTree::WaitForTree() {
  Wait();
  while (SumsOverflowed() || parts_.rows.ReserveMore(parts_.memory.returned(), shape_)) {
    parts_.gradients.UseAll();
    device_.WaitUntilAllHaveMemory();
    Start();
    Wait();
  }
}

/// Enqueues further levels while an open tree grows; false if it is deeper than device-driven trees go.
bool DeviceDrivenTree::GrowOn() {
  if (!shape_.open) return true;
  LevelState const& state = parts_.memory.returned().state;
  while (state.families != 0 && enqueued_levels_ < shape_.possible_levels) {
    if (enqueued_levels_ == shape_.levels) return false;
    int const first = enqueued_levels_;
    enqueued_levels_ = std::min(shape_.levels, first + GrowthPolicy{}.more_levels);
    forecast_.Raise(enqueued_levels_);
    EnqueueLevels(first, enqueued_levels_);
    EnqueueWalk();
    WaitForTree();
  }
  int const of_order = state.families == 0 ? state.depth - 1 : state.depth;
  forecast_.Learn(shape_.ordered ? of_order : parts_.memory.returned_nodes()[state.nodes - 1].depth);
  return true;
}

bool DeviceDrivenTree::Finish() {
  WaitForTree();
  return !IsFinite(parts_.memory.returned().gradient.maxima) || GrowOn();  // else nodes mean nothing
}

GrownTree DeviceDrivenTree::Take() {
  TreeHeader const& header = parts_.memory.returned();
  LevelState const& state = header.state;
  Span<Node const> const made{parts_.memory.returned_nodes(), shape_.ordered ? 2 * state.ordered + 1 : state.nodes};
  GrownTree tree{made, {}, {}};
  if (IsFinite(header.gradient.maxima)) {
    leaves_.FindUncopied();
    if (parts_.request.symmetric()) {
      symmetric_.Begin(parts_, made[0].sum, header.gradient.format);
      symmetric_.tree().Follow(made);
      leaves_.Cut(symmetric_.End(made));
      return {symmetric_.nodes(), symmetric_.weights(), {}};
    }
    tree.nodes = leaves_.TakeTree(made);
  }
  tree.sets = parts_.splits.ReadCategories(state.nodes);
  return tree;
}

}  // namespace xgbgpu::cuda
