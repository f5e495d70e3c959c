// Chooses a way to grow for each tree, tells the device its settings, and takes it back.
#include "trees_cuda/hist_tree_cuda.h"

#include "gradient/gradient_ops.h"

namespace xgbgpu::cuda {

namespace {

/// Bytes that pages on the device leave for the growth of a tree.
constexpr std::size_t kSparedBytes = std::size_t{4} << 20;

}  // namespace

HistTree::HistTree(DeviceMatrix const& matrix, PageStream* pages, ColumnLists* lists, DeviceShard const& shard,
                   DeviceArena* arena, Stream const& stream, std::size_t histogram_budget)
    : parts_{matrix, pages, lists, shard, arena, stream, histogram_budget},
      leaves_{&parts_},
      device_driven_{&parts_, &leaves_},
      host_driven_{&parts_, &leaves_},
      symmetric_{&parts_, &leaves_},
      processors_{parts_.device.limits.processors} {}

HistTree::~HistTree() {
  cudaStreamSynchronize(parts_.device.stream);  // nothing may run on the buffers that go
}

bool HistTree::ComputesGradients(TrainParams const& params) const {
  // With a timeline gradients are computed before the tree, so that stages are timed one by one. Where rows cannot go
  // by paths, the gradients take their memory before the sample does.
  return (params.SamplesRows() || parts_.device.shard.all_rows() >= kNarrowMinRows) &&
         parts_.rows.CanUsePaths(params) && CanGrowDeviceDriven(params) && !has_timeline();
}

bool HistTree::CanGrowDeviceDriven(TrainParams const& params) const {
  if (parts_.rows.in_core()) return device_driven_.CanGrow(params);
  return !together_ && device_driven_.CanCopyPages(params);
}

void HistTree::Begin(TreeRequest request, DeviceGradients const& gradients, SpeculativeMargins const& speculative) {
  parts_.gradients.Set(gradients);
  BeginOn(std::move(request), speculative);
}

void HistTree::Begin(TreeRequest request, RowLosses const& losses, std::function<DeviceGradients()> all,
                     SpeculativeMargins const& speculative) {
  parts_.gradients.Set(losses, std::move(all));
  BeginOn(std::move(request), speculative);
}

void HistTree::BeginOn(TreeRequest request, SpeculativeMargins const& speculative) {
  TrainParams const &params = request.params, &before = parts_.request.params;
  Constraints constraints{params, parts_.matrix.view.features};
  if (params.max_depth != before.max_depth || params.max_leaves != before.max_leaves) {
    device_driven_.forecast().Forget();
  }
  parts_.request = std::move(request);
  speculative_ = speculative;
  if (has_timeline()) parts_.device.timer.timeline()->BeginTree();
  Start(std::move(constraints));
}

TreeGrowth* HistTree::GrowthOf(TrainParams const& params) {
  if (CanGrowDeviceDriven(params)) return &device_driven_;
  if (parts_.request.symmetric()) return &symmetric_;
  return &host_driven_;
}

void HistTree::Start(Constraints constraints) {
  TrainParams const& params = parts_.request.params;
  DeviceShard const& shard = parts_.device.shard;
  growth_ = GrowthOf(params);
  bool const takes_more = growth_ == &device_driven_ && parts_.rows.TakeLevels();
  bool const like_before = before_ == params && !takes_more;
  auto const reserve = [&] {
    growth_->Reserve(speculative_);
    parts_.splits.SetConstraints(std::move(constraints));
    // With other devices memory may be reserved here only: see below.
    if (shard.alone() || !like_before) parts_.rows.KeepPages(kSparedBytes);
    growth_->SetFeatures();
  };
  // Trees alike need no other memory. Otherwise all devices have reserved theirs before one waits for another:
  // TreeDevice::WaitUntilAllHaveMemory.
  before_.reset();
  like_before ? reserve() : AllOrNone(*shard.place.collective, reserve);
  before_ = params;
  parts_.memory.Tell(parts_.Settings(growth_->limits()));
  growth_->Start();
}

void HistTree::GrowTogether(std::vector<HistTree*> const& trees) {
  std::vector<HostDrivenTree*> in_pages;
  for (HistTree* tree : trees) {
    if (tree->growth_ == &tree->host_driven_ && tree->parts_.rows.in_pages()) {
      in_pages.push_back(&tree->host_driven_);
    } else {
      tree->Grow();
    }
  }
  HostDrivenTree::GrowTogether(in_pages);
}

HistTree::Result HistTree::Finish() {
  if (!growth_->Finish()) {
    parts_.device.stream.Wait("growing a tree");  // rows have looked for leaves in vain
    device_driven_.forecast().SetTooDeep();       // trees of a training are alike
    parts_.gradients.UseAll();
    before_.reset();
    Start(constraints());
    growth_->Grow();
    growth_->Finish();
  }
  GrownTree const tree = growth_->Take();
  if (has_timeline()) {
    parts_.device.stream.Wait("tracing");
    parts_.device.timer.timeline()->Resolve();
    ReportBytes(tree.nodes);
  }
  GradientState const& gradient = parts_.memory.returned().gradient;
  return {tree, gradient.format, IsFinite(gradient.maxima)};
}

}  // namespace xgbgpu::cuda
