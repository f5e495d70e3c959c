// Grows trees by trying every split of every node.
#include "reference/tree.h"

#include <algorithm>
#include <cmath>
#include <set>

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

int DirectionOf(TrainParams const& p, std::size_t feature) {
  return feature < p.monotone_constraints.size() ? p.monotone_constraints[feature] : 0;
}

struct Growing {
  NodeIndex parent;
  int depth;
  std::vector<RowIndex> rows;
  GradientSum sum;
  Split split;
  NodeIndex left{kNoNode};
  Bounds above;                 // bounds of its parent's weight, which its own weight and gain keep to
  Bounds own;                   // bounds of its weight, which its children's weights and gains keep to
  std::set<FeatureIndex> path;  // features above it
  float carried{0};             // symmetric trees: its weight, its own or one from above
  double gain{0};               // symmetric trees: of that weight
};

/// The sums of a node's rows by the bins of one feature.
struct BinSums {
  std::vector<GradientSum> bins;
  std::vector<GradientSum> below;  // sums over the bins before each, and over all
  GradientSum missing;

  BinSums(Bins const& of, FixedPoint const& gradients, std::vector<RowIndex> const& rows, FeatureIndex f, BinIndex n)
      : bins(n), below(std::size_t{n} + 1) {
    for (RowIndex r : rows) {
      GradientSum& target = of(r, f) == kNoBin ? missing : bins[static_cast<std::size_t>(of(r, f))];
      target = Plus(target, gradients.rows[r]);
    }
    for (std::size_t b = 0; b < n; ++b) below[b + 1] = Plus(below[b], bins[b]);
  }
  GradientSum LeftOf(Split const& split) const {
    GradientSum left = below[static_cast<std::size_t>(split.bin)];
    if (!split.categories.empty()) {
      left = below.back();
      for (int c : split.categories) left = Minus(left, bins[static_cast<std::size_t>(c)]);
    }
    return split.default_left ? Plus(left, missing) : left;
  }
};

std::vector<std::pair<std::vector<int>, bool>> CategorySplits(TrainParams const& p, FixedPoint const& g,
                                                              std::vector<GradientSum> const& sums);

class Grower {
 public:
  Grower(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
         FeatureSet const& features)
      : bins_{bins}, cuts_{cuts}, gradients_{gradients}, p_{p}, features_{features} {}

  Tree Grow(std::vector<RowIndex> const& sample) {
    AddNode({kNoNode, 0, sample, {}, {}, kNoNode, {}, {}, {}});
    while (true) {
      auto const chosen = p_.grow_policy == GrowPolicy::kDepthWise ? NextLevel() : NextBest();
      if (chosen.empty()) return Finish();
      for (NodeIndex n : chosen) {
        if (LeavesLeft()) Divide(n);
      }
    }
  }

  /// Divides all nodes of a level alike, as docs/adr/0022-symmetric-trees.md says.
  Tree GrowSymmetric(std::vector<RowIndex> const& sample) {
    nodes_.push_back({kNoNode, 0, sample, SumOf(gradients_, sample), {}, kNoNode, {}, {}, {}});
    SetWeight(&nodes_[0], 0.0f);
    int depth = p_.max_depth == 0 ? 16 : p_.max_depth;
    while (p_.max_leaves != 0 && (1 << depth) > p_.max_leaves) --depth;
    std::vector<std::pair<double, std::size_t>> levels;  // score and number of nodes of those that were divided
    for (auto level = ActiveNodes(0); level_ < depth && !level.empty(); level = ActiveNodes(level_)) {
      auto const [best, score] = FindLevelSplit(level);
      if (score <= 1e-6) break;
      for (NodeIndex n : level) DivideLevelNode(n, best);
      levels.emplace_back(score, level.size());
      ++level_;
    }
    while (!levels.empty() &&
           levels.back().first <= static_cast<double>(p_.min_split_loss) * static_cast<double>(levels.back().second)) {
      levels.pop_back();
    }
    auto const deeper = [&](Growing const& n) { return n.depth > static_cast<int>(levels.size()); };
    nodes_.erase(std::remove_if(nodes_.begin(), nodes_.end(), deeper), nodes_.end());
    for (Growing& n : nodes_) n.left = n.depth == static_cast<int>(levels.size()) ? kNoNode : n.left;
    return Finish();
  }

