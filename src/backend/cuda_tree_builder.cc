#include "backend/cuda_tree_builder.h"

#include <algorithm>
#include <utility>

#include "core/message.h"
#include "core/parallel.h"
#include "gradient/gradient.h"
#include "level/stages.h"
#include "objective/leaf_median.h"
#include "predict/predict.h"
#include "tree/leaf.h"

namespace xgbgpu {

namespace {
constexpr std::size_t kGrain = 1 << 14;  // rows per task
}

CudaTreeBuilder::CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads, LanePolicy const& lanes)
    : matrix_{std::move(matrix)}, threads_{threads}, policy_{lanes}, device_{matrix_->device} {
  lanes_.push_back(std::make_unique<TreeLane>(*matrix_, &arena_, &stream_, histogram_budget_));
  last_ = lanes_[0].get();
  device_.Leave();
}

CudaTreeBuilder::~CudaTreeBuilder() {
  try {
    device_.Enter();
    EndTrace();
  } catch (DeviceError const&) {
    // A device that has failed, or a forked process that has none: nothing is left to be freed there.
  }
}

void CudaTreeBuilder::Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  std::size_t const rows = matrix_->view.rows;
  if (gradients.size() != rows) {
    Throw<InvalidArgument>("There are ", gradients.size(), " gradients; allowed: one for each of the ", rows, " rows");
  }
  tree_.reset();
  GradientPair* const room = Run([&] {
    GradientPair* const to = lanes_[0]->GradientRoom();
    CopyToDevice(to, gradients.data(), rows, stream_, "copying gradients");
    return to;
  });
  BeginOnDevice(params, room, key);
}

void CudaTreeBuilder::BeginOnDevice(TrainParams const& params, GradientPair const* gradients, TreeKey key) {
  ProfilerRange range{"xgbgpu tree"};
  tree_.reset();
  train_ = params;
  Run([&] {
    lanes_[0]->level().SetShare(1);
    lanes_[0]->Begin(params, gradients, TreeNumber(key));
  });
}

void CudaTreeBuilder::BuildRoot() {
  Run([&] { lanes_[0]->level().BuildRoot(); });
}

bool CudaTreeBuilder::SelectNodes() { return lanes_[0]->level().SelectNodes(); }

void CudaTreeBuilder::ExpandNodes() {
  Run([&] { lanes_[0]->level().ExpandNodes(); });
}

Tree CudaTreeBuilder::Finish() { return FinishIn(lanes_[0].get()); }

Tree CudaTreeBuilder::FinishIn(TreeLane* lane) {
  positions_are_current_ = false;
  auto const result = Run([&] {
    auto finished = lane->level().Finish();
    if (timeline_) timeline_->MoveTo(trace_.get());
    if (!finished.finite) ThrowNotFinite(*lane);
    return finished;
  });
  Tree tree = MakeTree(result.nodes, matrix_->cuts, SplitParams{train_, result.format}, train_.learning_rate,
                       lane->level().constraints(), result.sets);
  last_ = lane;
  tree_ = tree.size();
  return tree;
}

/// The host names the row and its value.
void CudaTreeBuilder::ThrowNotFinite(TreeLane const& lane) {
  std::vector<GradientPair> gradients(matrix_->view.rows);
  CopyToHost(gradients.data(), lane.gradients(), gradients.size(), lane.stream(), "reading gradients");
  lane.stream().Wait("reading gradients");
  host::ChooseGradientFormat(gradients, threads_);
  Throw<DeviceError>(
      "The device found a gradient that is NaN or infinite, the host found none: its memory may be faulty");
}

NodeIndex const* CudaTreeBuilder::HostPositions() const {
  if (positions_are_current_) return host_positions_.data();
  Run([&] {
    std::size_t const rows = matrix_->view.rows;
    if (host_positions_.size() == 0) host_positions_ = PinnedBuffer<NodeIndex>{rows};
    CopyToHost(host_positions_.data(), last_->level().positions(), rows, last_->stream(), "reading leaf positions");
    last_->stream().Wait("reading leaf positions");
  });
  positions_are_current_ = true;
  return host_positions_.data();
}

void CudaTreeBuilder::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  CheckFinished("LeafPositions", positions.size(), matrix_->view.rows);
  if (!sampled_out.empty()) CheckFinished("LeafPositions", sampled_out.size(), matrix_->view.rows);
  NodeIndex const* const from = HostPositions();
  ParallelChunks(threads_, positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      positions[i] = from[i] < 0 ? ~from[i] : from[i];
      if (!sampled_out.empty()) sampled_out[i] = from[i] < 0;
    }
  });
}

