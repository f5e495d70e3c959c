#include "driver/attended_tree_cuda.h"

#include <algorithm>
#include <vector>

#include "driver/hist_levels_cuda.h"
#include "driver/list_positions_cuda.h"
#include "growth/growth_policy.h"
#include "split/split_policy.h"

namespace xgbgpu::cuda {

void AttendedTree::Reserve() {
  GrowthPolicy const policy;
  int const max_leaves = parts_.params.max_leaves;
  std::size_t const leaves = max_leaves == 0 ? policy.attended_slots : 2 * static_cast<std::size_t>(max_leaves);
  int const depth = parts_.params.max_depth;
  std::size_t const widest = depth == 0 || depth >= 16 ? policy.attended_slots : std::size_t{1} << depth;
  std::size_t const slots = std::max<std::size_t>(
      2, std::min({parts_.histograms.most_slots(), leaves, static_cast<std::size_t>(parts_.shard.all_rows()), widest,
                   std::size_t{policy.attended_slots}}));
  std::size_t const candidate_bytes = 2 * parts_.splits.candidate_bytes();
  batch_ =
      std::max<std::size_t>(1, std::min(policy.attended_batch, SplitPolicy{}.most_candidate_bytes / candidate_bytes));
  parts_.by_paths = false;
  parts_.ReserveSample(parts_.in_pages() && parts_.sampled() ? parts_.LikelySample(parts_.params) : 0);
  if (parts_.in_pages()) {
    parts_.lists.ReserveJobs(batch_);
    parts_.node_rows.Reserve(batch_);
  } else {
    parts_.lists.Reserve(batch_, 2 * batch_);
  }
  parts_.memory.Reserve(1 + 2 * batch_, batch_, 1 + 2 * batch_);
  parts_.histograms.Reserve(slots);
  parts_.splits.Reserve(2 * batch_, parts_.memory.node_room());
  parts_.order.Leave();
  leaves_.BeginAttended();
  if (host_families_.size() < batch_) host_families_ = PinnedBuffer<Family>{batch_};
}

void AttendedTree::Start() {
  growth_.Reset(parts_.params, parts_.histograms.slots(), parts_.features->per_node());
  parts_.EnqueueStart(1);
}

/// Reads `n` nodes that were just made back, waits, and hands them to the growth.
void AttendedTree::LearnBack(std::size_t first, std::size_t n) {
  parts_.memory.ReadNodes(first, n);
  parts_.shard.devices->Check();
  growth_.Learn({parts_.memory.returned_nodes(), n});
}

void AttendedTree::Expand(int number) {
  std::vector<Family> const batch = growth_.NextBatch(batch_);
  std::size_t const first = static_cast<std::size_t>(batch.front().left), end = first + 2 * batch.size();
  bool const extends = parts_.memory.node_room() < end;
  parts_.memory.Extend(end, first);
  parts_.room.Note([&] { return parts_.splits.categories().Reserve(parts_.memory.node_room(), first, parts_.stream); });
  parts_.splits.constraints().Extend(first, end, parts_.room.arena(), parts_.stream);
  if (extends) parts_.WaitUntilAllHaveRoom();
  std::copy(batch.begin(), batch.end(), host_families_.data());  // the last copy from host_families_ is over
  CopyToDevice(parts_.memory.View().families, host_families_.data(), batch.size(), parts_.stream, "choosing nodes");
  // Where pages are visited, sums that nobody needs are left out.
  bool const evaluates = !parts_.in_pages() || std::any_of(batch.begin(), batch.end(), [&](Family const& family) {
    int const depth = growth_.made()[static_cast<std::size_t>(family.parent)].depth + 1;
    return parts_.params.max_depth == 0 || depth < parts_.params.max_depth;
  });
  EnqueueBatch(parts_, static_cast<std::uint32_t>(batch.size()), number, evaluates);
  LearnBack(first, 2 * batch.size());
}

void AttendedTree::Grow() {
  EnqueueBatch(parts_, 1, 0, true);
  LearnBack(0, 1);
  for (int number = 1; growth_.MaySplit(); ++number) Expand(number);
}

void AttendedTree::Finish() {
  EnqueuePositions();
  parts_.memory.ReturnHeader();
  parts_.stream.Wait("growing a tree");
}

/// The rows of every node that the device made last belong to a leaf of the tree.
void AttendedTree::EnqueuePositions() {
  if (parts_.in_pages()) {
    leaves_.RenumberNodes(growth_.LeafNumbers());
    return;
  }
  WriteListPositions(&parts_, growth_.made(), growth_.LeafNumbers());
  if (parts_.sampled()) {
    parts_.room.Reserve(&tree_nodes_, "nodes", growth_.tree().size());
    CopyToDevice(tree_nodes_.data(), growth_.tree().data(), growth_.tree().size(), parts_.stream, "writing positions");
    leaves_.FindUnsampled(tree_nodes_.data());
  }
  parts_.stream.Wait("writing positions");  // the sources of the copies may change from here on
}

}  // namespace xgbgpu::cuda
