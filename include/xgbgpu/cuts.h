/// Cut points: the map from values of a feature to bins.
#ifndef XGBGPU_CUTS_H_
#define XGBGPU_CUTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "xgbgpu/types.h"

namespace xgbgpu {

/// Bin b of feature f holds the values in [values[b-1], values[b]). The first bin of a feature has no lower end, the
/// last one no upper end. A split at bin b sends `value < values[b]` to the left, as in XGBoost.
///
/// A categorical feature has one bin for each category from 0 to the largest one seen: bin b is category b, and ends at
/// b + 1.
struct Cuts {
  std::vector<BinIndex> ptr;      ///< [features + 1]; feature f owns bins ptr[f] … ptr[f+1]-1, at least one
  std::vector<float> values;      ///< [bins] upper ends, ascending inside a feature
  std::vector<float> min_values;  ///< [features] below every value seen: a split there sends all present values right
  std::vector<std::uint8_t> categorical{};  ///< [features] 1: a categorical feature; empty: there is none

  FeatureIndex features() const { return ptr.empty() ? 0 : static_cast<FeatureIndex>(ptr.size() - 1); }
  BinIndex bins() const { return ptr.empty() ? 0 : ptr.back(); }
  BinIndex bins(FeatureIndex f) const { return ptr[f + 1] - ptr[f]; }
  bool HasCategories() const {
    return std::any_of(categorical.begin(), categorical.end(), [](std::uint8_t is) { return is != 0; });
  }
  bool IsCategorical(FeatureIndex f) const { return !categorical.empty() && categorical[f] != 0; }
};

inline bool operator==(Cuts const& a, Cuts const& b) {
  return a.ptr == b.ptr && a.values == b.values && a.min_values == b.min_values && a.categorical == b.categorical;
}

}  // namespace xgbgpu

#endif  // XGBGPU_CUTS_H_
