/// Cut points: how a feature's real values map to bins.
#ifndef XGBGPU_CUTS_H_
#define XGBGPU_CUTS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/types.h"

namespace xgbgpu {

/// Bin b of feature f holds the values in [values[b-1], values[b]); the first bin of a feature has no lower end and the
/// last takes whatever is larger. A split at bin b sends `value < values[b]` to the left, as XGBoost does.
struct Cuts {
  std::vector<BinIndex> ptr;      ///< [features + 1]; feature f owns bins ptr[f] … ptr[f+1]-1, at least one
  std::vector<float> values;      ///< [bins] upper ends, ascending inside a feature
  std::vector<float> min_values;  ///< [features] a value below every one seen: "all present values go right"

  FeatureIndex features() const { return ptr.empty() ? 0 : static_cast<FeatureIndex>(ptr.size() - 1); }
  BinIndex bins() const { return ptr.empty() ? 0 : ptr.back(); }
  BinIndex bins(FeatureIndex f) const { return ptr[f + 1] - ptr[f]; }
};

inline bool operator==(Cuts const& a, Cuts const& b) {
  return a.ptr == b.ptr && a.values == b.values && a.min_values == b.min_values;
}

}  // namespace xgbgpu

#endif  // XGBGPU_CUTS_H_
