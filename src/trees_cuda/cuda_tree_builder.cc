// Begins the trees of a round in lanes, and finishes them in their order.
#include "trees_cuda/cuda_tree_builder.h"

#include <algorithm>
#include <utility>

#include "backend/validate_vectors.h"
#include "base/message.h"
#include "base/stages.h"
#include "growth/make_tree.h"

namespace xgbgpu {

namespace {

/// A quarter of what a training in pages may take is for histograms.
constexpr std::size_t kHistogramPart = 4;

/// Returns the budget of histograms of the device that has least.
std::size_t SharedHistogramBudget(DeviceMatrix const& matrix, cuda::DeviceShard const& shard) {
  std::size_t const own =
      matrix.pages ? std::min(HistogramBudget(), matrix.training_bytes / kHistogramPart) : HistogramBudget();
  return static_cast<std::size_t>(-shard.place.collective->MaxOf(-static_cast<std::int64_t>(own)));
}

}  // namespace

CudaTreeBuilder::CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads, LanePolicy const& lanes)
    : CudaTreeBuilder{matrix, cuda::DeviceShard::Whole(matrix->view.rows), threads, lanes} {}

CudaTreeBuilder::CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, cuda::DeviceShard const& shard,
                                 int threads)
    : CudaTreeBuilder{std::move(matrix), shard, threads, LanePolicy{}} {}

CudaTreeBuilder::CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, cuda::DeviceShard const& shard,
                                 int threads, LanePolicy const& lanes)
    : CudaBuilder{matrix->device, matrix->view.rows, matrix->view.features, threads, "Training on the GPU"},
      matrix_{std::move(matrix)},
      shard_{shard},
      policy_{lanes},
      histogram_budget_{SharedHistogramBudget(*matrix_, shard)},
      lists_{*matrix_, mutable_arena()} {
  if (matrix_->pages) {
    std::size_t const limit = matrix_->training_bytes, held = matrix_->arena.bytes();
    mutable_arena()->SetLimit(limit - std::min(limit - 1, held));
    pages_ = std::make_unique<cuda::PageStream>(*matrix_->pages, mutable_arena(), stream());
    mutable_arena()->OnShortage([this] { return pages_->GiveUpPages(); });
  }
  lanes_.push_back(std::make_unique<TreeLane>(*matrix_, pages_.get(), &lists_, shard_, mutable_arena(), &stream(),
                                              histogram_budget_));
  last_ = lanes_[0].get();
  EndConstruction();
}

CudaTreeBuilder::~CudaTreeBuilder() {
  Close();
  mutable_arena()->OnShortage({});
}

Tree CudaTreeBuilder::GrowOnDevice(TrainParams const& params, cuda::DeviceGradients const& gradients, TreeKey key) {
  train_ = params;
  TreeLane& lane = *lanes_[0];
  {
    ProfilerRange range{"xgbgpu tree"};
    Run([&] {
      lane.tree().SetShare(1, false);
      lane.tree().SetTogether(false);
      lane.Begin(params, gradients, TreeNumber(key));
      lane.GrowLevels();
    });
  }
  return FinishIn(&lane);
}

Tree CudaTreeBuilder::FinishIn(TreeLane* lane) {
  auto const result = Run([&] {
    auto finished = lane->tree().Finish();
    MoveTrace();
    if (!finished.finite) {
      bool const given = lane->gradients().pairs != nullptr;
      ThrowNotFinite((given ? lane->gradients() : round_.rows->gradients(0)).pairs, lane->stream(),
                     shard_.place.first_row, !shard_.alone());
    }
    return finished;
  });
  Tree tree = MakeTree(result.tree, matrix_->cuts, SplitParams{train_, result.format}, train_.learning_rate,
                       lane->tree().constraints());
  last_ = lane;
  last_is_vector_ = false;
  speculative_values_ = lane->tree().margins_are_speculative() ? tree.leaf_value : std::vector<float>{};
  speculative_rows_ = round_.rows;
  SetTree(tree.size());
  return tree;
}

