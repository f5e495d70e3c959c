#include "trees_cuda/host_driven_tree_cuda.h"

#include <algorithm>
#include <vector>

#include "growth/growth_policy.h"
#include "split/split_policy.h"
#include "trees_cuda/hist_levels_cuda.h"
#include "trees_cuda/list_positions_cuda.h"

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
  int const max_leaves = parts_.params.max_leaves;
  std::size_t const leaves = max_leaves == 0 ? policy.host_driven_slots : 2 * static_cast<std::size_t>(max_leaves);
  int const depth = parts_.params.max_depth;
  std::size_t const widest = depth == 0 || depth >= 16 ? policy.host_driven_slots : std::size_t{1} << depth;
  std::size_t const slots = std::max<std::size_t>(
      2, std::min({parts_.histograms.most_slots(), leaves, static_cast<std::size_t>(parts_.shard.all_rows()), widest,
                   std::size_t{policy.host_driven_slots}}));
  std::size_t const candidate_bytes = 2 * parts_.splits.candidate_bytes();
  batch_ = std::max<std::size_t>(
      1, std::min(policy.host_driven_batch, SplitPolicy{}.most_candidate_bytes / candidate_bytes));
  parts_.by_paths = parts_.copies_sample = false;
  parts_.ReserveSample(0);
  if (parts_.in_pages()) {
    parts_.lists.ReserveJobs(batch_);
    parts_.paged_rows.Reserve(batch_);
  } else {
    parts_.lists.Reserve(parts_.matrix.view.rows, batch_, 2 * batch_);
  }
  parts_.memory.Reserve(1 + 2 * batch_, batch_, 1 + 2 * batch_);
  parts_.histograms.Reserve(slots);
  parts_.splits.Reserve(2 * batch_, parts_.memory.node_capacity());
  parts_.order.Leave();
  leaves_.BeginHostDriven();
  if (host_families_.size() < batch_) host_families_ = PinnedBuffer<Family>{batch_};
}

void HostDrivenTree::SetFeatures() {
  parts_.workspace.Note([&] {
    return parts_.splits.features().Set(*parts_.features, parts_.params.feature_weights, 2 * batch_, parts_.stream);
  });
}

GrowthLimits HostDrivenTree::limits() const {
  return {parts_.params.min_split_loss, parts_.params.max_depth, parts_.params.max_leaves};
}

void HostDrivenTree::Start() {
  growth_.Reset(parts_.params, parts_.histograms.slots(), parts_.features->per_node());
  parts_.EnqueueStart(1);
}

/// Reads `n` nodes that were just made back, waits, and hands them to the growth.
void HostDrivenTree::LearnBack(std::size_t first, std::size_t n) {
  parts_.memory.ReadNodes(first, n);
  parts_.shard.devices->Check();
  growth_.Learn({parts_.memory.returned_nodes(), n});
}

/// Chooses the next batch and tells the device, which makes room for it.
void HostDrivenTree::TellBatch() {
  families_ = growth_.NextBatch(batch_);
  first_ = static_cast<std::size_t>(families_.front().left);
  std::size_t const end = first_ + 2 * families_.size();
  bool const extends = parts_.memory.node_capacity() < end;
  parts_.memory.Extend(end, first_);
  parts_.workspace.Note(
      [&] { return parts_.splits.categories().Reserve(parts_.memory.node_capacity(), first_, parts_.stream); });
  parts_.splits.constraints().Extend(first_, end, parts_.workspace.arena(), parts_.stream);
  if (extends) parts_.WaitUntilAllHaveRoom();
  std::copy(families_.begin(), families_.end(), host_families_.data());  // the last copy from host_families_ is over
  CopyToDevice(parts_.memory.View().families, host_families_.data(), families_.size(), parts_.stream, "choosing nodes");
}

void HostDrivenTree::Grow() {
  if (parts_.in_pages()) {
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
  int const most = parts_.params.max_depth;
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
    growing.front()->parts_.pages().ForEach([&](Page<DeviceMatrixView> const& page) {
      for (HostDrivenTree const* tree : growing) VisitPage(tree->parts_, tree->step_, page, number);
    });
    for (HostDrivenTree* tree : growing) tree->EndBatchInPages(number);
  }
}

bool HostDrivenTree::Finish() {
  EnqueuePositions();
  parts_.memory.ReturnHeader();
  parts_.stream.Wait("growing a tree");
  return true;
}

GrownTree HostDrivenTree::Take() {
  GrownTree tree{growth_.tree(), {}, {}};
  if (parts_.splits.categories().any()) {
    tree.sets = parts_.splits.categories().Read(growth_.made().size(), parts_.stream);
  }
  return tree;
}

/// The rows of every node that the device made last belong to a leaf of the tree.
void HostDrivenTree::EnqueuePositions() {
  if (parts_.in_pages()) {
    leaves_.RenumberNodes(growth_.LeafNumbers());
    return;
  }
  WriteListPositions(&parts_, growth_.made(), growth_.LeafNumbers());
  if (parts_.sampled()) {
    parts_.workspace.Reserve(&tree_nodes_, "nodes", growth_.tree().size());
    CopyToDevice(tree_nodes_.data(), growth_.tree().data(), growth_.tree().size(), parts_.stream, "writing positions");
    leaves_.FindUnsampled(tree_nodes_.data());
  }
  parts_.stream.Wait("writing positions");  // the sources of the copies may change from here on
}

}  // namespace xgbgpu::cuda