 private:
  std::vector<NodeIndex> ActiveNodes(int depth) const {
    std::vector<NodeIndex> found;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].depth == depth && nodes_[i].sum.hess > 0) found.push_back(static_cast<NodeIndex>(i));
    }
    return found;
  }

  double Grad(GradientSum s) const { return Loss(s.grad, gradients_.grad_shift); }
  double Hess(GradientSum s) const { return Loss(s.hess, gradients_.hess_shift); }

  /// The weight that a node with these bounds has (`above`: its parent's weight), and the gain of a weight.
  float WeightOf(GradientSum s, Bounds bounds, float above) const {
    if (s.hess <= 0 || Hess(s) < p_.min_child_weight) return above;
    if (!p_.monotone_constraints.empty()) return BoundedWeight(p_, Grad(s), Hess(s), bounds);
    return static_cast<float>(Weight(p_, Grad(s), Hess(s)));
  }
  double GainOf(GradientSum s, float weight) const {
    if (!p_.monotone_constraints.empty()) return BoundedGain(p_, Grad(s), Hess(s), weight);
    if (s.hess > 0 && Hess(s) >= p_.min_child_weight) return Gain(p_, Grad(s), Hess(s));
    double const gain = BoundedGain(p_, Grad(s), Hess(s), weight), alpha = p_.reg_alpha;
    if (s.hess <= 0 || p_.max_delta_step != 0 || p_.regularisation == Regularisation::kOf3_4) return gain;
    return gain - 2 * alpha * std::fabs(static_cast<double>(weight));
  }
  void SetWeight(Growing* n, float above) const {
    n->carried = WeightOf(n->sum, n->own, above);
    n->gain = GainOf(n->sum, n->carried);
  }
  /// The weights of the children of a node.
  std::pair<float, float> ChildWeights(Growing const& n, GradientSum left, GradientSum right, std::size_t f) const {
    float const l = WeightOf(left, n.own, n.carried), r = WeightOf(right, n.own, n.carried);
    int const direction = DirectionOf(p_, f);
    bool const breaks = (direction > 0 && l > r) || (direction < 0 && l < r);
    return breaks ? std::pair{n.carried, n.carried} : std::pair{l, r};
  }
  double LevelGain(Growing const& n, GradientSum left, std::size_t f) const {
    GradientSum const right = Minus(n.sum, left);
    if (left.hess <= 0 || right.hess <= 0) return 0;
    auto const [l, r] = ChildWeights(n, left, right, f);
    return GainOf(left, l) + GainOf(right, r) - n.gain;
  }

  /// Every way to divide the whole level by a feature, in the order in which ties are decided.
  std::vector<Split> LevelCandidates(FeatureIndex f) const {
    std::vector<Split> candidates;
    int const n = static_cast<int>(cuts_.bins(f));
    if (cuts_.IsCategorical(f)) {
      BinSums const root{bins_, gradients_, nodes_[0].rows, f, cuts_.bins(f)};
      TrainParams plain = p_;  // sorted by G / (H + lambda), however light
      plain.min_child_weight = plain.reg_alpha = plain.max_delta_step = 0;
      for (auto const& [categories, default_left] : CategorySplits(plain, gradients_, root.bins)) {
        candidates.push_back({0, f, 0, default_left, {}, {}, categories});
      }
      return candidates;
    }
    for (int bin = 0; bin <= n; ++bin) candidates.push_back({0, f, bin, false, {}, {}});
    for (int bin = n; bin >= 0; --bin) candidates.push_back({0, f, bin, true, {}, {}});
    return candidates;
  }

  std::pair<Split, double> FindLevelSplit(std::vector<NodeIndex> const& level) const {
    std::pair<Split, double> best{{}, 0};
    for (FeatureIndex f : features_(level_, level_)) {
      if (!MayMeet(nodes_[static_cast<std::size_t>(level[0])].path, f)) continue;
      std::vector<BinSums> sums;
      for (NodeIndex n : level) {
        sums.emplace_back(bins_, gradients_, nodes_[static_cast<std::size_t>(n)].rows, f, cuts_.bins(f));
      }
      for (Split const& candidate : LevelCandidates(f)) {
        double score = 0;
        for (std::size_t i = 0; i < level.size(); ++i) {
          score += LevelGain(nodes_[static_cast<std::size_t>(level[i])], sums[i].LeftOf(candidate), f);
        }
        if (score > best.second) best = {candidate, score};
      }
    }
    return best;
  }

  void DivideLevelNode(NodeIndex number, Split split) {
    Growing& n = nodes_[static_cast<std::size_t>(number)];
    auto const f = static_cast<FeatureIndex>(split.feature);
    split.left = BinSums{bins_, gradients_, n.rows, f, cuts_.bins(f)}.LeftOf(split);
    split.right = Minus(n.sum, split.left);
    split.gain = static_cast<float>(LevelGain(n, split.left, f) + 0.0);  // no -0
    n.split = split;
    n.left = static_cast<NodeIndex>(nodes_.size());
    Growing const parent = n;
    auto const [l, r] = ChildWeights(parent, split.left, split.right, f);
    auto const middle = static_cast<float>((static_cast<double>(l) + static_cast<double>(r)) / 2);
    int const direction = DirectionOf(p_, f);
    for (bool is_right : {false, true}) {
      Growing child{};
      child.parent = number;
      child.depth = level_ + 1;
      child.sum = is_right ? split.right : split.left;
      child.own = parent.own;
      child.path = parent.path;
      for (RowIndex row : parent.rows) {
        if (GoesRight(row, split) == is_right) child.rows.push_back(row);
      }
      child.path.insert(f);
      child.carried = is_right ? r : l;
      child.gain = GainOf(child.sum, child.carried);
      if (direction != 0) ((direction > 0) == is_right ? child.own.lower : child.own.upper) = middle;
      nodes_.push_back(std::move(child));
    }
  }

  bool GoesRight(RowIndex r, Split const& split) const {
    int const bin = bins_(r, split.feature);
    if (bin == kNoBin) return !split.default_left;
    auto const& right = split.categories;
    return right.empty() ? bin >= split.bin : std::find(right.begin(), right.end(), bin) != right.end();
  }

  std::size_t Leaves() const { return (nodes_.size() + 1) / 2; }
  bool LeavesLeft() const { return p_.max_leaves == 0 || Leaves() < static_cast<std::size_t>(p_.max_leaves); }

  /// True for features of the path, and for those of every interaction set that holds the whole path.
  bool MayMeet(std::set<FeatureIndex> const& path, FeatureIndex f) const {
    if (p_.interaction_constraints.empty() || path.empty() || path.count(f) != 0) return true;
    return std::any_of(p_.interaction_constraints.begin(), p_.interaction_constraints.end(), [&](auto const& members) {
      std::set<FeatureIndex> const set{members.begin(), members.end()};
      return set.count(f) != 0 && std::includes(set.begin(), set.end(), path.begin(), path.end());
    });
  }

  void AddNode(Growing node) {
    auto const number = static_cast<NodeIndex>(nodes_.size());
    node.sum = SumOf(gradients_, node.rows);
    std::vector<FeatureIndex> features;
    for (FeatureIndex f : features_(node.depth, number)) {
      if (MayMeet(node.path, f)) features.push_back(f);
    }
    node.split = FindSplit(bins_, cuts_, gradients_, p_, node.rows, features, node.own, node.above);
    nodes_.push_back(std::move(node));
  }

  Growing Child(NodeIndex n, bool is_right, std::vector<RowIndex> rows) const {
    Growing const& parent = nodes_[static_cast<std::size_t>(n)];
    Split const& split = parent.split;
    Growing child{n, parent.depth + 1, std::move(rows), {}, {}, kNoNode, parent.own, parent.own, parent.path};
    child.path.insert(static_cast<FeatureIndex>(split.feature));
    int const direction = DirectionOf(p_, split.feature);
    if (direction == 0) return child;
    double middle = 0;
    for (GradientSum const& s : {split.left, split.right}) {
      middle += 0.5 * static_cast<double>(BoundedWeight(p_, Loss(s.grad, gradients_.grad_shift),
                                                        Loss(s.hess, gradients_.hess_shift), parent.own));
    }
    ((direction > 0) == is_right ? child.own.lower : child.own.upper) = static_cast<float>(middle);
    return child;
  }

  bool MaySplit(Growing const& n) const {
    bool const shallow = p_.max_depth == 0 || n.depth < p_.max_depth;
    return n.left == kNoNode && shallow && n.split.gain > 1e-6f && n.split.gain >= p_.min_split_loss;
  }

  /// Returns all leaves of the last level that may be split.
  std::vector<NodeIndex> NextLevel() {
    std::vector<NodeIndex> chosen;
    for (std::size_t i = 0; LeavesLeft() && i < nodes_.size(); ++i) {
      if (nodes_[i].depth == level_ && MaySplit(nodes_[i])) chosen.push_back(static_cast<NodeIndex>(i));
    }
    ++level_;
    return chosen;
  }

  /// Returns the leaf of the largest gain.
  std::vector<NodeIndex> NextBest() const {
    NodeIndex best = kNoNode;
    float gain = 0;
    for (std::size_t i = 0; LeavesLeft() && i < nodes_.size(); ++i) {
      if (!MaySplit(nodes_[i]) || (best != kNoNode && nodes_[i].split.gain <= gain)) continue;
      best = static_cast<NodeIndex>(i);
      gain = nodes_[i].split.gain;
    }
    if (best == kNoNode) return {};
    return std::vector<NodeIndex>(1, best);
  }

  void Divide(NodeIndex n) {
    auto const i = static_cast<std::size_t>(n);
    Split const split = nodes_[i].split;
    auto rows = nodes_[i].rows;
    auto const middle =
        std::stable_partition(rows.begin(), rows.end(), [&](RowIndex r) { return !GoesRight(r, split); });
    nodes_[i].left = static_cast<NodeIndex>(nodes_.size());
    AddNode(Child(n, false, {rows.begin(), middle}));
    AddNode(Child(n, true, {middle, rows.end()}));
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
      double const grad = Loss(n.sum.grad, gradients_.grad_shift);
      tree.weight[i] = p_.monotone_constraints.empty() ? static_cast<float>(Weight(p_, grad, hess))
                                                       : BoundedWeight(p_, grad, hess, n.above);
      if (p_.grow_policy == GrowPolicy::kSymmetric) tree.weight[i] = n.carried;
      tree.leaf_value[i] = tree.weight[i] * p_.learning_rate;
      if (n.left == kNoNode) continue;
      BinIndex const first = cuts_.ptr[n.split.feature];
      tree.feature[i] = static_cast<FeatureIndex>(n.split.feature);
      tree.split_bin[i] = first + static_cast<BinIndex>(n.split.bin);
      tree.threshold[i] = n.split.bin == 0 ? cuts_.min_values[n.split.feature] : cuts_.values[tree.split_bin[i] - 1];
      tree.default_left[i] = n.split.default_left;
      tree.gain[i] = n.split.gain;
      if (n.split.categories.empty()) continue;
      tree.threshold[i] = std::nanf("");
      tree.category_ptr.resize(nodes_.size() + 1);
    }
    for (std::size_t i = 0; i + 1 < tree.category_ptr.size(); ++i) {
      Split const& split = nodes_[i].split;
      std::size_t const first = tree.category_bits.size();
      if (nodes_[i].left != kNoNode && !split.categories.empty()) {
        tree.category_bits.resize(first + (cuts_.bins(static_cast<FeatureIndex>(split.feature)) + 31) / 32);
        for (int c : split.categories) tree.category_bits[first + static_cast<std::size_t>(c) / 32] |= 1U << (c % 32);
      }
      tree.category_ptr[i + 1] = static_cast<std::uint32_t>(tree.category_bits.size());
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
  bool const is_light = hess < p.min_child_weight && p.regularisation == Regularisation::kOf1_7;
  if (hess <= 0 || is_light) return 0;
  double const alpha = p.reg_alpha, limit = p.max_delta_step;
  double soft = 0;
  if (grad > alpha) soft = grad - alpha;
  if (grad < -alpha) soft = grad + alpha;
  double const w = -soft / (hess + p.reg_lambda);
  return limit == 0 ? w : std::clamp(w, -limit, limit);
}

