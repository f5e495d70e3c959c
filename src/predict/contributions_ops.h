/// The terms of one path of a tree in the contributions of a row's features. contributions.h has the derivation.
#ifndef XGBGPU_PREDICT_CONTRIBUTIONS_OPS_H_
#define XGBGPU_PREDICT_CONTRIBUTIONS_OPS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"
#include "predict/forest_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The tests of a path on one feature, apart from categories.
struct alignas(16) PathElement {
  float lower;        ///< smaller values leave the path
  float upper;        ///< values from here on leave the path; NaN: no bound
  float zero;         ///< share of the training rows on the path, by hessians, if the feature is unknown
  std::uint32_t key;  ///< 1 bit: rows without the feature stay on the path; 31 bits feature

  XGBGPU_HD FeatureIndex feature() const { return key & 0x7FFFFFFFU; }
  XGBGPU_HD bool Has(float x) const {
    // Without a branch. Comparisons with NaN are false: a missing value is inside.
    bool const inside = static_cast<bool>(!(x < lower) & !(x >= upper));
    return static_cast<bool>(inside & ((x == x) | (key >> 31 != 0)));
  }
};

constexpr std::uint64_t kNoElementSet = ~std::uint64_t{0};

/// Sets of the elements of paths.
struct ElementSets {
  static constexpr bool kSome = true;

  PackedSets sets;
  std::uint64_t const* of_element;  ///< kNoElementSet: the path does not test the feature for categories

  XGBGPU_HD ElementSets From(std::uint64_t first) const { return {sets, of_element + first}; }
};

/// For paths with tests of numbers only.
struct NoElementSets {
  static constexpr bool kSome = false;

  XGBGPU_HD NoElementSets From(std::uint64_t) const { return {}; }
};

/// Elements of one path, or of all paths.
template <typename Sets>
struct PathElements {
  PathElement const* elements;
  Sets sets;

  XGBGPU_HD PathElement const& operator[](std::uint64_t i) const { return elements[i]; }
  XGBGPU_HD PathElements From(std::uint64_t first) const { return {elements + first, sets.From(first)}; }

  /// Writes has[row]: ~0 if the row is inside element i, else 0. value(feature, row) returns a value, NaN if missing.
  template <int kRows, typename Values>
  XGBGPU_HD void Ask(std::uint32_t i, Values const& value, std::uint32_t (&has)[kRows]) const {
    PathElement const element = elements[i];
    for (int r = 0; r < kRows; ++r) {
      has[r] = 0U - static_cast<std::uint32_t>(element.Has(value(element.feature(), r)));
    }
    if constexpr (Sets::kSome) {
      std::uint64_t const set = sets.of_element[i];
      for (int r = 0; set != kNoElementSet && r < kRows; ++r) {
        float const x = value(element.feature(), r);
        has[r] &= 0U - static_cast<std::uint32_t>((x != x) | sets.sets.Has(set, x));
      }
    }
  }
};

constexpr std::uint32_t kGroupNodes = 4;

/// Up to four nodes of a quadrature rule.
struct alignas(16) QuadratureGroup {
  float at[kGroupNodes];            ///< t
  float rest[kGroupNodes];          ///< 1 - t
  float weight[kGroupNodes];        ///< 0 for nodes beyond the rule's
  float inverse_rest[kGroupNodes];  ///< 1 / (1 - t)
};

/// Factor of an element (and its inverse) at the nodes of a group, shared by all rows inside the element.
struct alignas(16) ElementWeights {
  float one[kGroupNodes];
  float inverse[kGroupNodes];
};

XGBGPU_HD ElementWeights MakeWeights(PathElement const& element, QuadratureGroup const& group) {
  ElementWeights weights;
  for (std::uint32_t n = 0; n < kGroupNodes; ++n) {
    weights.one[n] = group.at[n] + group.rest[n] * element.zero;
    weights.inverse[n] = 1.0f / weights.one[n];
  }
  return weights;
}

/// A leaf and the tests on its way.
struct Path {
  std::uint64_t first;        ///< number of its first element; a path has one for each feature
  std::uint32_t elements;     ///< > 0
  float value;                ///< value of the leaf
  std::uint32_t first_group;  ///< first group of its quadrature rule
  std::uint32_t entry;        ///< place of its weights [groups, elements] among its chunk's

  XGBGPU_HD std::uint32_t nodes() const { return (elements + 1) / 2; }
  XGBGPU_HD std::uint32_t groups() const { return (nodes() + kGroupNodes - 1) / kGroupNodes; }
};

/// Paths whose weights are computed together.
struct PathChunk {
  std::uint64_t first;
  std::uint32_t paths;
  std::uint32_t entries;  ///< number of weights; 0: a path with too many, computed where needed
};

/// Returns a where the mask is ~0, b where it is 0. A conditional would become a branch, which prevents vectors.
XGBGPU_HD float Select(std::uint32_t mask, float a, float b) {
  std::uint32_t a_bits, b_bits;
  std::memcpy(&a_bits, &a, sizeof(a));
  std::memcpy(&b_bits, &b, sizeof(b));
  std::uint32_t const bits = (a_bits & mask) | (b_bits & ~mask);
  float chosen;
  std::memcpy(&chosen, &bits, sizeof(bits));
  return chosen;
}

constexpr std::uint32_t kKeptAnswers = 32;

