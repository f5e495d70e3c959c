/// What LevelBuilder does for attended trees: the host chooses the nodes, batch by batch.
#include <algorithm>
#include <vector>

#include "core/stages.h"
#include "level/level_cuda.h"
#include "level/level_policy.h"

namespace xgbgpu::cuda {

void LevelBuilder::ReserveAttended() {
  LevelPolicy const policy;
  std::size_t const fitting = histogram_budget_ / HistogramBytes();
  std::size_t const leaves =
      params_.max_leaves == 0 ? policy.attended_slots : 2 * static_cast<std::size_t>(params_.max_leaves);
  used_slots_ = static_cast<std::uint32_t>(
      std::max<std::size_t>(2, std::min({fitting, leaves, matrix_.view.rows, std::size_t{policy.attended_slots}})));
  std::size_t const candidate_bytes = 2 * groups_.size() * sizeof(SplitCandidate);
  batch_ = std::max<std::size_t>(1, std::min(policy.attended_batch, policy.most_candidate_bytes / candidate_bytes));
  ReserveLists();
  ReserveCleared(&tree_memory_, "nodes", TreeBytes(1 + 2 * batch_));
  DropIfOther([&] { return categories_.Reserve(NodeRoom(), 0, stream_); });
  ReserveCleared(&families_, "nodes", batch_);
  if (host_families_.size() < batch_) host_families_ = PinnedBuffer<Family>{batch_};
  ReserveCleared(&move_jobs_, "nodes", batch_);
  ReserveCleared(&sum_jobs_, "nodes", 2 * batch_);
  ReserveCleared(&histograms_, "histograms", used_slots_ * matrix_.view.cells);
  ReserveCleared(&candidates_, "split candidates", 2 * batch_ * groups_.size());
  if (host_memory_.size() < TreeBytes(1 + 2 * batch_)) {
    graph_.Drop();
    host_memory_ = {};
    host_memory_ = PinnedBuffer<std::uint8_t>{TreeBytes(1 + 2 * batch_)};
  }
}

/// Reads `n` nodes that were just made back, waits, and hands them to the growth.
void LevelBuilder::LearnBack(std::size_t first, std::size_t n) {
  Node* const nodes = NodesOf(host_memory_.data());
  CopyToHost(nodes, NodesOf(tree_memory_.data()) + first, n, stream_, "reading splits");
  stream_.Wait("looking for splits");
  growth_.Learn({nodes, n});
}

bool LevelBuilder::SelectNodes() { return !unattended_ && growth_.MaySplit(); }

void LevelBuilder::ExpandNodes() {
  ++level_;
  std::vector<Family> const batch = growth_.NextBatch(batch_);
  std::size_t const first = static_cast<std::size_t>(batch.front().left);
  if (NodeRoom() < first + 2 * batch.size()) {
    DeviceBuffer<std::uint8_t> larger{arena_, "nodes", TreeBytes(2 * (first + 2 * batch.size()))};
    graph_.Drop();
    CheckCuda(cudaMemcpyAsync(larger.data(), tree_memory_.data(), TreeBytes(first), cudaMemcpyDeviceToDevice, stream_),
              "making room for nodes");
    stream_.Wait("making room for nodes");
    tree_memory_ = std::move(larger);
    categories_.Reserve(NodeRoom(), first, stream_);
  }
  constraints_.Extend(first, first + 2 * batch.size(), arena_, stream_);
  std::copy(batch.begin(), batch.end(), host_families_.data());  // the last copy from there is over
  CopyToDevice(families_.data(), host_families_.data(), batch.size(), stream_, "choosing nodes");
  bounds_.families = batch.size();
  DeviceTree const tree = View();
  PrepareFamilies(tree, static_cast<std::uint32_t>(batch.size()), stream_);
  timer_.Run(kMove, level_, [&] { MoveRows(tree, bounds_, LevelKind::kInner, limits_, stream_); });
  timer_.Run(kSum, level_, [&] { SumRows(tree, bounds_, limits_, stream_); });
  timer_.Run(kSplit, level_, [&] { FindSplits(tree, bounds_, NextLevel::kByHost, {}, limits_, stream_); });
  LearnBack(first, 2 * batch.size());
}

/// The rows of every node that the device made last belong to a leaf of the tree.
void LevelBuilder::EnqueuePositions() {
  std::vector<NodeIndex> const leaf = growth_.LeafNumbers();
  DeviceTree tree = View();
  std::vector<MoveJob> jobs;
  std::uint32_t items = 0;
  for (std::size_t n = 0; n < leaf.size(); ++n) {
    if (leaf[n] == kNoNode) continue;
    jobs.push_back({static_cast<NodeIndex>(n), ~leaf[n], items});
    items += (growth_.made()[n].rows + tree.item_rows - 1) / tree.item_rows;
  }
  LevelState state{};
  state.move_jobs = static_cast<std::uint32_t>(jobs.size());
  state.move_items = items;
  ReserveCleared(&move_jobs_, "nodes", jobs.size());
  tree.move_jobs = move_jobs_.data();
  CopyToDevice(move_jobs_.data(), jobs.data(), jobs.size(), stream_, "writing positions");
  CopyToDevice(tree.state, &state, 1, stream_, "writing positions");
  MoveRows(tree, bounds_, LevelKind::kFinal, limits_, stream_);
  if (Sampled()) {
    ReserveCleared(&tree_nodes_, "nodes", growth_.tree().size());
    CopyToDevice(tree_nodes_.data(), growth_.tree().data(), growth_.tree().size(), stream_, "writing positions");
    EnqueueUnsampled(tree_nodes_.data());
  }
  stream_.Wait("writing positions");  // the copies' sources go
}

}  // namespace xgbgpu::cuda
