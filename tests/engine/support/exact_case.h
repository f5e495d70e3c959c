/// Levels of growing exact trees, for tests of single stages. They have columns of every kind and nodes of every size.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_EXACT_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_EXACT_CASE_H_

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/fixed_point.h"
#include "reference/exact.h"
#include "split/constraints.h"
#include "support/data.h"

namespace xgbgpu::testing {

struct ExactCase {
  reference::Values values;
  reference::FixedPoint gradients;           ///< of all rows
  std::vector<std::vector<RowIndex>> nodes;  ///< rows of each, unordered except in a root; some rows may be in none
  TrainParams params;
  std::vector<FeatureIndex> used;                  ///< features that the tree may use
  std::vector<std::vector<FeatureIndex>> allowed;  ///< of these, what each node may use; empty: all

  FeatureIndex features() const { return static_cast<FeatureIndex>(values.features); }
  std::vector<FeatureIndex> const& FeaturesOf(std::size_t node) const { return allowed.empty() ? used : allowed[node]; }
  GradientFormat format() const { return {false, gradients.grad_shift, gradients.hess_shift}; }
  GradientSum SumOf(std::vector<RowIndex> const& rows) const {
    GradientSum sum;
    for (RowIndex const r : rows) sum = {sum.grad + gradients.rows[r].grad, sum.hess + gradients.rows[r].hess};
    return sum;
  }

