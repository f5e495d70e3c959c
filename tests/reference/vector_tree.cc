// Grows trees of vectors by trying every split of every node.
#include "reference/vector_tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace xgbgpu::reference {

namespace {

struct Sum {
  double grad{0}, hess{0};
};
using Sums = std::vector<Sum>;  // of each output

struct VectorNode {
  NodeIndex parent;
  int depth;
  std::vector<RowIndex> rows;
  std::vector<float> weights;
  std::vector<Bounds> bounds;
  std::set<FeatureIndex> path;
  NodeIndex left{kNoNode};
  Split split{};
};

class VectorGrower {
 public:
  VectorGrower(Bins const& bins, Cuts const& cuts, std::vector<FixedPoint> const& gradients, TrainParams const& p,
               FeatureSet const& features)
      : bins_{bins}, cuts_{cuts}, gradients_{gradients}, p_{p}, features_{features} {}

  /// Divides all nodes of a level alike, as docs/adr/0022-symmetric-trees.md and 0043-vector-leaves.md say.
  VectorTree GrowSymmetric(std::vector<RowIndex> const& sample) {
    VectorNode root{kNoNode, 0, sample, {}, std::vector<Bounds>(gradients_.size()), {}};
    Sums const all = SumsOf(sample);
    for (Sum const& s : all) root.weights.push_back(HasOwnWeights(all) ? static_cast<float>(BestWeight(s)) : 0.0f);
    nodes_.push_back(std::move(root));
    int most = p_.max_depth == 0 ? 16 : p_.max_depth;
    while (p_.max_leaves != 0 && (1 << most) > p_.max_leaves) --most;
    std::vector<std::pair<double, std::size_t>> levels;  // score and nodes of each divided level
    for (auto level = LevelNodes(0); static_cast<int>(levels.size()) < most && !level.empty();
         level = LevelNodes(static_cast<int>(levels.size()))) {
      auto const [best, score] = FindLevelSplit(level, static_cast<int>(levels.size()));
      if (score <= 1e-6) break;
      for (NodeIndex const n : level) DivideAlike(n, best);
      levels.emplace_back(score, level.size());
    }
    while (!levels.empty() &&
           levels.back().first <= static_cast<double>(p_.min_split_loss) * static_cast<double>(levels.back().second)) {
      levels.pop_back();
    }
    int const depth = static_cast<int>(levels.size());
    nodes_.erase(std::remove_if(nodes_.begin(), nodes_.end(), [&](VectorNode const& n) { return n.depth > depth; }),
                 nodes_.end());
    for (VectorNode& n : nodes_) n.left = n.depth == depth ? kNoNode : n.left;
    return Finish();
  }

  VectorTree Grow(std::vector<RowIndex> const& sample) {
    VectorNode root{kNoNode, 0, sample, {}, std::vector<Bounds>(gradients_.size()), {}};
    for (Sum const& s : SumsOf(sample)) root.weights.push_back(static_cast<float>(BestWeight(s)));
    Add(std::move(root));
    bool const by_level = p_.grow_policy == GrowPolicy::kDepthWise;
    for (int level = 0;; ++level) {
      std::vector<NodeIndex> chosen;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (MaySplit(nodes_[i]) && (!by_level || nodes_[i].depth == level)) chosen.push_back(static_cast<NodeIndex>(i));
      }
      auto const gain = [&](NodeIndex n) { return nodes_[static_cast<std::size_t>(n)].split.gain; };
      if (!by_level && !chosen.empty()) {
        chosen = {*std::max_element(chosen.begin(), chosen.end(), [&](auto a, auto b) { return gain(a) < gain(b); })};
      }
      if (chosen.empty() || !LeavesLeft()) return Finish();
      for (NodeIndex const n : chosen) {
        if (LeavesLeft()) Divide(n);
      }
    }
  }

