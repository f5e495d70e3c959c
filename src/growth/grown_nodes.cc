// Selects the nodes of the tree among all nodes that were split.
#include "growth/grown_nodes.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace xgbgpu {

namespace {

Node const& At(Span<Node const> nodes, NodeIndex n) { return nodes[static_cast<std::size_t>(n)]; }
bool IsSplit(Node const& node) { return node.left != kNoNode; }

}  // namespace

void GrownNodes::Reset(TrainParams const& params, bool in_order) {
  loss_guided_ = params.grow_policy == GrowPolicy::kLossGuide;
  in_order_ = in_order;
  queue_.Reset(params);
  known_.clear();
  tree_.clear();
  made_number_.clear();
  selected_.clear();
}

void GrownNodes::Learn(Span<Node const> made) {
  known_.resize(made.size(), {0, kNoNode});
  if (tree_.empty()) {
    tree_.push_back(made[0]);
    tree_[0].left = kNoNode;  // its split is not taken yet, even if it has been made
    made_number_.push_back(0);
    known_[0].number = 0;
    queue_.Push(tree_, 0);
  }
  loss_guided_ ? AdvanceQueue(made) : AdvanceLevel(made);
}

/// Takes the children of a node of the tree, which have been made, into the tree.
void GrownNodes::Take(Span<Node const> made, NodeIndex parent_number) {
  NodeIndex const made_left = At(made, MadeNumber(parent_number)).left;
  tree_[static_cast<std::size_t>(parent_number)].left = static_cast<NodeIndex>(tree_.size());
  for (NodeIndex const child : {made_left, made_left + 1}) {
    auto const number = static_cast<NodeIndex>(tree_.size());
    tree_.push_back(At(made, child));
    tree_.back().parent = parent_number;
    tree_.back().left = kNoNode;
    made_number_.push_back(child);
    known(child).number = number;
    queue_.Push(tree_, number);
  }
}

/// The next level is known when all nodes of the last one have been split.
void GrownNodes::AdvanceLevel(Span<Node const> made) {
  auto const is_split = [&](NodeIndex number) { return IsSplit(At(made, MadeNumber(number))); };
  if (!std::all_of(selected_.begin(), selected_.end(), is_split)) return;
  for (NodeIndex const parent : selected_) Take(made, parent);
  selected_.clear();
}

void GrownNodes::AdvanceQueue(Span<Node const> made) {
  for (NodeIndex next = queue_.Next(); next != kNoNode; next = queue_.Next()) {
    if (!IsSplit(At(made, MadeNumber(next)))) return;  // it has to be split first
    queue_.Pop(tree_);
    Take(made, next);
  }
}

/// The leaves of a selected level are counted already. A node whose turn comes with the last leaf gets children that
/// stay leaves.
bool GrownNodes::ChildrenMaySplit(Node const& node) const {
  return queue_.ChildrenMaySplit(node.depth) && (!loss_guided_ || queue_.LeavesToCome() > 1);
}

void GrownNodes::SetPriorities(Span<Node const> made) {
  for (std::size_t n = 0; n < made.size(); ++n) {
    float const gain = made[n].split.gain;
    known_[n].priority = known_[n].number != kNoNode ? gain : std::min(gain, known(made[n].parent).priority);
  }
}

/// Counts the waiting nodes whose split may still be in the tree. Splits of larger priority come first. If there are as
/// many of these as leaves to come, whether they wait or were split ahead, the node's split stays out.
std::size_t GrownNodes::CountPossible(Span<Node const> made, std::vector<NodeIndex> const& waiting) const {
  std::vector<float> open;
  for (NodeIndex const n : waiting) open.push_back(known_[static_cast<std::size_t>(n)].priority);
  for (std::size_t n = 0; n < made.size(); ++n) {
    bool const is_ahead = IsSplit(made[n]) && known_[static_cast<std::size_t>(made[n].left)].number == kNoNode;
    if (is_ahead) open.push_back(known_[n].priority);
  }
  auto const to_come = static_cast<std::size_t>(queue_.LeavesToCome());
  if (open.size() <= to_come) return waiting.size();
  auto const last = open.begin() + static_cast<std::ptrdiff_t>(to_come - 1);
  std::nth_element(open.begin(), last, open.end(), std::greater<>{});
  return static_cast<std::size_t>(std::count_if(waiting.begin(), waiting.end(), [&](NodeIndex n) {
    return known_[static_cast<std::size_t>(n)].priority >= *last;
  }));
}

/// Returns the nodes to split next in loss-guided growth: the one whose turn it is, then the likeliest to follow.
std::vector<NodeIndex> GrownNodes::Likeliest(Span<Node const> made, std::size_t most) {
  NodeIndex const first = MadeNumber(queue_.Next());
  if (in_order_) return {first};
  SetPriorities(made);
  known(first).priority = std::numeric_limits<float>::infinity();  // it comes before others of its gain
  std::vector<NodeIndex> waiting;
  for (std::size_t n = 0; n < made.size(); ++n) {
    if (!IsSplit(made[n]) && IsCandidate(made[n])) waiting.push_back(static_cast<NodeIndex>(n));
  }
  auto const before = [&](NodeIndex a, NodeIndex b) {
    float const pa = known(a).priority, pb = known(b).priority;
    return pa != pb ? pa > pb : a < b;
  };
  std::size_t const count = std::min(most, CountPossible(made, waiting));
  std::sort(waiting.begin(), waiting.end(), before);
  waiting.resize(count);
  return waiting;
}

bool GrownNodes::MaySplit() {
  if (loss_guided_) return queue_.Next() != kNoNode;
  if (selected_.empty()) selected_ = queue_.Pop(tree_);
  return !selected_.empty();
}

std::vector<NodeIndex> GrownNodes::Next(Span<Node const> made, std::size_t most) {
  if (!MaySplit()) return {};
  if (loss_guided_) return Likeliest(made, most);
  std::vector<NodeIndex> next;
  for (NodeIndex const number : selected_) {
    NodeIndex const n = MadeNumber(number);
    if (next.size() < most && !IsSplit(At(made, n))) next.push_back(n);
  }
  return next;
}

std::vector<NodeIndex> GrownNodes::LeafNumbers(Span<Node const> made) const {
  std::vector<NodeIndex> leaf(made.size());  // the leaf at or above each node; parents come before their children
  std::vector<NodeIndex> own(made.size(), kNoNode);
  for (std::size_t n = 0; n < made.size(); ++n) {
    NodeIndex const number = known_[n].number;
    leaf[n] = number != kNoNode ? number : leaf[static_cast<std::size_t>(made[n].parent)];
    if (!IsSplit(made[n])) own[n] = leaf[n];
  }
  return own;
}

}  // namespace xgbgpu
