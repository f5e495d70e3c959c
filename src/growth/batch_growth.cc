#include "growth/batch_growth.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "split/built_child_ops.h"

namespace xgbgpu::cuda {

void BatchGrowth::Reset(TrainParams const& params, std::uint32_t slots, bool in_order) {
  loss_guided_ = params.grow_policy == GrowPolicy::kLossGuide;
  in_order_ = in_order;
  queue_.Reset(params);
  made_.clear();
  known_.clear();
  tree_.clear();
  device_number_.clear();
  selected_.clear();
  next_selected_ = 0;
  waiting_.clear();
  holders_.clear();
  free_slots_.clear();
  for (std::uint32_t s = slots; s > 1; --s) free_slots_.push_back(static_cast<std::int32_t>(s - 1));  // 0: the root's
}

void BatchGrowth::Learn(Span<Node const> nodes) {
  for (Node const& node : nodes) {
    auto const n = static_cast<NodeIndex>(made_.size());
    made_.push_back(node);
    known_.push_back({0, kNoNode});
    if (queue_.IsCandidate(node)) {
      waiting_.push_back(n);
      holders_.push_back(n);
    } else {
      ReleaseSlot(n);
    }
  }
  if (tree_.empty()) {
    tree_.push_back(made_[0]);
    tree_[0].left = kNoNode;  // its split is not taken yet, even if the device has made it
    device_number_.push_back(0);
    known_[0].number = 0;
    queue_.Push(tree_, 0);
  }
  AdvanceTree();
}

/// Takes the children of a node of the tree, which the device has made, into the tree.
void BatchGrowth::Take(NodeIndex parent_number) {
  auto const parent = static_cast<std::size_t>(parent_number);
  NodeIndex const device_left = made(device_number_[parent]).left;
  tree_[parent].left = static_cast<NodeIndex>(tree_.size());
  for (NodeIndex right = 0; right < 2; ++right) {
    NodeIndex const device = device_left + right;
    tree_.push_back(made(device));
    tree_.back().parent = parent_number;
    tree_.back().left = kNoNode;
    device_number_.push_back(device);
    known(device).number = static_cast<NodeIndex>(tree_.size()) - 1;
  }
}

void BatchGrowth::AdvanceTree() {
  if (!loss_guided_) {
    if (next_selected_ < selected_.size()) return;  // the rest of the level comes first
    for (NodeIndex parent : selected_) {
      Take(parent);
      queue_.Push(tree_, tree_[static_cast<std::size_t>(parent)].left);
      queue_.Push(tree_, tree_[static_cast<std::size_t>(parent)].left + 1);
    }
    selected_.clear();
    next_selected_ = 0;
    return;
  }
  for (NodeIndex next = queue_.Next(); next != kNoNode; next = queue_.Next()) {
    if (made(device_number_[static_cast<std::size_t>(next)]).left == kNoNode) return;  // must be expanded first
    queue_.Pop(tree_);
    Take(next);
    queue_.Push(tree_, tree_[static_cast<std::size_t>(next)].left);
    queue_.Push(tree_, tree_[static_cast<std::size_t>(next)].left + 1);
  }
}

void BatchGrowth::SetPriorities() {
  for (std::size_t n = 0; n < made_.size(); ++n) {  // parents come before their children
    float const gain = made_[n].split.gain;
    known_[n].priority = known_[n].number != kNoNode ? gain : std::min(gain, known(made_[n].parent).priority);
  }
}

/// Counts the waiting nodes whose split may still be in the tree. Splits of larger priority come first. If there are as
/// many of these as leaves to come, whether they wait or were expanded ahead, the node's split stays out.
std::size_t BatchGrowth::CountPossible() const {
  std::vector<float> open;
  for (NodeIndex n : waiting_) open.push_back(known_[static_cast<std::size_t>(n)].priority);
  for (std::size_t n = 0; n < made_.size(); ++n) {
    NodeIndex const left = made_[n].left;
    bool const is_ahead = left != kNoNode && known_[static_cast<std::size_t>(left)].number == kNoNode;
    if (is_ahead) open.push_back(known_[n].priority);
  }
  auto const to_come = static_cast<std::size_t>(queue_.LeavesToCome());
  if (open.size() <= to_come) return waiting_.size();
  auto const last = open.begin() + static_cast<std::ptrdiff_t>(to_come - 1);
  std::nth_element(open.begin(), last, open.end(), std::greater<>{});
  return static_cast<std::size_t>(std::count_if(waiting_.begin(), waiting_.end(), [&](NodeIndex n) {
    return known_[static_cast<std::size_t>(n)].priority >= *last;
  }));
}

/// Returns the device numbers of the nodes to expand in loss-guided growth, at most `most`: the one whose turn it is,
/// then the likeliest to follow.
std::vector<NodeIndex> BatchGrowth::Likeliest(std::size_t most) {
  NodeIndex const next = queue_.Next();
  NodeIndex const first = device_number_[static_cast<std::size_t>(next)];
  if (in_order_) return {first};
  SetPriorities();
  known(first).priority = std::numeric_limits<float>::infinity();  // it comes before others of its gain
  std::size_t const count = std::min(most, CountPossible());
  auto const before = [&](NodeIndex a, NodeIndex b) {
    float const pa = known(a).priority, pb = known(b).priority;
    return pa != pb ? pa > pb : a < b;
  };
  std::nth_element(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count - 1), waiting_.end(), before);
  std::vector<NodeIndex> chosen{waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count)};
  std::sort(chosen.begin(), chosen.end(), before);
  return chosen;
}

bool BatchGrowth::MaySplit() {
  if (loss_guided_) return queue_.Next() != kNoNode;
  if (selected_.empty()) selected_ = queue_.Pop(tree_);
  return !selected_.empty();
}

std::vector<Family> BatchGrowth::NextBatch(std::size_t most) {
  std::vector<NodeIndex> parents;
  if (loss_guided_) {
    parents = Likeliest(most);
  } else {
    std::size_t const end = std::min(selected_.size(), next_selected_ + most);
    for (std::size_t i = next_selected_; i < end; ++i) {
      parents.push_back(device_number_[static_cast<std::size_t>(selected_[i])]);
    }
  }
  std::vector<Family> batch;
  for (NodeIndex parent : parents) {
    Family family{};
    if (!PlanFamily(parent, &family)) break;
    family.parent = parent;
    family.left = static_cast<NodeIndex>(made_.size() + 2 * batch.size());
    SplitCandidate const& split = made(parent).split;
    family.left_is_built = LeftIsBuilt(split.left, split.right) ? 1 : 0;
    made(parent).left = family.left;
    batch.push_back(family);
  }
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), [&](NodeIndex n) { return made(n).left != kNoNode; }),
                 waiting_.end());
  next_selected_ += loss_guided_ ? 0 : batch.size();
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

std::vector<NodeIndex> BatchGrowth::LeafNumbers() const {
  std::vector<NodeIndex> leaf(made_.size());  // the leaf at or above each node; parents come before their children
  std::vector<NodeIndex> own(made_.size(), kNoNode);
  for (std::size_t n = 0; n < made_.size(); ++n) {
    NodeIndex const number = known_[n].number;
    leaf[n] = number != kNoNode ? number : leaf[static_cast<std::size_t>(made_[n].parent)];
    if (made_[n].left == kNoNode) own[n] = leaf[n];
  }
  return own;
}

}  // namespace xgbgpu::cuda