void CudaTreeBuilder::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  CheckFinished("AddLeafValues", node_values.size(), tree_.value_or(0));
  host::AddLeafValues({HostPositions(), static_cast<std::size_t>(matrix_->view.rows)}, node_values, margins, stride,
                      threads_);
}

void CudaTreeBuilder::AddLeafValuesOnDevice(Span<float const> node_values, float* margins, std::size_t stride) {
  CheckFinished("AddLeafValues", node_values.size(), tree_.value_or(0));
  Run([&] {
    // Trees of one output are added in their order, whatever lanes they are in.
    timer().Run(kMargins, kNoLevel, [&] {
      last_->AddLeafValues(node_values, margins, stride, limits_, lanes_.size() > 1 ? &added_ : nullptr);
    });
    if (last_ != lanes_[0].get()) added_.HoldUp(stream_);
  });
}

std::unique_ptr<ResidentRows> CudaTreeBuilder::MakeResidentRows(std::uint32_t outputs) {
  // Trees that were started ahead may still read the rows.
  auto const wait_for_lanes = [this] {
    for (auto const& lane : lanes_) lane->stream().Wait("freeing rows");
  };
  return Run([&] {
    return std::make_unique<cuda::ResidentRows>(matrix_->view.rows, outputs, &arena_, stream_, limits_, &timer(),
                                                wait_for_lanes);
  });
}

std::unique_ptr<ResidentRows> CudaTreeBuilder::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  return Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    return std::make_unique<cuda::ResidentRows>(source, outputs, &*trees_, &arena_, evaluation_stream_, limits_,
                                                &timer(), threads_);
  });
}

void CudaTreeBuilder::KeepTree(Tree const& tree, std::uint32_t output) {
  Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    trees_->Add(tree, output, evaluation_stream_);
  });
}

void CudaTreeBuilder::ForgetTrees() {
  if (trees_) trees_->Clear();
}

void CudaTreeBuilder::Begin(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> trees) {
  Abandon();
  train_ = params;
  round_ = {static_cast<cuda::ResidentRows*>(rows), std::move(trees), 0, 0, 0, 1};
  try {
    BeginLanes();
  } catch (OutOfDeviceMemory const&) {
    if (!KeepOneLane()) throw;
    BeginLanes();
  }
}

Tree CudaTreeBuilder::FinishNext() {
  tree_.reset();
  std::size_t const next = round_.finished;
  auto const finish = [&] {
    if (round_.begun < round_.trees.size() && round_.begun < next + round_.lanes) Run([&] { BeginTree(); });
    round_.finished = next + 1;
    return FinishIn(lanes_[(next - round_.restarted) % round_.lanes].get());
  };
  try {
    return finish();
  } catch (OutOfDeviceMemory const&) {
    if (!KeepOneLane()) throw;
    round_.finished = next;
    BeginLanes();
    return finish();
  }
}

void CudaTreeBuilder::Abandon() noexcept {
  for (std::size_t i = round_.finished; i < round_.begun; ++i) {
    try {
      FinishIn(lanes_[(i - round_.restarted) % round_.lanes].get());
    } catch (std::exception const&) {
      // Whatever was wrong with it, nobody has asked for this tree.
    }
  }
  tree_.reset();
  round_ = {};
}

/// How many of so many trees grow at the same time.
std::uint32_t CudaTreeBuilder::LanesFor(std::size_t trees) const {
  cuda::LevelBuilder const& level = lanes_[0]->level();
  if (level.has_timeline() || !level.CanRunUnattended(train_)) return 1;
  std::uint64_t const by_rows = std::max<std::uint64_t>(1, policy_.most_rows / matrix_->view.rows);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>({trees, policy_.most_lanes, by_rows}));
}

