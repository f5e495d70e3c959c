#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/grid.h"
#include "core/message.h"
#include "core/stages.h"
#include "gradient/gradient_ops.h"
#include "level/level_cuda.h"
#include "level/level_policy.h"
#include "predict/predict_cuda.h"
#include "sample/sample_ops.h"
#include "split/warp_splits_cuda.h"

namespace xgbgpu::cuda {

LevelBuilder::LevelBuilder(DeviceMatrix const& matrix, DeviceArena* arena, Stream const& stream,
                           std::size_t histogram_budget)
    : matrix_{matrix},
      arena_{arena},
      stream_{stream},
      histogram_budget_{histogram_budget},
      limits_{CurrentDeviceLimits()},
      processors_{limits_.processors},
      groups_{MakeSplitGroups(matrix)},
      paths_{matrix, arena},
      categories_{matrix, static_cast<std::uint32_t>(limits_.processors * kSplitResident), arena},
      feature_sets_{matrix.view.features, arena},
      sample_room_{matrix.view.rows, arena} {
  std::size_t const rows = matrix.view.rows;
  for (DeviceTile const& tile : matrix.tiles) bounds_.symbols = std::max(bounds_.symbols, tile.symbols);
  settings_ = {arena, "state", 1};
  positions_ = {arena, "positions", rows};
  group_array_ = Upload(arena, "state", groups_.data(), groups_.size());
  if (!matrix.view.dense && groups_.size() > kMostReducedGroups && WarpSplitsFit(limits_)) {
    warp_groups_ = MakeWarpGroups(matrix.cuts, groups_.size());
  }
  warp_group_array_ = Upload(arena, "state", warp_groups_.data(), warp_groups_.size());
}

LevelBuilder::~LevelBuilder() {
  cudaStreamSynchronize(stream_);  // nothing may run on the buffers that go
}

bool LevelBuilder::CanRunUnattended(TrainParams const& params) const {
  LevelPolicy const policy;
  TreeShape const shape = ShapeOf(params, matrix_.view.rows);
  if (shape.levels == 0 || (too_deep_ && shape.open)) return false;
  std::size_t const slots = shape.WidestNodes();
  std::size_t const sets = slots * params.interaction_constraints.size() / 2;  // a bit each for four nodes a slot
  return slots * HistogramBytes() <= histogram_budget_ &&
         slots * groups_.size() * sizeof(SplitCandidate) <= policy.most_candidate_bytes &&
         sets <= policy.most_candidate_bytes;
}

bool LevelBuilder::CanUsePaths() const {
  DeviceMatrixView const& m = matrix_.view;
  return SumsFitShared(m, bounds_.symbols, limits_) && m.tiles <= LevelPolicy{}.most_path_tiles;
}

bool LevelBuilder::ComputesGradients(TrainParams const& params) const {
  // Stages are timed one by one.
  return (params.SamplesRows() || matrix_.view.rows >= kNarrowMinRows) && CanRunUnattended(params) && CanUsePaths() &&
         !has_timeline();
}

void LevelBuilder::ReserveUnattended() {
  std::size_t const widest = shape_.WidestNodes(), nodes = shape_.NodesAfter(shape_.levels);
  used_slots_ = static_cast<std::uint32_t>(widest);
  ReserveCleared(&tree_memory_, "nodes", TreeBytes(nodes));
  ReserveCleared(&maxima_before_, "state", 1);
  DropIfOther([&] { return categories_.Reserve(nodes, 0, stream_); });
  if (shape_.cut) ReserveCut(nodes);
  ReserveCleared(&families_, "nodes", widest);
  ReserveCleared(&histograms_, "histograms", widest * matrix_.view.cells);
  ReserveCleared(&candidates_, "split candidates", 2 * widest * groups_.size());
  std::size_t const returned = TreeBytes(shape_.ReturnedAfter(shape_.levels));
  if (walks_ahead_) ReserveCleared(&leaf_values_, "nodes", shape_.ReturnedAfter(shape_.levels));
  if (host_memory_.size() < returned) {
    graph_.Drop();
    host_memory_ = {};
    host_memory_ = PinnedBuffer<std::uint8_t>{returned};
  }
  if (by_paths_) {
    ReservePaths();
  } else {
    ReserveLists();
    ReserveCleared(&move_jobs_, "nodes", widest);
    ReserveCleared(&sum_jobs_, "nodes", widest);
  }
}

void LevelBuilder::ReservePaths() {
  DropIfOther([&] { return paths_.Reserve(shape_, sample_room_.copied(), stream_); });
}

void LevelBuilder::ReserveLists() {
  for (auto& list : lists_) ReserveCleared(&list, "row lists", matrix_.view.rows);
}

DeviceTree LevelBuilder::View() const {
  LevelPolicy const policy;
  DeviceTree tree{};
  tree.matrix = matrix_.view;
  tree.gradients = gradients_.pairs;
  tree.gradient = &HeaderOf(tree_memory_.data())->gradient;
  tree.settings = settings_.data();
  tree.state = &HeaderOf(tree_memory_.data())->state;
  tree.nodes = NodesOf(tree_memory_.data());
  tree.families = families_.data();
  tree.move_jobs = move_jobs_.data();
  tree.sum_jobs = sum_jobs_.data();
  tree.lists[0] = lists_[0].data();
  tree.lists[1] = lists_[1].data();
  tree.positions = positions_.data();
  tree.histograms = histograms_.data();
  tree.groups = group_array_.data();
  tree.group_count = static_cast<std::uint32_t>(groups_.size());
  tree.warp_groups = warp_group_array_.data();
  tree.warp_group_count = static_cast<std::uint32_t>(warp_groups_.size());
  tree.candidates = candidates_.data();
  tree.features = feature_sets_.View();
  tree.limits = constraints_.View();
  tree.categories = categories_.View();
  if (by_paths_) {
    tree.matrix = paths_.matrix();
    tree.paths = paths_.View(Sampled() ? sample_room_.gradients() : gradients_.pairs);
  } else if (Weighted()) {
    tree.gradients = sample_room_.gradients();
  }
  if (unattended_ && shape_.ordered) {
    tree.order = {order_.data(), shape_.most_splits, order_places_.data(), free_slots_.data()};
  }
  auto const part = [&](std::uint64_t rows, std::uint64_t parts, std::uint64_t least, std::uint64_t most) {
    constexpr std::uint64_t kStep = 32;
    std::uint64_t const even = (rows / (parts * static_cast<std::uint64_t>(limits_.processors)) + kStep - 1) / kStep;
    return static_cast<std::uint32_t>(std::min(most, std::max(least, even * kStep)));
  };
  tree.unit_rows = part(tree.matrix.rows * tree.matrix.tiles, 2, policy.least_unit_rows, policy.most_unit_rows);
  tree.item_rows = part(tree.matrix.rows, 64, policy.least_item_rows, policy.most_item_rows);
  return tree;
}

void LevelBuilder::BeginWith(TrainParams const& params, FeatureSampler features, DeviceGradients const& gradients,
                             std::uint32_t tree_number, MarginsAhead const& ahead) {
  Constraints constraints{params, matrix_.view.features};
  if (params.max_depth != params_.max_depth || params.max_leaves != params_.max_leaves) {
    likely_levels_ = 0;
    too_deep_ = false;
  }
  params_ = params;
  features_ = std::move(features);
  gradients_ = gradients;
  tree_number_ = tree_number;
  ahead_ = ahead;
  if (timer_.timeline() != nullptr) timer_.timeline()->BeginTree();
  StartTree(std::move(constraints));
}

void LevelBuilder::StartTree(Constraints constraints) {
  level_ = 0;
  unattended_ = CanRunUnattended(params_);
  shape_ = ShapeOf(params_, matrix_.view.rows);
  by_paths_ = unattended_ && CanUsePaths();
  // Stages are timed one by one.
  walks_ahead_ = ahead_.to != nullptr && by_paths_ && !IsCutLate() && timer_.timeline() == nullptr;
  ReserveSample(RoomForSample(MakeSampleTarget(params_, matrix_.view.rows).expected, matrix_.view.rows));
  unattended_ ? ReserveUnattended() : ReserveAttended();
  constraints_.Set(std::move(constraints), NodeRoom(), arena_, stream_);
  std::size_t const nodes = unattended_ ? shape_.WidestNodes() : 2 * batch_;  // of a level
  DropIfOther([&] { return feature_sets_.Set(*features_, params_.feature_weights, nodes, stream_); });
  host_settings_[0] = {SplitParams{params_, {}},
                       params_.min_split_loss,
                       params_.max_depth == 0 ? std::numeric_limits<int>::max() : params_.max_depth,
                       IsCut() ? 0 : params_.max_leaves,
                       params_.learning_rate,
                       {params_.seed, tree_number_, SampleThreshold(params_.subsample),
                        MakeSampleTarget(params_, matrix_.view.rows), losses_ ? losses_->margins : nullptr},
                       features_->counts()};
  if (unattended_) {
    RunUnattended();
    return;
  }
  growth_.Reset(params_, used_slots_, features_->per_node());
  EnqueueStart();
}

/// Everything before the root's histogram.
void LevelBuilder::EnqueueStart() {
  DeviceTree const tree = View();
  std::size_t const slots = by_paths_ && paths_.NeedsClearHistograms() ? used_slots_ : 1;
  BeginTree(host_settings_.data(), settings_.data(), {tree_memory_.data(), sizeof(Header)}, histograms_.data(),
            slots * matrix_.view.cells, limits_, stream_);
  if (Sampled()) {
    EnqueueSample();
    return;
  }
  EarlyGradients const early = losses_ ? EarlyGradients{paths_.narrow(), maxima_before_.data()} : EarlyGradients{};
  timer_.Run(kGradients, level_, [&] {
    if (losses_) {
      QuantiseLosses(tree, *losses_, early, limits_, stream_);
    } else {
      ChooseGradientFormat(gradients_, matrix_.view.rows, tree.gradient, limits_, stream_);
    }
  });
  timer_.Run(kRoot, level_, [&] {
    if (by_paths_) {
      StartPaths(tree, early, paths_.narrow(), limits_, stream_);
    } else {
      ListRootRows(tree, limits_, stream_);
    }
  });
}

/// From the histograms of level `first` on to the splits of the last level before `end`, and the rows' positions as far
/// as the tree has grown.
void LevelBuilder::EnqueueListLevels(int first, int end) {
  DeviceTree const tree = View();
  LevelBounds bounds = bounds_;
  for (level_ = first; level_ < end;) {
    bounds.families = level_ == 0 ? 1 : shape_.Split(level_ - 1);
    bounds.keeps = level_ + 1 < shape_.possible_levels;
    timer_.Run(kSum, level_, [&] { SumRows(tree, bounds, limits_, stream_); });
    timer_.Run(kSplit, level_, [&] { FindSplits(tree, bounds, NextLevel::kLists, {}, limits_, stream_); });
    bounds.families = shape_.Split(level_);
    ++level_;
    LevelKind const kind = level_ == shape_.possible_levels ? LevelKind::kFinal : LevelKind::kInner;
    timer_.Run(kMove, level_, [&] { MoveRows(tree, bounds, kind, limits_, stream_); });
  }
  EnqueueUnsampled(tree.nodes);
}

/// The same, whatever way rows go, and the tree, as far as it has grown, to the host.
void LevelBuilder::EnqueueLevels(int first, int end) {
  DeviceTree const tree = View();
  if (by_paths_) {
    paths_.EnqueueLevels(tree, shape_, first, end, bounds_, timer_, limits_, stream_);
  } else {
    EnqueueListLevels(first, end);
  }
  // Every leaf has a row, and no tree is larger than it may be.
  auto const most_nodes =
      static_cast<NodeIndex>(std::min<std::size_t>(shape_.ReturnedAfter(end), 2 * matrix_.view.rows - 1));
  TreeMemory const memory{tree_memory_.data(), sizeof(Header)};
  float* const values = walks_ahead_ ? leaf_values_.data() : nullptr;
  if (shape_.ordered) {
    TreeNumbers const by_lists{nullptr, nullptr, nullptr, 0, leaf_of_node_.data()};
    ReturnOrderedTree(tree, memory, by_paths_ ? paths_.Numbers() : by_lists, most_nodes, values, host_memory_.data(),
                      limits_, stream_);
  } else {
    ReturnTree(tree, memory, most_nodes, values, host_memory_.data(), limits_, stream_);
  }
}

void LevelBuilder::EnqueueTree() {
  EnqueueStart();
  EnqueueLevels(0, enqueued_levels_);
}

void LevelBuilder::RunUnattended() {
  enqueued_levels_ = shape_.open ? LikelyLevels() : shape_.levels;
  LaunchTree();
  EnqueueWalk();
}

/// After the tree, for which the host waits: it then goes on while rows look for their leaves.
void LevelBuilder::EnqueueWalk() {
  returned_.Record(stream_);
  if (walks_ahead_) {
    AddLeavesOfAll(matrix_.view, WalkOfTree(), leaf_values_.data(), ahead_.from, ahead_.to, 1, limits_, stream_);
  } else if (by_paths_ && !Sampled()) {
    WriteLeaves();
  }
}

/// Enqueues a whole tree: as a graph, which is recorded when the first tree of its kind comes, or, if it cannot be
/// recorded, kernel by kernel. With a timeline there are events between the stages, and no graph.
void LevelBuilder::LaunchTree() {
  if (timer_.timeline() != nullptr) {
    EnqueueTree();
    return;
  }
  GraphKey const key{params_.max_depth,
                     enqueued_levels_,
                     shape_.ordered,
                     shape_.open ? 1 + shape_.most_splits : 0,
                     Sampled(),
                     Weighted(),
                     by_paths_,
                     walks_ahead_,
                     limits_.shared,
                     feature_sets_.View(),
                     sample_room_.copied(),
                     used_slots_,
                     gradients_.pairs,
                     gradients_.maxima,
                     losses_.has_value(),
                     losses_ ? losses_->objective : ObjectiveParams{},
                     losses_ ? losses_->labels : nullptr,
                     losses_ ? losses_->weights : nullptr,
                     limits_.processors,
                     constraints_.View()};
  auto const fields = [](GraphKey const& k) {
    return std::tie(k.max_depth, k.levels, k.ordered, k.open, k.sampled, k.weighted, k.by_paths, k.walks_ahead,
                    k.shared, k.features, k.sample_room, k.slots, k.gradients, k.maxima, k.computes, k.objective,
                    k.labels, k.weights, k.processors, k.limits);
  };
  if (!graph_.recorded() || !(fields(key) == fields(graph_key_))) {
    graph_.Record(stream_, [&] { EnqueueTree(); });
    graph_key_ = key;
  }
  if (graph_.recorded()) {
    graph_.Start(stream_, "starting a tree");
  } else {
    EnqueueTree();  // an error that is ours comes again here
  }
}

void LevelBuilder::BuildRoot() {
  if (unattended_) return;  // the whole tree is enqueued
  bounds_.families = 1;
  DeviceTree const tree = View();
  timer_.Run(kSum, level_, [&] { SumRows(tree, bounds_, limits_, stream_); });
  timer_.Run(kSplit, level_, [&] { FindSplits(tree, bounds_, NextLevel::kByHost, {}, limits_, stream_); });
  LearnBack(0, 1);
}

void LevelBuilder::EnqueueUnsampled(Node const* nodes) {
  if (Sampled()) FindLeaves(matrix_.view, nodes, categories_.View(), positions_.data(), limits_, stream_);
}

/// By paths: true if memory was short that has been found now, so that the tree must be grown again.
bool LevelBuilder::MakeRoomForTree() {
  Header const& header = *HeaderOf(host_memory_.data());
  bool const sample = Sampled() && header.sample.rows > sample_room_.copied();
  if (!sample && header.state.no_room == 0) return false;
  stream_.Wait("growing a tree");  // nobody looks for leaves any more
  if (sample) {
    ReserveSample(header.sample.rows);
  } else {
    paths_.SetMoveWide(true);  // the first tree of the wide format on moved rows
  }
  try {
    ReservePaths();
  } catch (OutOfDeviceMemory const&) {
    if (!sample) paths_.SetMoveWide(false);  // narrow trees still fit
    throw;
  }
  return true;
}

/// The tree is grown again: from now on on gradients of all rows.
void LevelBuilder::UseAllGradients() {
  if (!losses_) return;
  gradients_ = all_gradients_();
  losses_.reset();
}

/// Unattended: waits for what is enqueued; if it lacked memory, for the tree from its start.
void LevelBuilder::WaitForTree() {
  returned_.Wait("growing a tree");
  while (by_paths_ && MakeRoomForTree()) {
    UseAllGradients();
    RunUnattended();
    returned_.Wait("growing a tree");
  }
}

LevelBuilder::Result LevelBuilder::Finish() {
  Result result{};
  auto const is_finite = [&] {
    GradientMaxima const& maxima = HeaderOf(host_memory_.data())->gradient.maxima;
    return maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
  };
  std::size_t made = 0;  // nodes, of which sets have the numbers
  if (unattended_) {
    WaitForTree();
    if (is_finite() && !GrowOn()) GrowAttended();  // else nodes mean nothing
  }
  if (unattended_) {
    LevelState const& state = HeaderOf(host_memory_.data())->state;
    made = state.nodes;
    result.nodes = {NodesOf(host_memory_.data()), shape_.ordered ? 2 * state.ordered + 1 : made};
    if (IsCut() && is_finite()) result.nodes = TakeTree(result.nodes);
  } else {
    EnqueuePositions();
    CopyToHost(host_memory_.data(), tree_memory_.data(), sizeof(Header), stream_, "reading the tree");
    stream_.Wait("growing a tree");
    made = growth_.made().size();
    result.nodes = growth_.tree();
  }
  if (categories_.any()) result.sets = categories_.Read(made, stream_);
  if (timer_.timeline() != nullptr) {
    stream_.Wait("tracing");
    timer_.timeline()->Resolve();
    ReportBytes(result.nodes);
  }
  result.format = HeaderOf(host_memory_.data())->gradient.format;
  result.finite = is_finite();
  return result;
}

}  // namespace xgbgpu::cuda
