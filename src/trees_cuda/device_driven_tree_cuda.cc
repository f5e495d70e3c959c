#include "trees_cuda/device_driven_tree_cuda.h"

#include <algorithm>
#include <tuple>

#include "gradient/gradient_ops.h"
#include "growth/choose_shape.h"
#include "growth/growth_policy.h"
#include "matrix/page_policy_cuda.h"
#include "partition/partition_policy.h"
#include "sample/sample_ops.h"
#include "sample/sample_policy.h"
#include "split/split_policy.h"
#include "trees_cuda/hist_levels_cuda.h"

namespace xgbgpu::cuda {

static_assert(DevicePagePolicy{}.most_copied_tiles == PartitionPolicy{}.most_path_tiles);

bool operator==(GraphKey const& a, GraphKey const& b) {
  auto const fields = [](GraphKey const& k) {
    return std::tie(k.memory, k.max_depth, k.levels, k.ordered, k.open, k.sampled, k.weighted, k.by_paths,
                    k.walks_speculatively, k.shared, k.symmetric, k.level_features, k.features, k.sample_workspace,
                    k.slots, k.gradients, k.maxima, k.computes, k.objective, k.labels, k.weights, k.processors,
                    k.limits);
  };
  return fields(a) == fields(b);
}

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
  TreeShape const shape = ShapeOf(params, parts_.shard.all_rows());
  if (shape.levels == 0 || (forecast_.too_deep() && shape.open)) return false;
  bool const symmetric = params.grow_policy == GrowPolicy::kSymmetric;
  if (symmetric && parts_.splits.categories().any()) return false;  // the host sorts categories
  SplitPolicy const policy;
  std::size_t const slots = shape.WidestNodes();
  std::size_t const sets = slots * params.interaction_constraints.size() / 2;  // a bit each for four nodes a slot
  return slots <= parts_.histograms.most_slots() &&
         (symmetric || slots * parts_.splits.candidate_bytes() <= policy.most_candidate_bytes) &&
         sets <= policy.most_candidate_bytes;
}

bool DeviceDrivenTree::CanCopySample(TrainParams const& params) const {
  if (!params.SamplesRows() || !CanGrow(params) || !parts_.matrix.view.dense) return false;
  TrainParams asked = params;  // but for what changes from round to round and takes no memory
  asked.learning_rate = 0;
  asked.seed = 0;
  if (sample_of_ && *sample_of_ == asked) return has_room_for_sample_;
  TreeShape const shape = ShapeOf(params, parts_.shard.all_rows());
  std::uint64_t const widest = shape.WidestNodes();
  std::uint64_t const search = params.grow_policy == GrowPolicy::kSymmetric
                                   ? parts_.level_search.BytesFor(shape.NodesAfter(shape.levels), widest)
                                   : 2 * widest * parts_.splits.candidate_bytes();
  std::uint64_t const bytes = BytesOfSample(params, shape) + widest * parts_.histograms.bytes_of_one() + search;
  has_room_for_sample_ = !parts_.AnyDevice(bytes > parts_.page_stream->room());
  sample_of_ = asked;
  return has_room_for_sample_;
}

/// Returns about how many bytes are taken by the copy of a sample, and by what tells where its rows are.
std::uint64_t DeviceDrivenTree::BytesOfSample(TrainParams const& params, TreeShape const& shape) const {
  DeviceMatrixView const& m = parts_.matrix.view;
  std::uint64_t const bins = m.tiles * m.record_bytes();
  std::uint64_t row_bytes = bins + sizeof(RowRecord) + sizeof(GradientPair);
  if (CanUsePaths()) {
    auto const moves = static_cast<std::uint64_t>(std::min(2, (shape.levels - 1) / PartitionPolicy{}.move_every));
    row_bytes += moves * bins + (1 + moves) * sizeof(NarrowGradient) + 3;
  } else {
    row_bytes += 2 * sizeof(RowRecord);
  }
  bool const has_keys = params.sampling_method != SamplingMethod::kUniform;
  return parts_.LikelySample(params) * row_bytes + (has_keys ? KeyCapacity(m.rows) * sizeof(std::uint16_t) : 0);
}

