// Finds the best exact splits of a level's nodes on the host, column by column.
#include <algorithm>

#include "base/parallel.h"
#include "exact/exact.h"
#include "exact/exact_ops.h"
#include "split/constraint_ops.h"

namespace xgbgpu::host {

namespace {

/// The best split that one scan has found so far.
struct BestOfScan {
  float gain{0.0f};
  float threshold{0.0f};
  GradientSum left;
};

/// The scans of one feature in one node, at some place of the column.
struct Scan {
  GradientSum present;    ///< sum over the node's rows that have the feature
  GradientSum below;      ///< sum over the entries before the place
  float first{0.0f};      ///< the node's smallest value
  float last{0.0f};       ///< the node's last value before the place
  bool seen{false};       ///< the node has a value before the place
  BestOfScan ascending;   ///< missing values go right
  BestOfScan descending;  ///< missing values go left
};

/// A split of a node by a value. `split.bin` is unused.
struct ExactCandidate {
  SplitCandidate split;
  float threshold{0.0f};  ///< `value < threshold` goes left
};

/// The scan of one thread over columns: keeps the best split of each node of the level.
template <bool kMonotone>
class ColumnScanner {
 public:
  ColumnScanner(ExactLevelView const& level, Span<Node const> nodes, Span<NodeTerms const> terms)
      : level_{level}, nodes_{nodes}, terms_{terms}, best_(nodes.size()) {}

  void Run(FeatureIndex f) {
    SortedMatrix const& matrix = level_.matrix;
    Span<SortedValue const> const column = matrix.column(f);
    direction_ = kMonotone ? level_.constraints.directions()[f] : 0;
    ascends_ = !matrix.IsDense(f) && !matrix.IsConstant(f);
    scans_.assign(nodes_.size(), Scan{});
    if (matrix.IsDense(f)) {
      for (std::size_t n = 0; n < scans_.size(); ++n) scans_[n].present = nodes_[n].sum;
    } else {
      ForEach(column, [&](std::size_t n, float, GradientSum g) { scans_[n].present += g; });
    }
    ForEach(column, [&](std::size_t n, float value, GradientSum g) { Step(n, value, g); });
    for (std::size_t n = 0; n < scans_.size(); ++n) {
      if (!scans_[n].seen) continue;
      if (IsAllowed(n, f)) Finish(n, f);
    }
  }

  ExactCandidate const& best(std::size_t n) const { return best_[n]; }

 private:
  bool IsAllowed(std::size_t n, FeatureIndex f) const {
    auto const& allowed = level_.allowed;
    return allowed.empty() || std::binary_search(allowed[n].cbegin(), allowed[n].cend(), f);
  }

  /// Calls f(node of the level, value, gradient) for the column's entries in sampled rows of the level.
  template <typename F>
  void ForEach(Span<SortedValue const> column, F&& f) {
    constexpr std::size_t kAhead = 16;  // entries of look-ahead, because rows are read in random order
    Span<ExactRow const> const rows = level_.rows;
    NodeIndex const first = level_.first;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (i + kAhead < column.size()) __builtin_prefetch(&rows[column[i + kAhead].row]);
      ExactRow const& row = rows[column[i].row];
      auto const n = static_cast<std::size_t>(static_cast<std::int64_t>(row.node) - first);
      if (n < nodes_.size()) f(n, column[i].value, row.gradient);  // unsigned: negative differences fail the test
    }
  }

  void Step(std::size_t n, float value, GradientSum g) {
    Scan& scan = scans_[n];
    if (!scan.seen) {
      scan.first = value;
      scan.seen = true;
    } else if (value != scan.last) {
      TrySplit(n, value);
    }
    scan.below += g;
    scan.last = value;
  }

  float Gain(std::size_t n, GradientSum left, GradientSum right) const {
    return SplitGain<kMonotone>(level_.params, left, right, terms_[n], direction_);
  }

