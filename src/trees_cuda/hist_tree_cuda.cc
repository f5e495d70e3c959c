#include "trees_cuda/hist_tree_cuda.h"

#include <limits>

#include "gradient/gradient_ops.h"
#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

namespace {

/// Bytes that pages which stay on the device leave to whatever a tree needs while it grows.
constexpr std::size_t kSparedBytes = std::size_t{4} << 20;

}  // namespace

HistTree::HistTree(DeviceMatrix const& matrix, PageStream* pages, DeviceShard const& shard, DeviceArena* arena,
                   Stream const& stream, std::size_t histogram_budget)
    : parts_{matrix, pages, shard, arena, stream, histogram_budget},
      leaves_{&parts_},
      device_driven_{&parts_, &leaves_},
      host_driven_{&parts_, &leaves_},
      symmetric_{&parts_, &leaves_},
      processors_{parts_.limits.processors} {}

HistTree::~HistTree() {
  cudaStreamSynchronize(parts_.stream);  // nothing may run on the buffers that go
}

bool HistTree::ComputesGradients(TrainParams const& params) const {
  // With a timeline gradients are computed before the tree, so that stages are timed one by one. Where rows
  // cannot go by paths, nobody asks yet whether a sample has room: the gradients take theirs first.
  return (params.SamplesRows() || parts_.shard.all_rows() >= kNarrowMinRows) && device_driven_.CanUsePaths() &&
         CanGrowDeviceDriven(params) && !has_timeline();
}

bool HistTree::CanGrowDeviceDriven(TrainParams const& params) const {
  if (parts_.page_stream == nullptr) return device_driven_.CanGrow(params);
  return !together_ && device_driven_.CanCopySample(params);
}

void HistTree::Begin(TrainParams const& params, FeatureSampler features, DeviceGradients const& gradients,
                     std::uint32_t tree_number, SpeculativeMargins const& speculative) {
  parts_.losses.reset();
  BeginOn(params, std::move(features), gradients, tree_number, speculative);
}

void HistTree::Begin(TrainParams const& params, FeatureSampler features, RowLosses const& losses,
                     std::function<DeviceGradients()> all, std::uint32_t tree_number,
                     SpeculativeMargins const& speculative) {
  parts_.losses = losses;
  parts_.all = std::move(all);
  BeginOn(params, std::move(features), {losses.pairs}, tree_number, speculative);
}

void HistTree::BeginOn(TrainParams const& params, FeatureSampler features, DeviceGradients const& gradients,
                       std::uint32_t tree_number, SpeculativeMargins const& speculative) {
  Constraints constraints{params, parts_.matrix.view.features};
  if (params.max_depth != parts_.params.max_depth || params.max_leaves != parts_.params.max_leaves) {
    device_driven_.forecast().Forget();
  }
  parts_.params = params;
  parts_.features = std::move(features);
  parts_.gradients = gradients;
  parts_.number = tree_number;
  speculative_ = speculative;
  if (has_timeline()) parts_.timer.timeline()->BeginTree();
  Start(std::move(constraints));
}

TreeGrowth* HistTree::GrowthOf(TrainParams const& params) {
  if (CanGrowDeviceDriven(params)) return &device_driven_;
  if (parts_.symmetric()) return &symmetric_;
  return &host_driven_;
}

void HistTree::Start(Constraints constraints) {
  TrainParams const& params = parts_.params;
  growth_ = GrowthOf(params);
  bool const like_before = before_ == params;
  auto const reserve = [&] {
    growth_->Reserve(speculative_);
    parts_.splits.constraints().Set(std::move(constraints), parts_.memory.node_capacity(), parts_.workspace.arena(),
                                    parts_.stream);
    // With other devices memory may be taken here only: see below.
    if (parts_.page_stream && (parts_.shard.alone() || !like_before)) parts_.page_stream->KeepPages(kSparedBytes);
    growth_->SetFeatures();
  };
  // Trees alike need no other memory. Else all devices have theirs before one waits for another:
  // TreeParts::WaitUntilAllHaveRoom.
  before_.reset();
  like_before ? reserve() : AllOrNone(*parts_.shard.place.collective, reserve);
  before_ = params;
  GrowthLimits const limits = growth_->limits();
  parts_.memory.Tell({SplitParams{params, {}},
                      limits.min_split_loss,
                      limits.max_depth == 0 ? std::numeric_limits<int>::max() : limits.max_depth,
                      limits.max_leaves,
                      params.learning_rate,
                      {{params.seed, parts_.number, parts_.shard.first_row(),
                        parts_.losses ? parts_.losses->margins : nullptr, params.min_child_weight},
                       SampleThreshold(params.subsample),
                       MakeSampleTarget(params, parts_.shard.all_rows())},
                      parts_.features->counts()});
  growth_->Start();
}

void HistTree::GrowTogether(std::vector<HistTree*> const& trees) {
  std::vector<HostDrivenTree*> in_pages;
  for (HistTree* tree : trees) {
    if (tree->growth_ == &tree->host_driven_ && tree->parts_.in_pages()) {
      in_pages.push_back(&tree->host_driven_);
    } else {
      tree->Grow();
    }
  }
  HostDrivenTree::GrowTogether(in_pages);
}

HistTree::Result HistTree::Finish() {
  if (!growth_->Finish()) {
    parts_.stream.Wait("growing a tree");    // rows have looked for leaves in vain
    device_driven_.forecast().SetTooDeep();  // trees of a training are alike
    parts_.UseAllGradients();
    before_.reset();
    Start(constraints());
    growth_->Grow();
    growth_->Finish();
  }
  GrownTree const tree = growth_->Take();
  if (has_timeline()) {
    parts_.stream.Wait("tracing");
    parts_.timer.timeline()->Resolve();
    ReportBytes(tree.nodes);
  }
  GradientState const& gradient = parts_.memory.returned().gradient;
  return {tree, gradient.format, IsFinite(gradient.maxima)};
}

}  // namespace xgbgpu::cuda
