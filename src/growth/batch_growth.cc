// Chooses the next batch of nodes for a device, and the slots of their histograms.
#include "growth/batch_growth.h"

#include "split/built_child_ops.h"

namespace xgbgpu::cuda {

void BatchGrowth::Reset(TrainParams const& params, std::uint32_t slots, bool in_order) {
  grown_.Reset(params, in_order);
  made_.clear();
  holders_.clear();
  free_slots_.clear();
  for (std::uint32_t s = slots; s > 1; --s) free_slots_.push_back(static_cast<std::int32_t>(s - 1));  // 0: the root's
}

void BatchGrowth::Learn(Span<Node const> nodes) {
  for (Node const& node : nodes) {
    auto const n = static_cast<NodeIndex>(made_.size());
    made_.push_back(node);
    if (grown_.IsCandidate(node)) {
      holders_.push_back(n);
    } else {
      ReleaseSlot(n);
    }
  }
  grown_.Learn(made_);
}

std::vector<Family> BatchGrowth::NextBatch(std::size_t most) {
  std::vector<Family> batch;
  for (NodeIndex const parent : grown_.Next(made_, most)) {
    Family family{};
    if (!PlanFamily(parent, &family)) break;
    family.parent = parent;
    family.left = static_cast<NodeIndex>(made_.size() + 2 * batch.size());
    SplitCandidate const& split = made(parent).split;
    family.left_is_built = LeftIsBuilt(split.left, split.right) ? 1 : 0;
    made(parent).left = family.left;
    batch.push_back(family);
  }
  return batch;
}

/// Finds slots for the children of `parent`. Returns false if this batch has left too few; a waiting node may have lost
/// its slot by then.
bool BatchGrowth::PlanFamily(NodeIndex parent, Family* family) {
  family->subtract = made(parent).slot >= 0;
  family->built_slot = AcquireSlot(parent);
  if (family->built_slot < 0) return false;
  if (family->subtract != 0) {
    family->sibling_slot = made(parent).slot;
    made(parent).slot = -1;
    return true;
  }
  family->sibling_slot = AcquireSlot(parent);
  if (family->sibling_slot >= 0) return true;
  free_slots_.push_back(family->built_slot);
  return false;
}

/// Returns a free slot, or that of the node that has held one longest, `keep` excepted; -1 if there is none.
std::int32_t BatchGrowth::AcquireSlot(NodeIndex keep) {
  for (std::size_t tries = holders_.size(); free_slots_.empty() && tries > 0; --tries) {
    NodeIndex const oldest = holders_.front();
    holders_.pop_front();
    if (oldest == keep) {
      holders_.push_back(oldest);
    } else {
      ReleaseSlot(oldest);
    }
  }
  if (free_slots_.empty()) return -1;
  std::int32_t const slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void BatchGrowth::ReleaseSlot(NodeIndex node) {
  if (made(node).slot < 0) return;
  free_slots_.push_back(made(node).slot);
  made(node).slot = -1;
}

}  // namespace xgbgpu::cuda