/// Takes memory for trees of vectors, if they have other outputs than the last ones.
void CudaTreeBuilder::BeginVectors(TrainParams const& params, std::uint32_t outputs) {
  ForgetTree();
  ValidateVectors(params);
  if (pages_) {
    Throw<Unsupported>(
        "Trees of vectors (multi_strategy=multi_output_tree) are asked of a GPU on a matrix whose rows are in pages; "
        "supported: such trees on the host, or a matrix in the memory of GPUs");
  }
  if (vectors_ && vectors_->outputs() == outputs) return;
  Run([&] {
    vectors_.reset();  // before the new ones need memory
    vectors_ = std::make_unique<cuda::VectorTrees>(*matrix_, &lists_, shard_, mutable_arena(), stream(),
                                                   histogram_budget_, outputs);
    vectors_->SetTimeline(lanes_[0]->tree().timer().timeline());
  });
}

VectorTree CudaTreeBuilder::GrowVectors(TrainParams const& params, Span<GradientPair const> gradients,
                                        std::uint32_t outputs, TreeKey key) {
  CheckGradients(gradients.size(), outputs);
  BeginVectors(params, outputs);
  return GrowVectorsOn(params, Run([&] { return vectors_->Upload(gradients, threads()); }), key);
}

VectorTree CudaTreeBuilder::GrowVectors(TrainParams const& params, cuda::DeviceResidentRows* rows, TreeKey key) {
  BeginVectors(params, rows->outputs());
  return GrowVectorsOn(params, Run([&] { return rows->vector_gradients(); }), key);
}

VectorTree CudaTreeBuilder::GrowVectorsOn(TrainParams const& params, cuda::VectorGradients const& gradients,
                                          TreeKey key) {
  ProfilerRange range{"xgbgpu tree"};
  std::uint32_t const number = TreeNumber(key);
  auto tree = Run([&] {
    auto grown = vectors_->Grow({params, FeatureSampler{params, features(), number}, number}, gradients);
    MoveTrace();
    if (!grown) {
      ThrowNotFinite(gradients.of(vectors_->bad_output()), stream(), shard_.place.first_row, !shard_.alone());
    }
    return grown;
  });
  last_ = lanes_[0].get();
  last_is_vector_ = true;
  speculative_values_.clear();
  speculative_rows_ = nullptr;
  SetTree(tree->shape.size());
  return std::move(*tree);
}

void CudaTreeBuilder::AddLeafValuesOnDevice(Span<float const> node_values, float* margins, std::size_t stride) {
  CheckNodes("AddLeafValues", node_values.size());
  Run([&] {
    // Trees of one output are added in their order, across lanes.
    timer().Run(kMargins, kNoLevel, [&] {
      last_->AddLeafValues(last_leaves(), node_values, margins, stride, limits(),
                           lanes_.size() > 1 ? &added_ : nullptr);
    });
    if (last_ != lanes_[0].get()) added_.HoldUp(stream());
  });
}

void CudaTreeBuilder::AddVectorLeaves(VectorTree const& tree, cuda::DeviceResidentRows* rows) {
  CheckNodes("AddVectorLeaves", tree.shape.size());
  Run([&] {
    OutputView<float> const margins = rows->VectorTarget(tree.leaf_value);
    timer().Run(kMargins, kNoLevel, [&] {
      float const* const leaves = last_->UploadNodeValues(tree.leaf_value);
      cuda::AddVectorLeaves(positions(), leaves, margins, limits(), last_->stream());
    });
  });
}

MemoryReport CudaTreeBuilder::memory() const {
  MemoryReport report = CudaBuilder::memory();
  if (pages_) {
    PageStore const& store = pages_->bins().store();
    report.pages = {store.pages(), pages_->kept(), store.memory_bytes(), store.file_bytes(), pages_->copied_bytes()};
  }
  return report;
}

std::uint64_t CudaTreeBuilder::memory_version() const {
  return CudaBuilder::memory_version() + (pages_ ? pages_->copied_bytes() : 0);
}

/// Speculative trees may still read the rows.
void CudaTreeBuilder::WaitForReaders() const {
  for (auto const& lane : lanes_) lane->stream().Wait("freeing rows");
}

void CudaTreeBuilder::Begin(TrainParams const& params, cuda::DeviceResidentRows* rows, std::vector<RoundTree> trees) {
  Abandon();
  train_ = params;
  round_ = {rows, std::move(trees), 0, 0, 0, 1};
  for (bool begun = false; !begun;) {
    try {
      // Margins move on with every tree, and lanes wait for what is enqueued now.
      if (round_.trees.size() > 1) Run([&] { round_.rows->gradients(0); });
      BeginLanes();
      begun = true;
    } catch (OutOfDeviceMemory const&) {
      if (!MakeRoom()) throw;
    }
  }
}