namespace {

/// The gain of a weight that limits have chosen.
double GainOfLimited(TrainParams const& p, double grad, double hess, double weight) {
  double loss = 2 * grad * weight + (hess + static_cast<double>(p.reg_lambda)) * (weight * weight);
  if (p.regularisation == Regularisation::kOf3_4) loss += 2 * static_cast<double>(p.reg_alpha) * std::fabs(weight);
  return -loss;
}

}  // namespace

double Gain(TrainParams const& p, double grad, double hess) {
  if (hess <= 0) return 0;
  double const alpha = p.reg_alpha, lambda = p.reg_lambda;
  if (p.max_delta_step == 0) {
    double const soft = std::max(std::fabs(grad) - alpha, 0.0);
    return soft * soft / (hess + lambda);
  }
  return GainOfLimited(p, grad, hess, Weight(p, grad, hess));
}

float BoundedWeight(TrainParams const& p, double grad, double hess, Bounds bounds) {
  return static_cast<float>(
      std::clamp(Weight(p, grad, hess), static_cast<double>(bounds.lower), static_cast<double>(bounds.upper)));
}

double BoundedGain(TrainParams const& p, double grad, double hess, float weight) {
  return hess <= 0 ? 0 : GainOfLimited(p, grad, hess, static_cast<double>(weight));
}