bool CudaTreeBuilder::HasRoomForLane() const {
  std::size_t free = 0, total = 0;
  CheckCuda(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<double>(free) >= policy_.least_free * static_cast<double>(total);
}

/// Begins the first of the trees that are not finished, one in each lane.
void CudaTreeBuilder::BeginLanes() {
  round_.restarted = round_.begun = round_.finished;
  round_.lanes = LanesFor(round_.trees.size() - round_.finished);
  Run([&] {
    if (round_.lanes > 1) ready_.Record(stream_);
    for (std::uint32_t lane = 0; lane < round_.lanes; ++lane) {
      if (lane == lanes_.size() && !HasRoomForLane()) {
        round_.lanes = policy_.most_lanes = lane;
        break;
      }
      if (lane == lanes_.size()) {
        lanes_.push_back(std::make_unique<TreeLane>(*matrix_, &arena_, nullptr, histogram_budget_));
      }
      if (lane > 0) ready_.HoldUp(lanes_[lane]->stream());
      BeginTree();
    }
  });
}

/// The next tree, in a lane that is free.
void CudaTreeBuilder::BeginTree() {
  ProfilerRange range{"xgbgpu tree"};
  RoundTree const& tree = round_.trees[round_.begun];
  TreeLane& lane = *lanes_[(round_.begun - round_.restarted) % round_.lanes];
  std::uint32_t const outputs = round_.rows->outputs();
  // A recorded tree reads its gradients where it read them when it was recorded. If every tree of a round has a lane,
  // that is where they are; else they are copied to one place of the lane.
  bool const in_place = outputs == 1 || (round_.trees.size() >= outputs && round_.trees.size() <= round_.lanes);
  GradientPair const* gradients = round_.rows->gradients(tree.output);
  if (!in_place) {
    GradientPair* const room = lane.GradientRoom();
    CheckCuda(cudaMemcpyAsync(room, gradients, matrix_->view.rows * sizeof(GradientPair), cudaMemcpyDeviceToDevice,
                              lane.stream()),
              "copying gradients");
    gradients = room;
  }
  lane.level().SetShare(std::min(1.0, policy_.share / round_.lanes));
  lane.Begin(train_, gradients, TreeNumber(tree.key));
  lane.GrowLevels();
  ++round_.begun;
}

/// Gives back what several lanes hold beside the first. False if there were not several.
bool CudaTreeBuilder::KeepOneLane() {
  if (round_.lanes == 1) return false;
  Run([&] {
    stream_.Wait("giving up lanes");
    last_ = lanes_[0].get();
    lanes_.resize(1);
  });
  policy_.most_lanes = 1;
  return true;
}

void CudaTreeBuilder::AdaptLeaves(Tree* tree, ResidentRows* rows) {
  CheckFinished("AdaptLeaves", tree->size(), tree_.value_or(0));
  Run([&] {
    // In the tree's lane, which has waited for the residuals as for the gradients.
    float* const values = last_->UploadNodeValues(tree->leaf_value);
    static_cast<cuda::ResidentRows*>(rows)->MedianLeaves(last_->level().positions(), values, tree->size(),
                                                         last_->stream());
    CopyToHost(tree->leaf_value.data(), values, tree->size(), last_->stream(), "reading medians");
    last_->stream().Wait("reading medians");
  });
  CheckMedians(tree->leaf_value);
}

void CudaTreeBuilder::AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) {
  AddLeafValuesOnDevice(node_values, static_cast<cuda::ResidentRows*>(rows)->margins(output), 1);
}

void CudaTreeBuilder::Trace(std::shared_ptr<TraceFile> file) {
  if (file == trace_) return;
  DeviceScope scope{matrix_->device};
  EndTrace();
  if (file == nullptr) return;
  timeline_.emplace(stream_);
  trace_ = std::move(file);
  SetTimeline(&*timeline_);
}

/// What ran after the last tree is told, too.
void CudaTreeBuilder::EndTrace() {
  if (!timeline_) return;
  SetTimeline(nullptr);
  stream_.Wait("tracing");
  timeline_->Resolve();
  timeline_->MoveTo(trace_.get());
  timeline_.reset();
  trace_.reset();
}

MemoryReport CudaTreeBuilder::memory() const {
  MemoryReport report{arena_.bytes(), arena_.peak_bytes(), {}};
  for (auto const& part : arena_.parts()) report.parts.push_back({part.name, part.bytes});
  return report;
}

void CudaTreeBuilder::CheckFinished(char const* call, std::size_t size, std::size_t wanted) const {
  if (!tree_) Throw<InvalidArgument>(call, ": no tree has been grown");
  if (size != wanted) Throw<InvalidArgument>(call, ": array of ", size, " elements; allowed: ", wanted);
}

std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads) {
  auto const sizes = [&] { return WorkSizes{matrix->device, matrix->view.rows, matrix->view.features, 0}; };
  return NamingSizes(sizes, [&] { return std::make_unique<CudaTreeBuilder>(matrix, threads); });
}

}  // namespace xgbgpu