 private:
  Sums SumsOf(std::vector<RowIndex> const& rows) const {
    Sums sums;
    for (FixedPoint const& g : gradients_) {
      GradientSum sum;
      for (RowIndex const r : rows) sum = {sum.grad + g.rows[r].grad, sum.hess + g.rows[r].hess};
      sums.push_back({std::ldexp(static_cast<double>(sum.grad), -g.grad_shift),
                      std::ldexp(static_cast<double>(sum.hess), -g.hess_shift)});
    }
    return sums;
  }
  static double Hessians(Sums const& sums) {
    double all = 0;
    for (Sum const& s : sums) all += s.hess;
    return all;
  }

  double BestWeight(Sum s) const {
    TrainParams p = p_;
    p.min_child_weight = 0;
    return Weight(p, s.grad, s.hess);
  }
  float BoundedBest(Sum s, Bounds b) const {
    return static_cast<float>(std::clamp(BestWeight(s), static_cast<double>(b.lower), static_cast<double>(b.upper)));
  }
  double GainOf(Sum s, double w) const {
    return -(2 * s.grad * w + (s.hess + static_cast<double>(p_.reg_lambda)) * (w * w) +
             2 * static_cast<double>(p_.reg_alpha) * std::fabs(w));
  }
  double BestGain(Sum s) const {
    if (s.hess <= 0) return 0;
    return p_.max_delta_step == 0 ? Gain(p_, s.grad, s.hess) : GainOf(s, BestWeight(s));
  }

  int DirectionOf(std::size_t f) const { return f < p_.monotone_constraints.size() ? p_.monotone_constraints[f] : 0; }
  bool IsMonotone() const { return !p_.monotone_constraints.empty(); }

  /// Weights of one output on both sides of a split.
  std::pair<float, float> SideWeights(Sum l, Sum r, Bounds bounds, int direction) const {
    float const wl = BoundedBest(l, bounds), wr = BoundedBest(r, bounds);
    if ((direction > 0 && wl > wr) || (direction < 0 && wl < wr)) {
      TrainParams both = p_;
      both.min_child_weight = 0;
      both.reg_alpha *= 2;
      both.reg_lambda *= 2;
      double const w = Weight(both, l.grad + r.grad, l.hess + r.hess);
      auto const shared =
          static_cast<float>(std::clamp(w, static_cast<double>(bounds.lower), static_cast<double>(bounds.upper)));
      return {shared, shared};
    }
    return {wl, wr};
  }