float SplitGain(TrainParams const& p, FixedPoint const& g, GradientSum left, GradientSum right, std::size_t feature,
                Bounds own, Bounds above) {
  double const hl = Loss(left.hess, g.hess_shift), hr = Loss(right.hess, g.hess_shift);
  if (left.hess <= 0 || right.hess <= 0 || hl < p.min_child_weight || hr < p.min_child_weight) return 0;
  GradientSum const all = Plus(left, right);
  double const gl = Loss(left.grad, g.grad_shift), gr = Loss(right.grad, g.grad_shift);
  double const ga = Loss(all.grad, g.grad_shift), ha = Loss(all.hess, g.hess_shift);
  double exact = 0;
  if (p.monotone_constraints.empty()) {
    exact = Gain(p, gl, hl) + Gain(p, gr, hr) - Gain(p, ga, ha);
  } else {
    float const wl = BoundedWeight(p, gl, hl, own), wr = BoundedWeight(p, gr, hr, own);
    auto const direction = static_cast<float>(DirectionOf(p, feature));
    if (direction * wl > direction * wr) return 0;
    exact = BoundedGain(p, gl, hl, wl) + BoundedGain(p, gr, hr, wr) -
            BoundedGain(p, ga, ha, BoundedWeight(p, ga, ha, above));
  }
  auto const gain = static_cast<float>(exact);
  return std::isfinite(gain) ? gain : 0;
}