bool DeviceDrivenTree::CanUsePaths() const {
  return SumsFitShared(parts_.matrix.view, parts_.symbols, parts_.limits) &&
         parts_.matrix.view.tiles <= PartitionPolicy{}.most_path_tiles;
}

void DeviceDrivenTree::Reserve(SpeculativeMargins const& speculative) {
  shape_ = ShapeOf(parts_.params, parts_.shard.all_rows());
  parts_.by_paths = CanUsePaths();
  parts_.copies_sample = parts_.sampled() && (parts_.by_paths || parts_.page_stream != nullptr);
  parts_.ReserveSample(parts_.LikelySample(parts_.params));
  std::size_t const widest = shape_.WidestNodes(), nodes = shape_.NodesAfter(shape_.levels);
  parts_.memory.Reserve(nodes, widest, shape_.ReturnedAfter(shape_.levels));
  parts_.workspace.Reserve(&parts_.maxima_before, "state", 1);
  parts_.histograms.Reserve(widest);
  parts_.splits.Reserve(parts_.symmetric() ? 0 : 2 * widest, nodes);
  if (parts_.symmetric()) parts_.level_search.Reserve(nodes, widest);
  parts_.order.Reserve(shape_, nodes);
  leaves_.BeginDeviceDriven(shape_, speculative);
  ReserveRows();
}

void DeviceDrivenTree::SetFeatures() {
  FeatureSampler const& features = *parts_.features;
  parts_.workspace.Note([&] {
    return parts_.symmetric() ? parts_.level_search.SetFeatures(features, shape_.levels)
                              : parts_.splits.features().Set(features, parts_.params.feature_weights,
                                                             shape_.WidestNodes(), parts_.stream);
  });
}

GrowthLimits DeviceDrivenTree::limits() const {
  TrainParams const& params = parts_.params;
  if (parts_.symmetric()) return LimitsOfSymmetric(params);
  return {params.min_split_loss, params.max_depth, shape_.cut ? 0 : params.max_leaves};
}

void DeviceDrivenTree::ReserveRows() {
  if (parts_.by_paths) {
    parts_.paths.Reserve(shape_, parts_.tree_matrix());
  } else {
    std::size_t const widest = shape_.WidestNodes();
    parts_.lists.Reserve(parts_.tree_matrix().rows, widest, widest);
  }
}

/// Enqueues levels, and behind them the copy to the host of the tree as far as it has grown.
void DeviceDrivenTree::EnqueueLevels(int first, int end) {
  cuda::EnqueueLevels(parts_, shape_, first, end);
  if (!parts_.by_paths) leaves_.FindUnsampled(parts_.memory.nodes());
  // Every leaf has a row, and no tree is larger than it may be. Of a symmetric tree every second child may have none.
  std::uint64_t const rows = parts_.shard.alone() ? parts_.tree_matrix().rows : parts_.shard.all_rows();
  std::uint64_t const most = parts_.symmetric() ? 2 * rows * static_cast<std::uint64_t>(end) + 1 : 2 * rows - 1;
  auto const most_nodes = static_cast<NodeIndex>(std::min<std::uint64_t>(shape_.ReturnedAfter(end), most));
  GrowthView const growth = parts_.Growth(parts_.by_paths ? parts_.RootPaths() : RowPaths{});
  parts_.memory.Return(parts_.Split(), growth, most_nodes, leaves_.leaf_values(), leaves_.Numbers(), parts_.limits);
}

void DeviceDrivenTree::EnqueueTree() {
  bool const all = parts_.by_paths && parts_.paths.NeedsClearHistograms();
  parts_.EnqueueStart(all ? parts_.histograms.slots() : 1);
  EnqueueLevels(0, enqueued_levels_);
}

