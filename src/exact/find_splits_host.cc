#include <algorithm>

#include "base/parallel.h"
#include "exact/exact.h"
#include "exact/exact_ops.h"
#include "split/constraint_ops.h"

namespace xgbgpu::host {

namespace {

/// The best split that one scan has found so far.
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

/// A split of a node by a value. `split.bin` has no meaning.
struct ExactCandidate {
  SplitCandidate split;
  float threshold{0.0f};  ///< `value < threshold` goes left
};

/// Has all that a thread needs to look at one column after the other.
template <bool kMonotone>
class ColumnScanner {
 public:
  ColumnScanner(SplitParams const& params, Span<Node const> nodes, Span<NodeTerms const> terms,
                Span<std::int8_t const> directions)
      : params_{params}, nodes_{nodes}, terms_{terms}, directions_{directions}, best_(nodes.size()) {}

  void Run(SortedMatrix const& matrix, FeatureIndex f, Span<ExactRow const> rows, NodeIndex first,
           std::vector<std::vector<FeatureIndex>> const& allowed) {
    Span<SortedValue const> const column = matrix.column(f);
    direction_ = kMonotone ? directions_[f] : 0;
    ascends_ = !matrix.IsDense(f) && !matrix.IsConstant(f);
    scans_.assign(nodes_.size(), Scan{});
    if (matrix.IsDense(f)) {
      for (std::size_t n = 0; n < scans_.size(); ++n) scans_[n].present = nodes_[n].sum;
    } else {
      ForEach(column, rows, first, [&](std::size_t n, float, GradientSum g) { scans_[n].present += g; });
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
  template <typename F>
  void ForEach(Span<SortedValue const> column, Span<ExactRow const> rows, NodeIndex first, F&& f) {
    constexpr std::size_t kAhead = 16;  // rows come in no order, so they are asked for early
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (i + kAhead < column.size()) __builtin_prefetch(&rows[column[i + kAhead].row]);
      ExactRow const& row = rows[column[i].row];
      auto const n = static_cast<std::size_t>(static_cast<std::int64_t>(row.node) - first);
      if (n < nodes_.size()) f(n, column[i].value, row.gradient);  // complements of nodes are large numbers here
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
    scan.below += g;
    scan.last = value;
  }

  float Gain(std::size_t n, GradientSum left, GradientSum right) const {
    return SplitGain<kMonotone>(params_, left, right, terms_[n], direction_);
  }

  /// Tries the split between the values that have gone by and the next.
  void Consider(std::size_t n, float next) {
    Scan& scan = scans_[n];
    GradientSum const total = nodes_[n].sum;
    if (ascends_) {
      float const gain = Gain(n, scan.below, total - scan.below);
      if (gain > scan.ascending.gain) scan.ascending = {gain, Between(scan.last, next), scan.below};
      if (scan.present == total) return;  // the descending scan has the same gain here, and loses on ties
    }
    GradientSum const right = scan.present - scan.below, left = total - right;
    float const gain = Gain(n, left, right);
    // A scan from above would meet this split before those met so far, so that of equal gains the later one here wins.
    if (gain > 0.0f && gain >= scan.descending.gain) scan.descending = {gain, Between(scan.last, next), left};
  }

  /// Tries "present or missing" after the column, and keeps the feature's split if it is the node's best so far.
  void Finish(std::size_t n, FeatureIndex f) {
    Scan& scan = scans_[n];
    GradientSum const total = nodes_[n].sum, missing = total - scan.present;
    if (ascends_) {
      float const gain = Gain(n, scan.present, missing);
      if (gain > scan.ascending.gain) scan.ascending = {gain, Beyond(scan.last), scan.present};
    }
    float const gain = Gain(n, missing, scan.present);
    if (gain > scan.descending.gain) scan.descending = {gain, Before(scan.first), missing};

    bool const goes_left = scan.descending.gain > scan.ascending.gain;
    Found const& found = goes_left ? scan.descending : scan.ascending;
    SplitCandidate split;
    split.gain = found.gain;
    split.feature = f;
    split.default_left = goes_left;
    split.left = found.left;
    split.right = total - found.left;
    if (IsBetter(split, best_[n].split)) best_[n] = {split, found.threshold};
  }

  SplitParams const& params_;
  Span<Node const> nodes_;
  Span<NodeTerms const> terms_;
  Span<std::int8_t const> directions_;
  int direction_{0};
  bool ascends_{false};
  std::vector<Scan> scans_;
  std::vector<ExactCandidate> best_;
};

/// Returns the features that some node may be split by.
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
void FindSplits(SortedMatrix const& matrix, Span<ExactRow const> rows, SplitParams const& params,
                Constraints const& constraints, NodeLimits const& limits, NodeIndex first,
                std::vector<std::vector<FeatureIndex>> const& allowed, int threads, ExactNodes* nodes) {
  Span<Node const> const level{nodes->nodes.data() + first, nodes->nodes.size() - static_cast<std::size_t>(first)};
  std::vector<NodeTerms> terms;
  for (std::size_t n = 0; n < level.size(); ++n) {
    terms.push_back(TermsOf<kMonotone>(params, level[n].sum, limits.bounds(first + static_cast<NodeIndex>(n))));
  }
  auto const features = UnionOf(allowed, matrix.features());
  ColumnScanner<kMonotone> const fresh{params, level, terms, constraints.directions()};
  std::vector<ColumnScanner<kMonotone>> scanners(static_cast<std::size_t>(threads), fresh);
  ParallelTasks(threads, features.size(), [&](std::size_t i, int thread) {
    scanners[static_cast<std::size_t>(thread)].Run(matrix, features[i], rows, first, allowed);
  });
  for (std::size_t n = 0; n < level.size(); ++n) {
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

void FindExactSplits(SortedMatrix const& matrix, Span<ExactRow const> rows, SplitParams const& params,
                     Constraints const& constraints, NodeLimits const& limits, NodeIndex first,
                     std::vector<std::vector<FeatureIndex>> const& allowed, int threads, ExactNodes* nodes) {
  auto const find = constraints.monotone() ? FindSplits<true> : FindSplits<false>;
  find(matrix, rows, params, constraints, limits, first, allowed, threads, nodes);
}

}  // namespace xgbgpu::host