namespace {

/// Returns sets of categories that may go right, each with `default_left`, in stock's order.
std::vector<std::pair<std::vector<int>, bool>> CategorySplits(TrainParams const& p, FixedPoint const& g,
                                                              std::vector<GradientSum> const& sums) {
  int const n = static_cast<int>(sums.size());
  std::vector<std::pair<std::vector<int>, bool>> splits;
  if (sums.size() < p.max_cat_to_onehot) {
    for (int c = 0; c < n; ++c) {
      splits.push_back({{c}, true});
      splits.push_back({{c}, false});
    }
    return splits;
  }
  std::vector<int> sorted;
  for (int c = 0; c < n; ++c) sorted.push_back(c);
  auto const weight = [&](int c) {
    GradientSum const s = sums[static_cast<std::size_t>(c)];
    return static_cast<float>(Weight(p, Loss(s.grad, g.grad_shift), Loss(s.hess, g.hess_shift)));
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return weight(a) < weight(b); });
  int const most = std::min(n, p.max_cat_threshold) - 1;
  for (int i = 1; i <= most; ++i) splits.push_back({{sorted.begin(), sorted.begin() + i}, true});
  for (int i = 1; i <= most; ++i) splits.push_back({{sorted.begin(), sorted.end() - i}, false});
  for (auto& split : splits) std::sort(split.first.begin(), split.first.end());
  return splits;
}

}  // namespace

