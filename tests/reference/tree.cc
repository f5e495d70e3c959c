#include "reference/tree.h"

#include <algorithm>
#include <cmath>

namespace xgbgpu::reference {

namespace {

double Loss(std::int64_t sum, int shift) { return std::ldexp(static_cast<double>(sum), -shift); }

GradientSum Plus(GradientSum a, GradientSum b) { return {a.grad + b.grad, a.hess + b.hess}; }
GradientSum Minus(GradientSum a, GradientSum b) { return {a.grad - b.grad, a.hess - b.hess}; }

GradientSum SumOf(FixedPoint const& gradients, std::vector<RowIndex> const& rows) {
  GradientSum sum;
  for (RowIndex r : rows) sum = Plus(sum, gradients.rows[r]);
  return sum;
}

float GainOf(TrainParams const& p, FixedPoint const& g, GradientSum left, GradientSum right) {
  double const hl = Loss(left.hess, g.hess_shift), hr = Loss(right.hess, g.hess_shift);
  if (left.hess <= 0 || right.hess <= 0 || hl < p.min_child_weight || hr < p.min_child_weight) return 0;
  GradientSum const all = Plus(left, right);
  auto const gain =
      static_cast<float>(Gain(p, Loss(left.grad, g.grad_shift), hl) + Gain(p, Loss(right.grad, g.grad_shift), hr) -
                         Gain(p, Loss(all.grad, g.grad_shift), Loss(all.hess, g.hess_shift)));
  return std::isfinite(gain) ? gain : 0;
}

struct Growing {
  NodeIndex parent;
  int depth;
  std::vector<RowIndex> rows;
  GradientSum sum;
  Split split;
  NodeIndex left{kNoNode};
};

class Grower {
 public:
  Grower(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
         FeatureSet const& features)
      : bins_{bins}, cuts_{cuts}, gradients_{gradients}, p_{p}, features_{features} {}

  Tree Grow(std::vector<RowIndex> const& sample) {
    AddNode(kNoNode, 0, sample);
    while (true) {
      auto const chosen = p_.grow_policy == GrowPolicy::kDepthWise ? NextLevel() : NextBest();
      if (chosen.empty()) return Finish();
      for (NodeIndex n : chosen) {
        if (LeavesLeft()) Divide(n);
      }
    }
  }

 private:
  std::size_t Leaves() const { return (nodes_.size() + 1) / 2; }
  bool LeavesLeft() const { return p_.max_leaves == 0 || Leaves() < static_cast<std::size_t>(p_.max_leaves); }

  void AddNode(NodeIndex parent, int depth, std::vector<RowIndex> rows) {
    Growing node{parent, depth, std::move(rows), {}, {}};
    auto const number = static_cast<NodeIndex>(nodes_.size());
    node.sum = SumOf(gradients_, node.rows);
    node.split = FindSplit(bins_, cuts_, gradients_, p_, node.rows, features_(depth, number));
    nodes_.push_back(std::move(node));
  }

  bool MaySplit(Growing const& n) const {
    bool const shallow = p_.max_depth == 0 || n.depth < p_.max_depth;
    return n.left == kNoNode && shallow && n.split.gain > 1e-6f && n.split.gain >= p_.min_split_loss;
  }

  /// All leaves of the last level that may be split.
  std::vector<NodeIndex> NextLevel() {
    std::vector<NodeIndex> chosen;
    for (std::size_t i = 0; LeavesLeft() && i < nodes_.size(); ++i) {
      if (nodes_[i].depth == level_ && MaySplit(nodes_[i])) chosen.push_back(static_cast<NodeIndex>(i));
    }
    ++level_;
    return chosen;
  }

  /// The leaf of the largest gain.
  std::vector<NodeIndex> NextBest() const {
    std::vector<NodeIndex> best;
    for (std::size_t i = 0; LeavesLeft() && i < nodes_.size(); ++i) {
      if (!MaySplit(nodes_[i])) continue;
      auto const gain = [&](NodeIndex n) { return nodes_[static_cast<std::size_t>(n)].split.gain; };
      if (best.empty() || nodes_[i].split.gain > gain(best[0])) best = {static_cast<NodeIndex>(i)};
    }
    return best;
  }

