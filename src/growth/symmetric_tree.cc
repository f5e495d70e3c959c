// Divides the levels of a symmetric tree, and cuts weak levels off.
#include "growth/symmetric_tree.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

/// Returns the sum of a Node.
GradientSum SumOfNode(LevelParams const& params, GradientSum const* sums) {
  if (params.outputs == 1) return sums[0];
  std::int64_t const hess = TotalOfOutputs({sums, params.outputs}).hess;
  bool const is_active = HessiansOf(params, [&](auto k) { return sums[k]; }) > 0.0;
  return {0, is_active ? std::max<std::int64_t>(hess, 1) : 0};
}

}  // namespace

void SymmetricTree::Begin(TrainParams const& train, LevelParams const& params, FeatureSampler const& features,
                          Constraints const& constraints, Span<GradientSum const> root) {
  params_ = params;
  features_ = &features;
  constraints_ = &constraints;
  most_levels_ = train.SymmetricDepth();
  min_split_loss_ = train.min_split_loss;
  limits_.Reset(constraints);
  levels_.clear();
  nodes_.clear();
  weights_.clear();
  sums_.clear();
  level_.clear();
  active_.clear();
  first_ = 0;
  std::vector<LevelNode> numbers;
  bool const has_own_weights = HasOwnWeights(params, HessiansOf(params, [&](auto k) { return root[k]; }));
  auto const make = constraints.monotone() ? LevelRoot<true> : LevelRoot<false>;
  for (std::uint32_t k = 0; k < params.outputs; ++k) {
    numbers.push_back(make(params.of_outputs[k], SumOfOutput(params, k, root[k], has_own_weights)));
  }
  AddNode(kNoNode, numbers);
}

void SymmetricTree::AddNode(NodeIndex parent, Span<LevelNode const> numbers) {
  auto const number = static_cast<NodeIndex>(nodes_.size());
  for (LevelNode const& of_output : numbers) {
    weights_.push_back(of_output.weight);
    sums_.push_back(of_output.total);
    level_.push_back(of_output);
  }
  Node node;
  node.parent = parent;
  node.depth = depth();
  node.sum = SumOfNode(params_, sums_.data() + sums_.size() - params_.outputs);
  nodes_.push_back(node);
  if (node.sum.hess > 0) active_.push_back(number);
}

std::vector<FeatureIndex> SymmetricTree::Features() const {
  auto features = features_->Node(depth(), depth());
  limits_.Filter(LimitsOfLevel(depth()), &features);
  return features;
}

void SymmetricTree::Divide(LevelSplit const& split, Span<GradientSum const> lefts) {
  constraints_->monotone() ? DivideLevel<true>(split, lefts) : DivideLevel<false>(split, lefts);
}

template <bool kMonotone>
void SymmetricTree::DivideLevel(LevelSplit const& split, Span<GradientSum const> lefts) {
  std::vector<LevelNode> const parents = std::exchange(level_, {});
  std::vector<NodeIndex> const divided = std::exchange(active_, {});
  NodeIndex const first = std::exchange(first_, static_cast<NodeIndex>(nodes_.size()));
  int const direction = kMonotone ? constraints_->directions()[split.feature] : 0;
  levels_.push_back({0.0, divided.size()});
  SplitCandidate of_node{0.0f, split.feature, split.bin, split.default_left, split.categorical, {}, {}};
  std::size_t const outputs = params_.outputs;
  std::vector<GradientSum> right(outputs);
  std::vector<LevelNode> left_child(outputs), right_child(outputs);
  for (std::size_t i = 0; i < divided.size(); ++i) {
    LevelNode const* const parent = parents.data() + static_cast<std::size_t>(divided[i] - first) * outputs;
    GradientSum const* const left = lefts.data() + i * outputs;
    for (std::size_t k = 0; k < outputs; ++k) right[k] = parent[k].total - left[k];
    auto const of_left = [&](std::size_t k) { return left[k]; };
    auto const of_right = [&](std::size_t k) { return right[k]; };
    double const gained = DivisionGainOfOutputs<kMonotone>(params_, of_left, of_right, parent, direction);
    LevelSides const sides = SidesOf(params_, of_left, of_right);
    for (std::uint32_t k = 0; k < outputs; ++k) {
      NodeSum const l = SumOfOutput(params_, k, left[k], sides.left_has_own_weight);
      NodeSum const r = SumOfOutput(params_, k, right[k], sides.right_has_own_weight);
      LevelChildren const children = MakeLevelChildren<kMonotone>(params_.of_outputs[k], l, r, parent[k], direction);
      left_child[k] = children.left;
      right_child[k] = children.right;
    }
    levels_.back().score += gained;
    of_node.gain = ToFloat(gained);
    of_node.left = SumOfNode(params_, left);
    of_node.right = SumOfNode(params_, right.data());
    Node& node = nodes_[static_cast<std::size_t>(divided[i])];
    node.split = of_node;
    node.left = static_cast<NodeIndex>(nodes_.size());
    AddNode(divided[i], left_child);
    AddNode(divided[i], right_child);
  }
  limits_.AddChildren(params_.of_outputs[0], LimitsOfLevel(depth() - 1), LimitsOfLevel(depth()), of_node);
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
  weights_.resize(stay * params_.outputs);
  sums_.resize(stay * params_.outputs);
  return last;
}

}  // namespace xgbgpu
