#include <algorithm>

#include "core/parallel.h"
#include "exact/exact.h"
#include "exact/exact_ops.h"
#include "split/split_ops.h"

namespace xgbgpu::host {

namespace {

/// The best of one scan so far.
struct Found {
  float gain{0.0f};
  float threshold{0.0f};
  GradientSum left;
};

/// What is known of one feature in one node while its column goes by.
struct Scan {
  GradientSum present;  ///< over the node's rows that have the feature
  GradientSum below;    ///< over those of them that have gone by
  float first{0.0f};
  float last{0.0f};
  bool seen{false};
  Found ascending;   ///< missing values go right
  Found descending;  ///< missing values go left
};

GradientSum Minus(GradientSum a, GradientSum b) { return {a.grad - b.grad, a.hess - b.hess}; }

/// All that a thread needs to look at one column after the other.
class ColumnScanner {
 public:
  ColumnScanner(SplitParams const& params, Span<Node const> nodes, Span<double const> node_gains)
      : params_{params}, nodes_{nodes}, node_gains_{node_gains}, best_(nodes.size()) {}

  void Run(SortedMatrix const& matrix, FeatureIndex f, Span<ExactRow const> rows, NodeIndex first,
           std::vector<std::vector<FeatureIndex>> const& allowed) {
    Span<SortedValue const> const column = matrix.column(f);
    ascends_ = !matrix.IsDense(f) && !matrix.IsConstant(f);
    scans_.assign(nodes_.size(), Scan{});
    if (matrix.IsDense(f)) {
      for (std::size_t n = 0; n < scans_.size(); ++n) scans_[n].present = nodes_[n].sum;
    } else {
      ForEach(column, rows, first, [&](std::size_t n, float, GradientSum g) { Add(&scans_[n].present, g); });
    }
    ForEach(column, rows, first, [&](std::size_t n, float value, GradientSum g) { Step(n, value, g); });
    for (std::size_t n = 0; n < scans_.size(); ++n) {
      if (!scans_[n].seen) continue;
      if (!allowed.empty() && !std::binary_search(allowed[n].cbegin(), allowed[n].cend(), f)) continue;
      Finish(n, f);
    }
  }

  ExactCandidate const& best(std::size_t n) const { return best_[n]; }

 private:
  static void Add(GradientSum* sum, GradientSum g) {
    sum->grad += g.grad;
    sum->hess += g.hess;
  }

  template <typename F>
  void ForEach(Span<SortedValue const> column, Span<ExactRow const> rows, NodeIndex first, F&& f) {
    constexpr std::size_t kAhead = 16;  // rows come in no order: ask for them early
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (i + kAhead < column.size()) __builtin_prefetch(&rows[column[i + kAhead].row]);
      ExactRow const& row = rows[column[i].row];
      auto const n = static_cast<std::size_t>(static_cast<std::int64_t>(row.node) - first);
      if (n < nodes_.size()) f(n, column[i].value, row.gradient);  // complements are large numbers here
    }
  }

  void Step(std::size_t n, float value, GradientSum g) {
    Scan& scan = scans_[n];
    if (!scan.seen) {
      scan.first = value;
      scan.seen = true;
    } else if (value != scan.last) {
      Consider(n, value);
    }
    Add(&scan.below, g);
    scan.last = value;
  }

  /// Between the values that have gone by and the next.
  void Consider(std::size_t n, float next) {
    Scan& scan = scans_[n];
    GradientSum const total = nodes_[n].sum;
    if (ascends_) {
      float const gain = SplitGain(params_, scan.below, Minus(total, scan.below), node_gains_[n]);
      if (gain > scan.ascending.gain) scan.ascending = {gain, Between(scan.last, next), scan.below};
      if (scan.present == total) return;  // the other scan would find the same, later
    }
    GradientSum const right = Minus(scan.present, scan.below), left = Minus(total, right);
    float const gain = SplitGain(params_, left, right, node_gains_[n]);
    // A descending scan meets this one before those it has met so far: of equals it wins.
    if (gain > 0.0f && gain >= scan.descending.gain) scan.descending = {gain, Between(scan.last, next), left};
  }

  /// After the column: "present or missing", and what all features have found.
  void Finish(std::size_t n, FeatureIndex f) {
    Scan& scan = scans_[n];
    GradientSum const total = nodes_[n].sum, missing = Minus(total, scan.present);
    if (ascends_) {
      float const gain = SplitGain(params_, scan.present, missing, node_gains_[n]);
      if (gain > scan.ascending.gain) scan.ascending = {gain, Beyond(scan.last), scan.present};
    }
    float const gain = SplitGain(params_, missing, scan.present, node_gains_[n]);
    if (gain > scan.descending.gain) scan.descending = {gain, Before(scan.first), missing};

    bool const goes_left = scan.descending.gain > scan.ascending.gain;
    Found const& found = goes_left ? scan.descending : scan.ascending;
    SplitCandidate const split{found.gain, f, 0, goes_left, found.left, Minus(total, found.left)};
    if (IsBetter(split, best_[n].split)) best_[n] = {split, found.threshold};
  }

  SplitParams const& params_;
  Span<Node const> nodes_;
  Span<double const> node_gains_;
  bool ascends_{false};
  std::vector<Scan> scans_;
  std::vector<ExactCandidate> best_;
};

}  // namespace

void FindExactSplits(SortedMatrix const& matrix, Span<ExactRow const> rows, SplitParams const& params, NodeIndex first,
                     std::vector<std::vector<FeatureIndex>> const& allowed, int threads, ExactNodes* nodes) {
  Span<Node const> const level{nodes->nodes.data() + first, nodes->nodes.size() - static_cast<std::size_t>(first)};
  std::vector<double> gains;
  for (Node const& node : level) gains.push_back(NodeGain(params, ToLoss(params, node.sum)));
  std::vector<FeatureIndex> features;
  for (FeatureIndex f = 0; f < matrix.features(); ++f) {
    auto const has = [f](auto const& set) { return std::binary_search(set.cbegin(), set.cend(), f); };
    if (allowed.empty() || std::any_of(allowed.cbegin(), allowed.cend(), has)) features.push_back(f);
  }
  std::vector<ColumnScanner> scanners(static_cast<std::size_t>(threads), ColumnScanner{params, level, gains});
  ParallelTasks(threads, features.size(), [&](std::size_t i, int thread) {
    scanners[static_cast<std::size_t>(thread)].Run(matrix, features[i], rows, first, allowed);
  });
  for (std::size_t n = 0; n < level.size(); ++n) {
    ExactCandidate best;
    for (ColumnScanner const& scanner : scanners) {
      if (IsBetter(scanner.best(n).split, best.split)) best = scanner.best(n);
    }
    std::size_t const node = static_cast<std::size_t>(first) + n;
    nodes->nodes[node].split = best.split;
    nodes->thresholds[node] = best.threshold;
  }
}

}  // namespace xgbgpu::host
