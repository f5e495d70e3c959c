// Grows a tree in batches of nodes, which the host chooses by the splits that the device has found.
#include "trees_cuda/host_driven_tree_cuda.h"

#include <algorithm>
#include <vector>

#include "growth/growth_policy.h"
#include "split/split_policy.h"
#include "trees_cuda/hist_levels_cuda.h"

namespace xgbgpu::cuda {

namespace {

BatchSizes SizesOf(std::vector<Family> const& families) {
  auto const siblings =
      std::count_if(families.begin(), families.end(), [](Family const& f) { return f.subtract == 0; });
  return {static_cast<std::uint32_t>(families.size()), static_cast<std::uint32_t>(siblings)};
}

}  // namespace

void HostDrivenTree::Reserve(SpeculativeMargins const&) {
  GrowthPolicy const policy;
  int const max_leaves = parts_.request.params.max_leaves;
  std::size_t const leaves = max_leaves == 0 ? policy.host_driven_slots : 2 * static_cast<std::size_t>(max_leaves);
  int const depth = parts_.request.params.max_depth;
  std::size_t const widest = depth == 0 || depth >= 16 ? policy.host_driven_slots : std::size_t{1} << depth;
  std::size_t const slots = std::max<std::size_t>(
      2, std::min({parts_.histograms.most_slots(), leaves, static_cast<std::size_t>(device_.shard.all_rows()), widest,
                   std::size_t{policy.host_driven_slots}}));
  batch_ = std::min(policy.host_driven_batch, parts_.splits.MostFamilies());
  parts_.rows.ReserveBatches(batch_);
  parts_.splits.SearchTree();
  parts_.memory.Reserve(1 + 2 * batch_, batch_, 1 + 2 * batch_);
  parts_.histograms.Reserve(slots, parts_.rows.matrix());
  parts_.splits.ReserveBatches(2 * batch_);
  parts_.order.Leave();
  leaves_.BeginHostDriven();
  if (host_families_.size() < batch_) host_families_ = PinnedBuffer<Family>{batch_};
}

void HostDrivenTree::SetFeatures() { parts_.splits.SetFeatures(2 * batch_, 0); }

GrowthLimits HostDrivenTree::limits() const {
  return {parts_.request.params.min_split_loss, parts_.request.params.max_depth, parts_.request.params.max_leaves};
}

void HostDrivenTree::Start() {
  growth_.Reset(parts_.request.params, parts_.histograms.slots(), parts_.request.features->per_node());
  parts_.EnqueueStart(1);
}

/// Reads `n` nodes that were just made back, waits, and hands them to the growth.
void HostDrivenTree::LearnBack(std::size_t first, std::size_t n) {
  parts_.memory.ReadNodes(first, n);
  device_.shard.devices->Check();
  growth_.Learn({parts_.memory.returned_nodes(), n});
}

/// Chooses the next batch and tells the device, which makes room for it.
void HostDrivenTree::TellBatch() {
  families_ = growth_.NextBatch(batch_);
  first_ = static_cast<std::size_t>(families_.front().left);
  std::size_t const end = first_ + 2 * families_.size();
  bool const extends = parts_.memory.node_capacity() < end;
  parts_.memory.Extend(end, first_);
  parts_.splits.ReserveCategories(parts_.memory.node_capacity(), first_);
  parts_.splits.ExtendConstraints(first_, end);
  if (extends) device_.WaitUntilAllHaveMemory();
  std::copy(families_.begin(), families_.end(), host_families_.data());  // the last copy from host_families_ is over
  CopyToDevice(parts_.memory.View().families, host_families_.data(), families_.size(), device_.stream,
               "choosing nodes");
}

void HostDrivenTree::Grow() {
  if (parts_.rows.in_pages()) {
    GrowTogether({this});
    return;
  }
  EnqueueBatch(parts_, {1, 0}, 0);
  LearnBack(0, 1);
  for (int number = 1; growth_.MaySplit(); ++number) {
    TellBatch();
    EnqueueBatch(parts_, SizesOf(families_), number);
    LearnBack(first_, 2 * families_.size());
  }
}

/// Begins a batch, of which 0 is the root's. Returns false if the tree is finished.
bool HostDrivenTree::BeginBatchInPages(int number) {
  if (number == 0) {
    step_ = BeginStep(parts_, {1, 0}, 0, true);
    return true;
  }
  if (!growth_.MaySplit()) return false;
  TellBatch();
  int const most = parts_.request.params.max_depth;
  bool const evaluates = most == 0 || std::any_of(families_.begin(), families_.end(), [&](Family const& family) {
                           return growth_.made()[static_cast<std::size_t>(family.parent)].depth + 1 < most;
                         });
  step_ = BeginStep(parts_, SizesOf(families_), number, evaluates);
  return true;
}

void HostDrivenTree::EndBatchInPages(int number) {
  EndStep(parts_, step_, number);
  number == 0 ? LearnBack(0, 1) : LearnBack(first_, 2 * families_.size());
}

void HostDrivenTree::GrowTogether(std::vector<HostDrivenTree*> const& trees) {
  std::vector<HostDrivenTree*> growing = trees;
  for (int number = 0; !growing.empty(); ++number) {
    auto const end = std::remove_if(growing.begin(), growing.end(),
                                    [&](HostDrivenTree* tree) { return !tree->BeginBatchInPages(number); });
    growing.erase(end, growing.end());
    if (growing.empty()) return;
    growing.front()->parts_.rows.pages().ForEach([&](Page<DeviceMatrixView> const& page) {
      for (HostDrivenTree const* tree : growing) VisitPage(tree->parts_, tree->step_, page, number);
    });
    for (HostDrivenTree* tree : growing) tree->EndBatchInPages(number);
  }
}

bool HostDrivenTree::Finish() {
  leaves_.FindHostDriven(growth_.made(), growth_.LeafNumbers(), growth_.tree());
  parts_.memory.ReturnHeader();
  device_.stream.Wait("growing a tree");
  return true;
}

GrownTree HostDrivenTree::Take() { return {growth_.tree(), {}, parts_.splits.ReadCategories(growth_.made().size())}; }

}  // namespace xgbgpu::cuda