Tree CudaTreeBuilder::FinishNext() {
  ForgetTree();
  std::size_t const next = round_.finished;
  for (bool again = false;; again = true) {
    try {
      if (again) BeginLanes();
      if (round_.begun < round_.trees.size() && round_.begun < next + round_.lanes) {
        Run([&] {
          BeginTree();
          if (pages_) GrowInPages(0, 1);  // there is one lane, or all trees have been begun
        });
      }
      round_.finished = next + 1;
      Tree tree = FinishIn(lanes_[(next - round_.restarted) % round_.lanes].get());
      round_.rows->EndLosses();
      return tree;
    } catch (OutOfDeviceMemory const&) {
      if (!MakeRoom()) throw;
      round_.finished = next;
    }
  }
}

void CudaTreeBuilder::Abandon() noexcept {
  for (std::size_t i = round_.finished; i < round_.begun; ++i) {
    TreeLane& lane = *lanes_[(i - round_.restarted) % round_.lanes];
    try {
      if (lane.tree().has_timeline()) {
        FinishIn(&lane);
      } else {  // it is not grown again, if it should have been: its rows may be gone
        Run([&] { lane.tree().Discard(); });
      }
    } catch (std::exception const&) {
      // The tree has been given up, and its error with it.
    }
  }
  ForgetTree();
  round_ = {};
}

/// Returns how many of `trees` trees grow at the same time.
std::uint32_t CudaTreeBuilder::LanesFor(std::size_t trees) const {
  cuda::HistTree const& tree = lanes_[0]->tree();
  // With other devices, trees would have to start in the same order on all devices.
  if (trees == 1 || !shard_.alone() || tree.has_timeline()) return 1;
  if (pages_) {
    // Trees visit the pages together, if all have a lane and none is symmetric: once for each level, and once more. A
    // tree that copies its sample visits the pages twice, alone.
    bool const fewer_visits = train_.grow_policy != GrowPolicy::kSymmetric && train_.max_depth != 0 &&
                              2 * trees > static_cast<std::size_t>(train_.max_depth) + 1;
    bool const together = trees <= policy_.most_lanes && (fewer_visits || !tree.CanGrowDeviceDriven(train_));
    return together ? static_cast<std::uint32_t>(trees) : 1;
  }
  if (!tree.CanGrowDeviceDriven(train_)) return 1;
  std::uint64_t const by_rows = std::max<std::uint64_t>(1, policy_.most_rows / rows());
  return static_cast<std::uint32_t>(std::min<std::uint64_t>({trees, policy_.most_lanes, by_rows}));
}

bool CudaTreeBuilder::HasRoomForLane() const {
  DeviceMemory const memory = CurrentMemory();
  return static_cast<double>(memory.free) >= policy_.least_free * static_cast<double>(memory.total);
}

/// Begins the first of the trees that are not finished, one in each lane.
void CudaTreeBuilder::BeginLanes() {
  round_.restarted = round_.begun = round_.finished;
  lanes_[0]->tree().SetTogether(false);
  round_.lanes = LanesFor(round_.trees.size() - round_.finished);
  Run([&] {
    if (round_.lanes > 1) ready_.Record(stream());
    for (std::uint32_t lane = 0; lane < round_.lanes; ++lane) {
      if (lane == lanes_.size() && !pages_ && !HasRoomForLane()) {
        round_.lanes = policy_.most_lanes = lane;
        break;
      }
      if (lane == lanes_.size()) {
        Stream const* const of_lane = pages_ ? &stream() : nullptr;
        lanes_.push_back(std::make_unique<TreeLane>(*matrix_, pages_.get(), &lists_, shard_, mutable_arena(), of_lane,
                                                    histogram_budget_));
      }
      if (lane > 0) ready_.HoldUp(lanes_[lane]->stream());
      BeginTree();
    }
    if (pages_) GrowInPages(0, round_.lanes);
  });
}

/// Grows the trees of lanes [first_lane, end_lane).
void CudaTreeBuilder::GrowInPages(std::size_t first_lane, std::size_t end_lane) {
  std::vector<cuda::HistTree*> trees;
  for (std::size_t lane = first_lane; lane < end_lane; ++lane) trees.push_back(&lanes_[lane]->tree());
  cuda::HistTree::GrowTogether(trees);
}