  void Divide(NodeIndex n) {
    auto const i = static_cast<std::size_t>(n);
    Split const split = nodes_[i].split;
    auto rows = nodes_[i].rows;
    auto const middle = std::stable_partition(rows.begin(), rows.end(), [&](RowIndex r) {
      int const bin = bins_(r, split.feature);
      return bin == kNoBin ? split.default_left : bin < split.bin;
    });
    nodes_[i].left = static_cast<NodeIndex>(nodes_.size());
    int const depth = nodes_[i].depth + 1;
    AddNode(n, depth, {rows.begin(), middle});
    AddNode(n, depth, {middle, rows.end()});
  }

  Tree Finish() const {
    Tree tree;
    tree.Resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Growing const& n = nodes_[i];
      double const hess = Loss(n.sum.hess, gradients_.hess_shift);
      tree.parent[i] = n.parent;
      tree.left[i] = n.left;
      tree.sum_hess[i] = static_cast<float>(hess);
      tree.weight[i] = static_cast<float>(Weight(p_, Loss(n.sum.grad, gradients_.grad_shift), hess));
      tree.leaf_value[i] = tree.weight[i] * p_.learning_rate;
      if (n.left == kNoNode) continue;
      BinIndex const first = cuts_.ptr[n.split.feature];
      tree.feature[i] = static_cast<FeatureIndex>(n.split.feature);
      tree.split_bin[i] = first + static_cast<BinIndex>(n.split.bin);
      tree.threshold[i] = n.split.bin == 0 ? cuts_.min_values[n.split.feature] : cuts_.values[tree.split_bin[i] - 1];
      tree.default_left[i] = n.split.default_left;
      tree.gain[i] = n.split.gain;
    }
    return tree;
  }

  Bins const& bins_;
  Cuts const& cuts_;
  FixedPoint const& gradients_;
  TrainParams const& p_;
  FeatureSet const& features_;
  std::vector<Growing> nodes_;
  int level_{0};
};

}  // namespace

double Weight(TrainParams const& p, double grad, double hess) {
  if (hess <= 0 || hess < p.min_child_weight) return 0;
  double const alpha = p.reg_alpha, limit = p.max_delta_step;
  double soft = 0;
  if (grad > alpha) soft = grad - alpha;
  if (grad < -alpha) soft = grad + alpha;
  double const w = -soft / (hess + p.reg_lambda);
  return limit == 0 ? w : std::clamp(w, -limit, limit);
}

double Gain(TrainParams const& p, double grad, double hess) {
  if (hess <= 0) return 0;
  double const alpha = p.reg_alpha, lambda = p.reg_lambda;
  if (p.max_delta_step == 0) {
    double const soft = std::max(std::fabs(grad) - alpha, 0.0);
    return soft * soft / (hess + lambda);
  }
  double const w = Weight(p, grad, hess);
  return -(2 * grad * w + (hess + lambda) * (w * w));
}

Split FindSplit(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
                std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features) {
  Split best;
  for (FeatureIndex f : features) {
    int const n = static_cast<int>(cuts.bins(f));
    std::vector<GradientSum> below(static_cast<std::size_t>(n) + 1);  // sum over the bins before each
    GradientSum missing;
    for (RowIndex r : rows) {
      GradientSum& target = bins(r, f) == kNoBin ? missing : below[static_cast<std::size_t>(bins(r, f)) + 1];
      target = Plus(target, gradients.rows[r]);
    }
    for (std::size_t b = 1; b < below.size(); ++b) below[b] = Plus(below[b], below[b - 1]);
    GradientSum const all = Plus(below.back(), missing);
    auto const attempt = [&](int bin, bool default_left) {
      GradientSum left = below[static_cast<std::size_t>(bin)];
      if (default_left) left = Plus(left, missing);
      GradientSum const right = Minus(all, left);
      float const gain = GainOf(p, gradients, left, right);
      if (gain > best.gain) best = {gain, f, bin, default_left, left, right};
    };
    for (int bin = 0; bin <= n; ++bin) attempt(bin, false);
    for (int bin = n; bin >= 0; --bin) attempt(bin, true);
  }
  return best;
}

Tree GrowTree(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
              std::vector<RowIndex> const& sample, FeatureSet const& features) {
  return Grower{bins, cuts, gradients, p, features}.Grow(sample);
}

NodeIndex FindLeaf(Tree const& tree, Values const& values, std::size_t row, NodeIndex from) {
  auto const n = static_cast<std::size_t>(from);
  if (tree.left[n] == kNoNode) return from;
  float const v = values(row, tree.feature[n]);
  bool const left = std::isnan(v) ? tree.default_left[n] != 0 : v < tree.threshold[n];
  return FindLeaf(tree, values, row, tree.left[n] + (left ? 0 : 1));
}

}  // namespace xgbgpu::reference