  /// The number, in a tree, of the level's first node. The nodes before it are the parents, one for each pair of nodes.
  NodeIndex first() const { return static_cast<NodeIndex>((nodes.size() + 1) / 2); }
  /// Returns what monotone constraints leave to the nodes, if each parent is split by the feature of its number.
  NodeLimits Limits(Constraints const& constraints) const {
    NodeLimits limits;
    limits.Reset(constraints);
    SplitParams const split_params{params, format()};
    for (NodeIndex parent = 0; parent < first(); ++parent) {
      auto const left = 2 * static_cast<std::size_t>(parent);
      SplitCandidate split;
      split.feature = static_cast<FeatureIndex>(parent) % features();
      split.left = SumOf(nodes[left]);
      if (left + 1 < nodes.size()) split.right = SumOf(nodes[left + 1]);
      limits.AddChildren(split_params, parent, first() + 2 * parent, split);
    }
    return limits;
  }
  reference::ExactSplit BestSplit(std::size_t node, WeightBounds bounds) const {
    return reference::FindExactSplit(values, gradients, params, nodes[node], FeaturesOf(node),
                                     {bounds.lower, bounds.upper});
  }
};

/// Columns have values everywhere, in some rows, in few or in none; many different ones, few or one; 0 and -0.
inline float ExactValue(std::size_t feature, Random* random) {
  float const continuous = random->Between(-4, 4), share = random->Uniform();
  float const few = static_cast<float>(random->Below(5)) - 2, zero = random->Below(2) == 0 ? -0.0f : 0.0f;
  switch (feature % 8) {
    case 0:
      return continuous;
    case 1:
      return share < 0.3f ? reference::kMissing : continuous;
    case 2:
      return few == 0 ? zero : few;
    case 3:
      return share < 0.4f ? reference::kMissing : few;
    case 4:
      return 7;
    case 5:
      return share < 0.5f ? reference::kMissing : zero;
    case 6:
      return reference::kMissing;
    default:
      return share < 0.97f ? reference::kMissing : continuous;
  }
}

struct ExactShape {
  char const* name;
  std::size_t rows, features;
  std::vector<std::size_t> nodes;  ///< rows of each; the other rows are in none
};

/// What else a case has.
enum class ExactKind {
  kPlain,
  kConstrained,  ///< monotone constraints; sums beyond 32 bits; an L1 penalty
  kFeatureSets,  ///< some features are not used, and some not in every node; clipped weights; no lambda
};

/// The parameter of tests. It is small because GoogleTest copies it for all tests of the program before any one runs.
struct ExactCaseName {
  ExactShape shape;
  ExactKind kind;
};

inline void PrintTo(ExactCaseName const& name, std::ostream* os) {
  char const* const kinds[] = {"", "Constrained", "FeatureSets"};
  *os << name.shape.name << kinds[static_cast<int>(name.kind)];
}

inline ExactCase MakeExactCase(ExactCaseName const& name) {
  auto const& [shape, kind] = name;
  ExactCase c{{shape.rows, shape.features}, {}, {}, {}, {}, {}};
  Random random{shape.rows * 31 + shape.features * 7 + shape.nodes.size() + static_cast<std::size_t>(kind)};
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t f = 0; f < shape.features; ++f) c.values(r, f) = ExactValue(f, &random);
  }
  // Gradients are integers of up to 2^17 and hessians of up to 2^16, or 2^12 times as large. Gains are far above 1e-6.
  // Some hessians are zero, some gradients too; then neighbouring thresholds gain the same.
  int const shift = kind == ExactKind::kConstrained ? 24 : 12;
  c.gradients = {false, shift, shift, {}};
  double const scale = ScaleByPowerOfTwo(1.0, shift);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    float const grad = (c.values(r, 0) > 1 ? 20.0f : -10.0f) + random.Between(-12, 12), hess = 16 * random.Uniform();
    std::size_t const zero = random.Below(8);
    c.gradients.rows.push_back(
        {zero == 0 ? 0 : RoundToNearest(grad, scale), zero < 2 ? 0 : RoundToNearest(hess, scale)});
  }
  std::vector<RowIndex> rows;
  for (std::size_t r = 0; r < shape.rows; ++r) rows.push_back(static_cast<RowIndex>(r));
  for (std::size_t r = shape.rows; r > 1; --r) std::swap(rows[r - 1], rows[random.Below(r)]);
  auto next = rows.cbegin();
  for (std::size_t const size : shape.nodes) {
    c.nodes.emplace_back(next, next + static_cast<std::ptrdiff_t>(size));
    next += static_cast<std::ptrdiff_t>(size);
  }
  if (c.nodes[0].size() == shape.rows) std::sort(c.nodes[0].begin(), c.nodes[0].end());  // a root's rows are in order
  c.params.min_child_weight = 0.5f;
  for (FeatureIndex f = 0; f < c.features(); ++f) {
    if (kind == ExactKind::kConstrained) c.params.monotone_constraints.push_back(static_cast<int>(f % 3) - 1);
    if (kind != ExactKind::kFeatureSets || f % 5 != 2) c.used.push_back(f);
  }
  if (kind == ExactKind::kConstrained) c.params.reg_alpha = 3;
  if (kind != ExactKind::kFeatureSets) return c;
  c.params.max_delta_step = 0.7f;
  c.params.reg_lambda = 0;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    c.allowed.emplace_back();
    for (FeatureIndex const f : c.used) {
      if (random.Below(3) != 0) c.allowed.back().push_back(f);
    }
  }
  return c;
}

/// A tile has 2,048 entries. Nodes lie within one tile or over several, share one, or end where a tile ends.
inline std::vector<ExactCaseName> ExactCases() {
  std::vector<std::size_t> many(400, 7);
  many.push_back(150);
  std::vector<ExactShape> const shapes{
      {"OneRow", 1, 8, {1}},
      {"NoRowInTheSample", 50, 8, {0}},
      {"TwoNodesOfARow", 2, 8, {1, 1}},
      {"ANodeForEveryRow", 300, 9, std::vector<std::size_t>(300, 1)},
      {"OneFullTile", 2048, 8, {2048}},
      {"NodesThatAreTiles", 6144, 8, {2048, 2048, 2048}},
      {"OneNodeOfSeveralTiles", 7001, 8, {7001}},
      {"SeveralNodesInATile", 3000, 19, many},
      {"LargeAndSmallNodes", 9001, 8, {4500, 1, 2, 1500, 33, 2000}},
      {"MoreFeaturesThanThreads", 40, 301, {15, 20}},
  };
  std::vector<ExactCaseName> cases;
  for (ExactShape const& shape : shapes) {
    for (auto const kind : {ExactKind::kPlain, ExactKind::kConstrained, ExactKind::kFeatureSets}) {
      cases.push_back({shape, kind});
    }
  }
  return cases;
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_EXACT_CASE_H_
