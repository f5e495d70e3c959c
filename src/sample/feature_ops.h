/// Per-feature maths of sets of features (FeatureSampler, sample.h).
#ifndef XGBGPU_SAMPLE_FEATURE_OPS_H_
#define XGBGPU_SAMPLE_FEATURE_OPS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"
#include "core/portable_math.h"

namespace xgbgpu {

/// Sizes of the sets of one tree; 0: the set is the one that it would be chosen from.
struct FeatureCounts {
  std::uint32_t level;
  std::uint32_t node;
};

/// Is a feature in a set of bits? nullptr: all are.
XGBGPU_HD bool IsIn(std::uint32_t const* set, std::uint32_t feature) {
  return set == nullptr || ((set[feature / 32] >> (feature % 32)) & 1U) != 0;
}

/// Place of a feature in the order in which a set takes features, from its draw. Of equal keys the smaller feature is
/// first.
XGBGPU_HD std::uint64_t FeatureKey(std::uint32_t draw) { return std::uint64_t{draw} << 32; }

/// The place of a feature with a weight: -log(u) / weight, which is not negative, so that its bits are ordered as its
/// values.
XGBGPU_HD std::uint64_t FeatureKey(std::uint32_t draw, float weight) {
  constexpr float kLeastWeight = 1e-6f;  // a feature of weight 0 is taken last, but can be taken: as in XGBoost
  double const u = (static_cast<double>(draw) + 0.5) * (1.0 / 4294967296.0);
  double const key = -PortableLog(u) / static_cast<double>(weight > kLeastWeight ? weight : kLeastWeight);
  std::uint64_t bits;
  std::memcpy(&bits, &key, sizeof(bits));
  return bits;
}

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_FEATURE_OPS_H_