  /// Tries the split between the node's last value and `next`.
  void TrySplit(std::size_t n, float next) {
    Scan& scan = scans_[n];
    GradientSum const total = nodes_[n].sum;
    if (ascends_) {
      float const gain = Gain(n, scan.below, total - scan.below);
      if (gain > scan.ascending.gain) scan.ascending = {gain, ThresholdBetween(scan.last, next), scan.below};
      if (scan.present == total) return;  // the descending scan has the same gain here, and loses on ties
    }
    GradientSum const right = scan.present - scan.below, left = total - right;
    float const gain = Gain(n, left, right);
    // A descending scan meets splits in the reverse order, so the later of two equal gains wins here.
    if (gain > 0.0f && gain >= scan.descending.gain) {
      scan.descending = {gain, ThresholdBetween(scan.last, next), left};
    }
  }

  /// Tries "present or missing" after the column, and keeps the feature's split if it is the node's best so far.
  void Finish(std::size_t n, FeatureIndex f) {
    Scan& scan = scans_[n];
    GradientSum const total = nodes_[n].sum, missing = total - scan.present;
    if (ascends_) {
      float const gain = Gain(n, scan.present, missing);
      if (gain > scan.ascending.gain) scan.ascending = {gain, ThresholdAbove(scan.last), scan.present};
    }
    float const gain = Gain(n, missing, scan.present);
    if (gain > scan.descending.gain) scan.descending = {gain, ThresholdBelow(scan.first), missing};

    bool const goes_left = scan.descending.gain > scan.ascending.gain;
    BestOfScan const& best = goes_left ? scan.descending : scan.ascending;
    SplitCandidate split;
    split.gain = best.gain;
    split.feature = f;
    split.default_left = goes_left;
    split.left = best.left;
    split.right = total - best.left;
    if (IsBetter(split, best_[n].split)) best_[n] = {split, best.threshold};
  }

  ExactLevelView const& level_;
  Span<Node const> nodes_;       ///< the level's nodes
  Span<NodeTerms const> terms_;  ///< [nodes_]
  int direction_{0};             ///< the column's monotone constraint
  bool ascends_{false};          ///< the column has an ascending scan
  std::vector<Scan> scans_;
  std::vector<ExactCandidate> best_;
};

/// Returns the features that at least one node may be split by.
std::vector<FeatureIndex> UnionOf(std::vector<std::vector<FeatureIndex>> const& allowed, FeatureIndex features) {
  std::vector<bool> has(features, allowed.empty());
  for (auto const& set : allowed) {
    for (FeatureIndex const f : set) has[f] = true;
  }
  std::vector<FeatureIndex> all;
  for (FeatureIndex f = 0; f < features; ++f) {
    if (has[f]) all.push_back(f);
  }
  return all;
}

template <bool kMonotone>
void FindSplits(ExactLevelView const& level, int threads, ExactNodes* nodes) {
  NodeIndex const first = level.first;
  Span<Node const> const own{nodes->nodes.data() + first, nodes->nodes.size() - static_cast<std::size_t>(first)};
  std::vector<NodeTerms> terms;
  for (std::size_t n = 0; n < own.size(); ++n) {
    WeightBounds const bounds = level.limits.bounds(first + static_cast<NodeIndex>(n));
    terms.push_back(TermsOf<kMonotone>(level.params, own[n].sum, bounds));
  }
  auto const features = UnionOf(level.allowed, level.matrix.features());
  ColumnScanner<kMonotone> const fresh{level, own, terms};
  std::vector<ColumnScanner<kMonotone>> scanners(static_cast<std::size_t>(threads), fresh);
  ParallelTasks(threads, features.size(),
                [&](std::size_t i, int thread) { scanners[static_cast<std::size_t>(thread)].Run(features[i]); });
  for (std::size_t n = 0; n < own.size(); ++n) {
    ExactCandidate best;
    for (auto const& scanner : scanners) {
      if (IsBetter(scanner.best(n).split, best.split)) best = scanner.best(n);
    }
    std::size_t const node = static_cast<std::size_t>(first) + n;
    nodes->nodes[node].split = best.split;
    nodes->thresholds[node] = best.threshold;
  }
}

}  // namespace

void FindExactSplits(ExactLevelView const& level, int threads, ExactNodes* nodes) {
  auto const find = level.constraints.monotone() ? FindSplits<true> : FindSplits<false>;
  find(level, threads, nodes);
}

}  // namespace xgbgpu::host
