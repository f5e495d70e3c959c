// Divides the levels of a symmetric tree, and cuts weak levels off.
#include "growth/symmetric_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace xgbgpu {

namespace {

/// The limits of a level are kept as those of a node: nodes 0, 1, 3, 5 … of NodeLimits, each a left child of the one
/// before, stand for the levels.
NodeIndex LimitsOfLevel(int depth) { return depth == 0 ? 0 : 2 * depth - 1; }

/// A node's gain as models keep it: finite, and never -0.
float ToFloat(double gain) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::isnan(gain) ? 0.0 : std::clamp(gain, -kLargest, kLargest) + 0.0);
}

}  // namespace

void SymmetricTree::Begin(TrainParams const& train, SplitParams const& params, FeatureSampler const& features,
                          Constraints const& constraints, GradientSum root) {
  params_ = &params;
  features_ = &features;
  constraints_ = &constraints;
  most_levels_ = train.SymmetricDepth();
  min_split_loss_ = train.min_split_loss;
  limits_.Reset(constraints);
  levels_.clear();
  nodes_.clear();
  weights_.clear();
  level_.clear();
  active_.clear();
  first_ = 0;
  AddNode(kNoNode, constraints.monotone() ? LevelRoot<true>(params, root) : LevelRoot<false>(params, root));
}

void SymmetricTree::AddNode(NodeIndex parent, LevelNode const& level_node) {
  auto const number = static_cast<NodeIndex>(nodes_.size());
  Node node;
  node.parent = parent;
  node.depth = depth();
  node.sum = level_node.total;
  nodes_.push_back(node);
  weights_.push_back(level_node.weight);
  level_.push_back(level_node);
  if (level_node.total.hess > 0) active_.push_back(number);
}

std::vector<FeatureIndex> SymmetricTree::Features() const {
  auto features = features_->Node(depth(), depth());
  limits_.Filter(LimitsOfLevel(depth()), &features);
  return features;
}

void SymmetricTree::Divide(LevelSplit const& split, Span<GradientSum const> lefts) {
  std::vector<LevelNode> const parents = std::exchange(level_, {});
  std::vector<NodeIndex> const divided = std::exchange(active_, {});
  NodeIndex const first = std::exchange(first_, static_cast<NodeIndex>(nodes_.size()));
  int const direction = constraints_->monotone() ? constraints_->directions()[split.feature] : 0;
  levels_.push_back({0.0, divided.size()});
  SplitCandidate of_node{0.0f, split.feature, split.bin, split.default_left, split.categorical, {}, {}};
  for (std::size_t i = 0; i < divided.size(); ++i) {
    LevelNode const& parent = parents[static_cast<std::size_t>(divided[i] - first)];
    of_node.left = lefts[i];
    of_node.right = parent.total - lefts[i];
    auto const gain = constraints_->monotone() ? DivisionGain<true> : DivisionGain<false>;
    double const gained = gain(*params_, of_node.left, of_node.right, parent, direction);
    levels_.back().score += gained;
    of_node.gain = ToFloat(gained);
    Node& node = nodes_[static_cast<std::size_t>(divided[i])];
    node.split = of_node;
    node.left = static_cast<NodeIndex>(nodes_.size());
    LevelNode children[2];
    auto const make = constraints_->monotone() ? MakeLevelChildren<true> : MakeLevelChildren<false>;
    make(*params_, of_node.left, of_node.right, parent, direction, children);
    for (LevelNode const& child : children) AddNode(divided[i], child);
  }
  limits_.AddChildren(*params_, LimitsOfLevel(depth() - 1), LimitsOfLevel(depth()), of_node);
}

void SymmetricTree::Follow(Span<Node const> made) {
  std::vector<GradientSum> lefts;
  while (MayDivide() && made[static_cast<std::size_t>(active_[0])].left != kNoNode) {
    SplitCandidate const& first = made[static_cast<std::size_t>(active_[0])].split;
    lefts.clear();
    for (NodeIndex const n : active_) lefts.push_back(made[static_cast<std::size_t>(n)].split.left);
    Divide({0.0, first.feature, first.bin, first.default_left, first.categorical}, lefts);
  }
}

int SymmetricTree::Cut() {
  auto const weak = [&](Divided const& level) {
    return level.score <= min_split_loss_ * static_cast<double>(level.nodes);
  };
  while (!levels_.empty() && weak(levels_.back())) levels_.pop_back();
  int const last = depth();
  kept_.resize(nodes_.size());
  std::size_t stay = 0;  // nodes are in the order of levels
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    bool const stays = nodes_[n].depth <= last;
    kept_[n] = stays ? static_cast<NodeIndex>(n) : kept_[static_cast<std::size_t>(nodes_[n].parent)];
    if (nodes_[n].depth == last) nodes_[n].left = kNoNode;
    if (stays) ++stay;
  }
  nodes_.resize(stay);
  weights_.resize(stay);
  return last;
}

}  // namespace xgbgpu