Split FindSplit(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
                std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features, Bounds own,
                Bounds above) {
  Split best;
  for (FeatureIndex f : features) {
    int const n = static_cast<int>(cuts.bins(f));
    std::vector<GradientSum> below(static_cast<std::size_t>(n) + 1);  // sums over the bins before each
    GradientSum missing;
    for (RowIndex r : rows) {
      GradientSum& target = bins(r, f) == kNoBin ? missing : below[static_cast<std::size_t>(bins(r, f)) + 1];
      target = Plus(target, gradients.rows[r]);
    }
    std::vector<GradientSum> const sums{below.begin() + 1, below.end()};
    for (std::size_t b = 1; b < below.size(); ++b) below[b] = Plus(below[b], below[b - 1]);
    GradientSum const all = Plus(below.back(), missing);
    auto const attempt = [&](int bin, bool default_left) {
      GradientSum left = below[static_cast<std::size_t>(bin)];
      if (default_left) left = Plus(left, missing);
      GradientSum const right = Minus(all, left);
      float const gain = SplitGain(p, gradients, left, right, f, own, above);
      if (gain > best.gain) best = {gain, f, bin, default_left, left, right};
    };
    if (cuts.IsCategorical(f)) {
      for (auto const& [categories, default_left] : CategorySplits(p, gradients, sums)) {
        GradientSum right = default_left ? GradientSum{} : missing;
        for (int c : categories) right = Plus(right, sums[static_cast<std::size_t>(c)]);
        GradientSum const left = Minus(all, right);
        float const gain = SplitGain(p, gradients, left, right, f, own, above);
        if (gain > best.gain) best = {gain, f, 0, default_left, left, right, categories};
      }
      continue;
    }
    for (int bin = 0; bin <= n; ++bin) attempt(bin, false);
    for (int bin = n; bin >= 0; --bin) attempt(bin, true);
  }
  return best;
}

Tree GrowTree(Bins const& bins, Cuts const& cuts, FixedPoint const& gradients, TrainParams const& p,
              std::vector<RowIndex> const& sample, FeatureSet const& features) {
  Grower grower{bins, cuts, gradients, p, features};
  return p.grow_policy == GrowPolicy::kSymmetric ? grower.GrowSymmetric(sample) : grower.Grow(sample);
}

NodeIndex FindLeaf(Tree const& tree, Values const& values, std::size_t row, NodeIndex from) {
  auto const n = static_cast<std::size_t>(from);
  if (tree.left[n] == kNoNode) return from;
  float const v = values(row, tree.feature[n]);
  auto const right = tree.RightCategories(from);
  auto const category = static_cast<std::size_t>(std::isnan(v) || right.empty() ? 0.0f : v);
  bool const in_set = category < 32 * right.size() && ((right[category / 32] >> (category % 32)) & 1U) != 0;
  bool const present_left = right.empty() ? v < tree.threshold[n] : !in_set;
  bool const left = std::isnan(v) ? tree.default_left[n] != 0 : present_left;
  return FindLeaf(tree, values, row, tree.left[n] + (left ? 0 : 1));
}

}  // namespace xgbgpu::reference
