/// The terms of one path of a tree in the interactions of a row's features. interactions.h has the derivation.
#ifndef XGBGPU_PREDICT_INTERACTIONS_OPS_H_
#define XGBGPU_PREDICT_INTERACTIONS_OPS_H_

#include <cstddef>
#include <cstdint>

#include "base/hd.h"
#include "predict/contributions_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Sums of a row for features 0 … n - 1: each feature's contribution, then the shared term of each pair.
struct InteractionSums {
  FeatureIndex features;

  XGBGPU_HD std::size_t size() const { return std::size_t{features} * (std::size_t{features} + 1) / 2; }
  XGBGPU_HD std::size_t of(FeatureIndex f) const { return f; }
  /// Returns the place of a pair's sum, equal for (a, b) and (b, a). a and b differ.
  XGBGPU_HD std::size_t of(FeatureIndex a, FeatureIndex b) const {
    std::size_t const large = a < b ? b : a, small = a < b ? a : b;
    return features + large * (large - 1) / 2 + small;
  }
};

/// Adds, for kRows rows and every pair of a path's elements, a sum over kNodes nodes. weights(i): of element i.
/// value(feature, row): NaN if missing. add(feature, feature, row, term) adds a term.
template <int kNodes, int kRows, typename Elements, typename Weights, typename Values, typename Add>
XGBGPU_HD void AddGroupPairs(Elements const& elements, Path const& path, QuadratureGroup const& group,
                             Weights const& weights, Values const& value, Add const& add) {
  float product[kNodes][kRows];
  std::uint32_t kept[kRows], has[kRows];
  Multiply<kNodes, kRows>(elements, path, group, weights, value, product, kept);
  for (std::uint32_t i = 1; i < path.elements; ++i) {
    PathElement const element = elements[i];
    ElementWeights const weight = weights(i);
    Answer<kRows>(elements, path, i, kept, value, has);
    // Halves of the products with the derivative of factor i in its place, and their sum for a derivative of the other
    // factor of a row outside.
    float derived[kNodes][kRows], others[kRows];
    for (int n = 0; n < kNodes; ++n) {
      float const inside = 0.5f * (1.0f - element.zero) * weight.inverse[n], outside = -0.5f * group.inverse_rest[n];
      for (int r = 0; r < kRows; ++r) derived[n][r] = product[n][r] * Select(has[r], inside, outside);
    }
    for (int r = 0; r < kRows; ++r) others[r] = derived[0][r] * group.inverse_rest[0];
    for (int n = 1; n < kNodes; ++n) {
      for (int r = 0; r < kRows; ++r) others[r] = others[r] + derived[n][r] * group.inverse_rest[n];
    }
    for (std::uint32_t j = 0; j < i; ++j) {
      PathElement const other = elements[j];
      ElementWeights const other_weight = weights(j);
      Answer<kRows>(elements, path, j, kept, value, has);
      float sum[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = derived[0][r] * other_weight.inverse[0];
      for (int n = 1; n < kNodes; ++n) {
        for (int r = 0; r < kRows; ++r) sum[r] = sum[r] + derived[n][r] * other_weight.inverse[n];
      }
      float const known = 1.0f - other.zero;
      for (int r = 0; r < kRows; ++r) {
        add(element.feature(), other.feature(), r, Select(has[r], known * sum[r], -others[r]));
      }
    }
  }
}

/// Adds a path's interactions for kRows rows, like AddPath.
template <int kRows, typename Elements, typename Weights, typename Values, typename Add>
XGBGPU_HD void AddPathPairs(Elements const& elements, Path const& path, QuadratureGroup const* groups,
                            Weights const& weights, Values const& value, Add const& add) {
  if (path.elements < 2) return;
  ForEachGroup(path, [&](auto count, std::uint32_t g) {
    auto const of_group = [&](std::uint32_t i) { return weights(i, g); };
    AddGroupPairs<decltype(count)::kNodes, kRows>(elements, path, groups[g], of_group, value, add);
  });
}

/// Subtracts the shared terms from each contribution of a row. at(i): the i-th of the row's sums, to be changed.
template <typename At>
XGBGPU_HD void KeepOwnEffects(InteractionSums const& sums, At const& at) {
  for (FeatureIndex a = 0; a < sums.features; ++a) {
    double own = at(sums.of(a));
    for (FeatureIndex b = 0; b < sums.features; ++b) {
      if (b != a) own = own - at(sums.of(a, b));
    }
    at(sums.of(a)) = own;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_INTERACTIONS_OPS_H_