  float SplitGain(VectorNode const& node, Sums const& left, Sums const& right, FeatureIndex f) const {
    auto const outputs = static_cast<double>(left.size());
    double const hl = Hessians(left), hr = Hessians(right);
    if (hl <= 0 || hr <= 0 || hl / outputs < p_.min_child_weight || hr / outputs < p_.min_child_weight) return 0;
    Sums const all = SumsOf(node.rows);
    double gain = 0, own = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
      auto const [wl, wr] = SideWeights(left[k], right[k], node.bounds[k], DirectionOf(f));
      gain += IsMonotone() ? GainOf(left[k], wl) + GainOf(right[k], wr) : BestGain(left[k]) + BestGain(right[k]);
      own += IsMonotone() ? GainOf(all[k], node.weights[k]) : BestGain(all[k]);
    }
    auto const rounded = static_cast<float>(gain - own);
    return std::isfinite(rounded) ? rounded : 0;
  }

  bool HasOwnWeights(Sums const& sums) const {
    double const hessians = Hessians(sums);
    return hessians > 0 && hessians / static_cast<double>(sums.size()) >= p_.min_child_weight;
  }
  std::vector<NodeIndex> LevelNodes(int depth) const {
    std::vector<NodeIndex> found;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].depth == depth && Hessians(SumsOf(nodes_[i].rows)) > 0) found.push_back(static_cast<NodeIndex>(i));
    }
    return found;
  }
  /// Weights of an output in the children of a node of a symmetric tree.
  std::pair<float, float> WeightsBelow(VectorNode const& node, Sums const& left, Sums const& right, std::size_t k,
                                       int direction) const {
    float const l = HasOwnWeights(left) ? BoundedBest(left[k], node.bounds[k]) : node.weights[k];
    float const r = HasOwnWeights(right) ? BoundedBest(right[k], node.bounds[k]) : node.weights[k];
    bool const breaks = (direction > 0 && l > r) || (direction < 0 && l < r);
    return breaks ? std::pair{node.weights[k], node.weights[k]} : std::pair{l, r};
  }
  double GainOfSide(Sums const& sums, std::size_t k, float weight) const {
    if (sums[k].hess <= 0) return 0;
    return IsMonotone() || !HasOwnWeights(sums) ? GainOf(sums[k], weight) : BestGain(sums[k]);
  }
  double LevelGain(VectorNode const& node, Sums const& left, Sums const& right, FeatureIndex f) const {
    if (Hessians(left) <= 0 || Hessians(right) <= 0) return 0;
    Sums const all = SumsOf(node.rows);
    double gain = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
      auto const [l, r] = WeightsBelow(node, left, right, k, DirectionOf(f));
      gain += GainOfSide(left, k, l) + GainOfSide(right, k, r) - GainOfSide(all, k, node.weights[k]);
    }
    return gain;
  }
  std::pair<Split, double> FindLevelSplit(std::vector<NodeIndex> const& level, int depth) const {
    std::pair<Split, double> best{{}, 0};
    for (FeatureIndex const f : features_(depth, depth)) {
      if (!MayMeet(nodes_[static_cast<std::size_t>(level[0])].path, f)) continue;
      for (Split const& candidate : Candidates(nodes_[0], f)) {
        double score = 0;
        for (NodeIndex const n : level) {
          VectorNode const& node = nodes_[static_cast<std::size_t>(n)];
          auto const [left, right] = Sides(node, candidate);
          score += LevelGain(node, SumsOf(left), SumsOf(right), f);
        }
        if (score > best.second) best = {candidate, score};
      }
    }
    return best;
  }
  void DivideAlike(NodeIndex n, Split split) {
    VectorNode const parent = nodes_[static_cast<std::size_t>(n)];
    auto const [left, right] = Sides(parent, split);
    Sums const of_left = SumsOf(left), of_right = SumsOf(right);
    auto const f = static_cast<FeatureIndex>(split.feature);
    split.gain = static_cast<float>(LevelGain(parent, of_left, of_right, f) + 0.0);  // no -0
    nodes_[static_cast<std::size_t>(n)].split = split;
    nodes_[static_cast<std::size_t>(n)].left = static_cast<NodeIndex>(nodes_.size());
    auto const weights = [&](std::size_t k) { return WeightsBelow(parent, of_left, of_right, k, DirectionOf(f)); };
    for (VectorNode& child : ChildrenOf(n, parent, {left, right}, f, weights)) nodes_.push_back(std::move(child));
  }
  /// Returns the children of a node that is split by a feature. weights(k): of output k in both.
  template <typename F>
  std::vector<VectorNode> ChildrenOf(NodeIndex n, VectorNode const& parent,
                                     std::pair<std::vector<RowIndex>, std::vector<RowIndex>> const& rows,
                                     FeatureIndex f, F&& weights) const {
    std::vector<VectorNode> children;
    int const direction = DirectionOf(f);
    for (bool const is_right : {false, true}) {
      VectorNode child{n, parent.depth + 1, is_right ? rows.second : rows.first, {}, parent.bounds, parent.path};
      child.path.insert(f);
      for (std::size_t k = 0; k < gradients_.size(); ++k) {
        auto const [wl, wr] = weights(k);
        child.weights.push_back(is_right ? wr : wl);
        auto const middle = static_cast<float>((static_cast<double>(wl) + static_cast<double>(wr)) / 2);
        if (direction != 0) ((direction > 0) == is_right ? child.bounds[k].lower : child.bounds[k].upper) = middle;
      }
      children.push_back(std::move(child));
    }
    return children;
  }

  bool GoesRight(RowIndex r, Split const& split) const {
    int const bin = bins_(r, split.feature);
    if (bin == kNoBin) return !split.default_left;
    auto const& right = split.categories;
    return right.empty() ? bin >= split.bin : std::find(right.begin(), right.end(), bin) != right.end();
  }

  /// Categories by the product of the weights of their rows and of the node, over the outputs. In symmetric trees only
  /// reg_lambda counts there.
  std::vector<int> Sorted(VectorNode const& node, FeatureIndex f) const {
    Sums const all = SumsOf(node.rows);
    TrainParams p = p_;
    p.min_child_weight = 0;
    if (p.grow_policy == GrowPolicy::kSymmetric) p.reg_alpha = p.max_delta_step = 0;
    auto const weight = [&](Sum s) { return static_cast<float>(Weight(p, s.grad, s.hess)); };
    std::vector<std::pair<float, int>> sorted;
    for (int c = 0; c < static_cast<int>(cuts_.bins(f)); ++c) {
      std::vector<RowIndex> rows;
      for (RowIndex const r : node.rows) {
        if (bins_(r, f) == c) rows.push_back(r);
      }
      Sums const own = SumsOf(rows);
      double product = 0;
      for (std::size_t k = 0; k < own.size(); ++k) {
        product += static_cast<double>(weight(all[k]) * weight(own[k]));
      }
      sorted.emplace_back(static_cast<float>(product), c);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> categories;
    for (auto const& [product, c] : sorted) categories.push_back(c);
    return categories;
  }

  /// The splits of a node by a feature, in the order in which ties are decided.
  std::vector<Split> Candidates(VectorNode const& node, FeatureIndex f) const {
    std::vector<Split> candidates;
    int const n = static_cast<int>(cuts_.bins(f));
    if (!cuts_.IsCategorical(f)) {
      for (int bin = 0; bin <= n; ++bin) candidates.push_back({0, f, bin, false, {}, {}});
      for (int bin = n; bin >= 0; --bin) candidates.push_back({0, f, bin, true, {}, {}});
    } else if (cuts_.bins(f) < p_.max_cat_to_onehot) {
      for (int c = 0; c < n; ++c) {
        for (bool const default_left : {true, false}) candidates.push_back({0, f, 0, default_left, {}, {}, {c}});
      }
    } else {
      std::vector<int> const sorted = Sorted(node, f);
      int const most = std::min(n, p_.max_cat_threshold) - 1;
      for (int i = 1; i <= most; ++i)
        candidates.push_back({0, f, 0, true, {}, {}, {sorted.begin(), sorted.begin() + i}});
      for (int i = 1; i <= most; ++i)
        candidates.push_back({0, f, 0, false, {}, {}, {sorted.begin(), sorted.end() - i}});
    }
    return candidates;
  }
  std::pair<std::vector<RowIndex>, std::vector<RowIndex>> Sides(VectorNode const& node, Split const& split) const {
    std::pair<std::vector<RowIndex>, std::vector<RowIndex>> sides;
    for (RowIndex const r : node.rows) (GoesRight(r, split) ? sides.second : sides.first).push_back(r);
    return sides;
  }

  bool MayMeet(std::set<FeatureIndex> const& path, FeatureIndex f) const {
    if (p_.interaction_constraints.empty() || path.empty() || path.count(f) != 0) return true;
    return std::any_of(p_.interaction_constraints.begin(), p_.interaction_constraints.end(), [&](auto const& members) {
      std::set<FeatureIndex> const set{members.begin(), members.end()};
      return set.count(f) != 0 && std::includes(set.begin(), set.end(), path.begin(), path.end());
    });
  }

  /// The smaller feature wins where gains are equal, then missing values to the right, then the bin that a scan meets first.
  void Add(VectorNode node) {
    auto const number = static_cast<NodeIndex>(nodes_.size());
    for (FeatureIndex const f : features_(node.depth, number)) {
      if (!MayMeet(node.path, f)) continue;
      for (Split split : Candidates(node, f)) {
        auto const [left, right] = Sides(node, split);
        split.gain = SplitGain(node, SumsOf(left), SumsOf(right), f);
        if (split.gain > node.split.gain) node.split = split;
      }
    }
    nodes_.push_back(std::move(node));
  }

  bool MaySplit(VectorNode const& n) const {
    bool const shallow = p_.max_depth == 0 || n.depth < p_.max_depth;
    return n.left == kNoNode && shallow && n.split.gain > 1e-6f && n.split.gain >= p_.min_split_loss;
  }
  bool LeavesLeft() const {
    return p_.max_leaves == 0 || (nodes_.size() + 1) / 2 < static_cast<std::size_t>(p_.max_leaves);
  }

  void Divide(NodeIndex n) {
    VectorNode const parent = nodes_[static_cast<std::size_t>(n)];
    auto const [left, right] = Sides(parent, parent.split);
    Sums const of_left = SumsOf(left), of_right = SumsOf(right);
    nodes_[static_cast<std::size_t>(n)].left = static_cast<NodeIndex>(nodes_.size());
    auto const f = static_cast<FeatureIndex>(parent.split.feature);
    auto const weights = [&](std::size_t k) {
      return SideWeights(of_left[k], of_right[k], parent.bounds[k], DirectionOf(f));
    };
    for (VectorNode& child : ChildrenOf(n, parent, {left, right}, f, weights)) Add(std::move(child));
  }

  VectorTree Finish() const {
    VectorTree tree;
    tree.outputs = static_cast<std::uint32_t>(gradients_.size());
    tree.shape.Resize(nodes_.size());
    tree.shape.weight.clear();
    tree.shape.leaf_value.clear();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      VectorNode const& n = nodes_[i];
      tree.shape.parent[i] = n.parent;
      tree.shape.left[i] = n.left;
      tree.shape.sum_hess[i] = static_cast<float>(Hessians(SumsOf(n.rows)));
      for (float const w : n.weights) {
        tree.weight.push_back(w);
        tree.leaf_value.push_back(w * p_.learning_rate);
      }
      if (n.left == kNoNode) continue;
      auto const f = static_cast<FeatureIndex>(n.split.feature);
      tree.shape.feature[i] = f;
      tree.shape.split_bin[i] = cuts_.ptr[f] + static_cast<BinIndex>(n.split.bin);
      tree.shape.threshold[i] = n.split.bin == 0 ? cuts_.min_values[f] : cuts_.values[tree.shape.split_bin[i] - 1];
      tree.shape.default_left[i] = n.split.default_left;
      tree.shape.gain[i] = n.split.gain;
      if (n.split.categories.empty()) continue;
      tree.shape.threshold[i] = std::nanf("");
      tree.shape.split_bin[i] = cuts_.ptr[f];
      tree.shape.category_ptr.resize(nodes_.size() + 1);
    }
    for (std::size_t i = 0; i + 1 < tree.shape.category_ptr.size(); ++i) {
      std::vector<std::uint32_t>& bits = tree.shape.category_bits;
      std::size_t const first = bits.size();
      Split const& split = nodes_[i].split;
      if (nodes_[i].left != kNoNode && !split.categories.empty()) {
        bits.resize(first + (cuts_.bins(static_cast<FeatureIndex>(split.feature)) + 31) / 32);
        for (int const c : split.categories) bits[first + static_cast<std::size_t>(c) / 32] |= 1U << (c % 32);
      }
      tree.shape.category_ptr[i + 1] = static_cast<std::uint32_t>(bits.size());
    }
    return tree;
  }

  Bins const& bins_;
  Cuts const& cuts_;
  std::vector<FixedPoint> const& gradients_;
  TrainParams const& p_;
  FeatureSet const& features_;
  std::vector<VectorNode> nodes_;
};

}  // namespace

VectorTree GrowVectorTree(Bins const& bins, Cuts const& cuts, std::vector<FixedPoint> const& gradients,
                          TrainParams const& p, std::vector<RowIndex> const& sample, FeatureSet const& features) {
  VectorGrower grower{bins, cuts, gradients, p, features};
  return p.grow_policy == GrowPolicy::kSymmetric ? grower.GrowSymmetric(sample) : grower.Grow(sample);
}

}  // namespace xgbgpu::reference
