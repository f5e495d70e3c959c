/// Per-feature maths of sets of features (FeatureSampler, sample.h).
#ifndef XGBGPU_SAMPLE_FEATURE_OPS_H_
#define XGBGPU_SAMPLE_FEATURE_OPS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"
#include "core/portable_math.h"

namespace xgbgpu {

/// Sizes of the sets of one tree; 0: the set equals the set above.
struct FeatureCounts {
  std::uint32_t level;
  std::uint32_t node;
};

/// Returns true if a feature is in a bit set. nullptr: all features are.
XGBGPU_HD bool IsIn(std::uint32_t const* set, std::uint32_t feature) {
  return set == nullptr || ((set[feature / 32] >> (feature % 32)) & 1U) != 0;
}

/// Returns the key of a feature from its draw: a set takes features in ascending order of keys, and of equal keys the
/// smaller feature first.
XGBGPU_HD std::uint64_t FeatureKey(std::uint32_t draw) { return std::uint64_t{draw} << 32; }

/// Returns the key of a weighted feature: -log(u) / weight, which is not negative, so its bits order like its values.
XGBGPU_HD std::uint64_t FeatureKey(std::uint32_t draw, float weight) {
  constexpr float kLeastWeight = 1e-6f;  // a feature of weight 0 comes last, but may be taken: as in XGBoost
  double const u = (static_cast<double>(draw) + 0.5) * (1.0 / 4294967296.0);
  double const key = -PortableLog(u) / static_cast<double>(weight > kLeastWeight ? weight : kLeastWeight);
  std::uint64_t bits;
  std::memcpy(&bits, &key, sizeof(bits));
  return bits;
}

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_FEATURE_OPS_H_