/// Returns the gradients of the tree's output, at the place where the lane's trees read them.
cuda::DeviceGradients CudaTreeBuilder::GradientsOf(RoundTree const& tree, TreeLane* lane) {
  std::uint32_t const outputs = round_.rows->outputs();
  // A recorded tree reads its gradients at the place of the recording. If every tree of a round has a lane, each reads
  // them where they were computed. Otherwise they are copied to one place of the lane. Trees in pages are not recorded.
  bool const in_place =
      pages_ != nullptr || outputs == 1 || (round_.trees.size() >= outputs && round_.trees.size() <= round_.lanes);
  cuda::DeviceGradients gradients = round_.rows->gradients(tree.output);
  if (!in_place) {
    GradientPair* const buffer = lane->GradientBuffer();
    CheckCuda(cudaMemcpyAsync(buffer, gradients.pairs, rows() * sizeof(GradientPair), cudaMemcpyDeviceToDevice,
                              lane->stream()),
              "copying gradients");
    gradients.pairs = buffer;
  }
  return gradients;
}

/// Begins the next tree, in a lane that is free.
void CudaTreeBuilder::BeginTree() {
  ProfilerRange range{"xgbgpu tree"};
  RoundTree const& tree = round_.trees[round_.begun];
  TreeLane& lane = *lanes_[(round_.begun - round_.restarted) % round_.lanes];
  cuda::DeviceResidentRows& rows = *round_.rows;
  cuda::SpeculativeMargins const speculative =
      round_.lanes == 1 && !pages_ ? rows.BeginSpeculative() : cuda::SpeculativeMargins{};
  bool const alone_on_device = round_.lanes == 1 || pages_ != nullptr;  // in pages trees take turns
  lane.tree().SetTogether(pages_ != nullptr && round_.lanes > 1);
  lane.tree().SetShare(alone_on_device ? 1 : std::min(1.0, policy_.share / round_.lanes), !alone_on_device);
  bool const alone = round_.trees.size() == 1 && lane.tree().ComputesGradients(train_);
  if (auto const losses = alone ? rows.losses(train_.SamplesRows()) : std::nullopt; losses) {
    lane.Begin(
        train_, *losses, [&rows] { return rows.gradients(0); }, TreeNumber(tree.key), speculative);
  } else {
    lane.Begin(train_, GradientsOf(tree, &lane), TreeNumber(tree.key), speculative);
  }
  if (!pages_) lane.GrowLevels();
  ++round_.begun;
}

/// Frees memory that trees can do without. Returns false if there is none, or if other devices wait for the trees of
/// this device.
bool CudaTreeBuilder::MakeRoom() {
  if (!shard_.alone()) return false;
  return KeepOneLane() || Run([&] { return round_.rows->GiveUpSpeculative(); });
}

/// Frees the memory of all lanes but the first. Returns false if there was one lane and no other was to come.
bool CudaTreeBuilder::KeepOneLane() {
  if (lanes_.size() == 1 && round_.lanes == 1) return false;
  Run([&] {
    stream().Wait("giving up lanes");
    last_ = lanes_[0].get();
    lanes_.resize(1);
  });
  policy_.most_lanes = 1;
  return true;
}

void CudaTreeBuilder::AddLeafValues(Span<float const> node_values, cuda::DeviceResidentRows* rows,
                                    std::uint32_t output) {
  CheckNodes("AddLeafValues", node_values.size());
  bool const as_grown = rows == speculative_rows_ && std::equal(node_values.begin(), node_values.end(),
                                                                speculative_values_.begin(), speculative_values_.end());
  speculative_values_.clear();
  if (as_grown && Run([&] { return rows->TakeSpeculative(node_values); })) return;
  float* const target = Run([&] { return rows->LeafTarget(output, node_values, last_->stream()); });
  AddLeafValuesOnDevice(node_values, target, 1);
}

std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads) {
  auto const sizes = [&] { return WorkSizes{matrix->device, matrix->view.rows, matrix->view.features, 0}; };
  return NamingSizes(sizes, [&] { return std::make_unique<CudaTreeBuilder>(matrix, threads); });
}

}  // namespace xgbgpu