GraphKey DeviceDrivenTree::Key() const {
  std::optional<RowLosses> const& losses = parts_.losses;
  return {parts_.workspace.version(),
          parts_.params.max_depth,
          enqueued_levels_,
          shape_.ordered,
          shape_.open ? 1 + shape_.most_splits : 0,
          parts_.sampled(),
          parts_.weighted(),
          parts_.by_paths,
          leaves_.margins_are_speculative(),
          parts_.limits.shared,
          parts_.symmetric(),
          parts_.level_search.features(),
          parts_.splits.features().View(),
          parts_.sample_workspace.copied(),
          parts_.histograms.slots(),
          parts_.gradients.pairs,
          parts_.gradients.maxima,
          losses.has_value(),
          losses ? losses->objective : ObjectiveParams{},
          losses ? losses->labels : nullptr,
          losses ? losses->weights : nullptr,
          parts_.limits.processors,
          parts_.splits.constraints().View()};
}

/// The tree is enqueued as a graph, which is recorded when the first tree of its kind comes, or, if it cannot be
/// recorded, kernel by kernel. With a timeline there are events between the stages, and no graph; nor are there graphs
/// of trees whose sample is copied out of pages, or where the devices' collective cannot be recorded.
void DeviceDrivenTree::Start() {
  enqueued_levels_ = shape_.open ? forecast_.Likely(shape_) : shape_.levels;
  if (parts_.timed() || parts_.page_stream || !parts_.shard.devices->recordable()) {
    EnqueueTree();
  } else {
    GraphKey const key = Key();
    if (!graph_.recorded() || !(key == recorded_)) {
      graph_.Record(parts_.stream, [&] { EnqueueTree(); });
      recorded_ = key;
    }
    if (graph_.recorded()) {
      graph_.Start(parts_.stream, "starting a tree");
    } else {
      EnqueueTree();  // an error that is ours comes again here
    }
  }
  EnqueueWalk();
}

/// The host waits for what is enqueued before this: it then goes on while rows look for their leaves.
void DeviceDrivenTree::EnqueueWalk() {
  returned_.Record(parts_.stream);
  leaves_.EnqueueWalk(enqueued_levels_);
}

/// Makes room if memory was short for rows that are copied or go by paths, on this or another device. Returns true if it
/// has, so that the tree must be grown again.
bool DeviceDrivenTree::MakeRoom() {
  TreeHeader const& header = parts_.memory.returned();
  bool sample = parts_.sampled() && header.sample.rows > parts_.sample_workspace.copied();
  bool moves = header.state.no_room != 0;
  // Otherwise no device can be short of room: all have the same format.
  if (parts_.sampled() || !header.gradient.format.narrow) {
    sample = parts_.AnyDevice(sample);
    moves = parts_.AnyDevice(moves);
  }
  if (!sample && !moves) return false;
  parts_.stream.Wait("growing a tree");  // nobody looks for leaves any more
  if (sample) {
    parts_.ReserveSample(std::max(header.sample.rows, parts_.sample_workspace.copied()));
  } else {
    parts_.paths.SetMoveWide(true);  // the first tree of the wide format on moved rows
  }
  try {
    ReserveRows();
  } catch (OutOfDeviceMemory const&) {
    if (!sample) parts_.paths.SetMoveWide(false);  // narrow trees still fit
    throw;
  }
  return true;
}

void DeviceDrivenTree::Wait() const {
  returned_.Wait("growing a tree");
  parts_.shard.devices->Check();
}

void DeviceDrivenTree::WaitForTree() {
  Wait();
  while ((parts_.by_paths || parts_.copies_sample) && MakeRoom()) {
    parts_.UseAllGradients();
    parts_.WaitUntilAllHaveRoom();
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
    if (parts_.symmetric()) {
      symmetric_.Begin(parts_, made[0].sum, header.gradient.format);
      symmetric_.tree().Follow(made);
      leaves_.Cut(symmetric_.End(made));
      return {symmetric_.nodes(), symmetric_.weights(), {}};
    }
    tree.nodes = leaves_.TakeTree(made);
  }
  if (parts_.splits.categories().any()) tree.sets = parts_.splits.categories().Read(state.nodes, parts_.stream);
  return tree;
}

}  // namespace xgbgpu::cuda