/// Tests an element like PathElements::Ask. `kept` has the results of the first kKeptAnswers elements.
template <int kRows, typename Elements, typename Values>
XGBGPU_HD void Answer(Elements const& elements, Path const& path, std::uint32_t i, std::uint32_t const (&kept)[kRows],
                      Values const& value, std::uint32_t (&has)[kRows]) {
  if (path.elements <= kKeptAnswers) {
    for (int r = 0; r < kRows; ++r) has[r] = 0U - (kept[r] >> i & 1);
  } else {
    elements.template Ask<kRows>(i, value, has);
  }
}

/// Computes leaf times weight times the factors of all elements at the nodes of a group, and the elements' tests.
template <int kNodes, int kRows, typename Elements, typename Weights, typename Values>
XGBGPU_HD void Multiply(Elements const& elements, Path const& path, QuadratureGroup const& group,
                        Weights const& weights, Values const& value, float (&product)[kNodes][kRows],
                        std::uint32_t (&kept)[kRows]) {
  for (int r = 0; r < kRows; ++r) kept[r] = 0;
  for (int n = 0; n < kNodes; ++n) {
    for (int r = 0; r < kRows; ++r) product[n][r] = path.value * group.weight[n];
  }
  for (std::uint32_t i = 0; i < path.elements; ++i) {
    PathElement const element = elements[i];
    ElementWeights const weight = weights(i);
    std::uint32_t has[kRows];  // ~0 or 0
    elements.template Ask<kRows>(i, value, has);
    for (int r = 0; r < kRows; ++r) kept[r] |= has[r] & 1U << i % kKeptAnswers;
    for (int n = 0; n < kNodes; ++n) {
      float const zero = group.rest[n] * element.zero;
      for (int r = 0; r < kRows; ++r) product[n][r] = product[n][r] * Select(has[r], weight.one[n], zero);
    }
  }
}

/// Adds a path's sum over kNodes nodes for kRows rows. weights(i): of element i. value(feature, row): NaN if missing.
/// add(feature, row, term) adds a term.
template <int kNodes, int kRows, typename Elements, typename Weights, typename Values, typename Add>
XGBGPU_HD void AddGroup(Elements const& elements, Path const& path, QuadratureGroup const& group,
                        Weights const& weights, Values const& value, Add const& add) {
  float product[kNodes][kRows], others[kRows];
  std::uint32_t kept[kRows];
  Multiply<kNodes, kRows>(elements, path, group, weights, value, product, kept);
  for (int r = 0; r < kRows; ++r) others[r] = product[0][r] * group.inverse_rest[0];
  for (int n = 1; n < kNodes; ++n) {
    for (int r = 0; r < kRows; ++r) others[r] = others[r] + product[n][r] * group.inverse_rest[n];
  }
  for (std::uint32_t i = 0; i < path.elements; ++i) {
    PathElement const element = elements[i];
    ElementWeights const weight = weights(i);
    std::uint32_t has[kRows];  // ~0 or 0
    Answer<kRows>(elements, path, i, kept, value, has);
    float sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = product[0][r] * weight.inverse[0];
    for (int n = 1; n < kNodes; ++n) {
      for (int r = 0; r < kRows; ++r) sum[r] = sum[r] + product[n][r] * weight.inverse[n];
    }
    float const known = 1.0f - element.zero;
    for (int r = 0; r < kRows; ++r) add(element.feature(), r, Select(has[r], known * sum[r], -others[r]));
  }
}

/// A number of nodes that is known at compile time.
template <int kCount>
struct NodeCount {
  static constexpr int kNodes = kCount;
};

/// Calls use(NodeCount, g) for each group g of a path's rule.
template <typename Use>
XGBGPU_HD void ForEachGroup(Path const& path, Use const& use) {
  std::uint32_t left = path.nodes();
  for (std::uint32_t g = 0; left != 0; ++g) {
    std::uint32_t const nodes = left < kGroupNodes ? left : kGroupNodes;
    switch (nodes) {
      case 1:
        use(NodeCount<1>{}, g);
        break;
      case 2:
        use(NodeCount<2>{}, g);
        break;
      case 3:
        use(NodeCount<3>{}, g);
        break;
      default:
        use(NodeCount<4>{}, g);
    }
    left -= nodes;
  }
}

/// Adds a path's contributions for kRows rows. `elements` (PathElements) and `groups` are the path's. weights(i, g): of
/// element i at the nodes of group g.
template <int kRows, typename Elements, typename Weights, typename Values, typename Add>
XGBGPU_HD void AddPath(Elements const& elements, Path const& path, QuadratureGroup const* groups,
                       Weights const& weights, Values const& value, Add const& add) {
  ForEachGroup(path, [&](auto count, std::uint32_t g) {
    auto const of_group = [&](std::uint32_t i) { return weights(i, g); };
    AddGroup<decltype(count)::kNodes, kRows>(elements, path, groups[g], of_group, value, add);
  });
}

/// Adds the terms of one tree in a row's approximate contributions: at each step from node to child the difference of
/// their means, to the tested feature. means[n · words of a node] is the mean of node n.
template <typename Nodes, typename Sets, typename Values, typename Add>
XGBGPU_HD void AddSteps(ForestWord const* tree, Sets const& sets, float const* means, Values const& value,
                        Add const& add) {
  ForestNode node = Nodes::Load(tree, 0);
  double before = means[0];
  while (!node.leaf()) {
    std::uint32_t const next = node.Next(value(node.feature), sets);
    double const after = means[std::uint64_t{next} * Nodes::kWords];
    add(node.feature, after - before);
    before = after;
    node = Nodes::Load(tree, next);
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_CONTRIBUTIONS_OPS_H_
