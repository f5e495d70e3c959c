// Makes bins from chosen values, joins the bins of all features, and checks weights and values.
#include "quantile/feature_cuts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float_bits.h"
#include "base/message.h"
#include "core/fixed_point.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/params.h"

namespace xgbgpu {

FeatureCuts CutsOfEmptyColumn() {
  constexpr float kValue = 1e-5f;  // XGBoost's bin of a column without values
  return {kValue, {AboveAll(kValue)}};
}

FeatureCuts CutsOfValues(std::uint32_t first, std::uint32_t last, std::uint64_t bins, Span<std::uint32_t const> taken) {
  FeatureCuts cuts{BelowAll(ValueOfKey(first)), {}};
  auto const add = [&](std::uint32_t key) {
    if (cuts.values.size() + 1 < bins) cuts.values.push_back(ValueOfKey(key));
  };
  cuts.values.reserve(std::min<std::uint64_t>(bins, taken.size() + 2));
  for (std::uint32_t const key : taken) add(key);
  if (last != first && (taken.empty() || taken.back() != last)) add(last);
  cuts.values.push_back(AboveAll(ValueOfKey(last)));
  return cuts;
}

FeatureCuts CutsOfEdges(FeatureIndex feature, std::uint64_t distinct, Span<std::uint32_t const> keys) {
  if (distinct > kMaxBinLimit) {
    Throw<InvalidArgument>("The quantised data have ", distinct, " bins in feature ", feature, "; allowed: at most ",
                           kMaxBinLimit, " (max_bin)");
  }
  FeatureCuts cuts{ValueOfKey(keys[0]), {}};
  cuts.values.reserve(keys.size());
  for (std::size_t i = 1; i < keys.size(); ++i) cuts.values.push_back(ValueOfKey(keys[i]));
  cuts.values.push_back(std::max(std::numeric_limits<float>::max(), AboveAll(ValueOfKey(keys.back()))));
  return cuts;
}

Cuts JoinCuts(std::vector<FeatureCuts> const& features) {
  Cuts cuts;
  cuts.ptr.reserve(features.size() + 1);
  cuts.ptr.push_back(0);
  std::uint64_t bins = 0;
  for (FeatureCuts const& f : features) {
    bins += f.values.size();
    // A feature may need one more symbol, for "missing". The bins and these symbols must fit a BinIndex together.
    if (bins + features.size() > std::numeric_limits<BinIndex>::max()) {
      Throw<InvalidArgument>("The first ", cuts.ptr.size(), " features have ", bins,
                             " bins; allowed: ", std::numeric_limits<BinIndex>::max() - features.size(),
                             " over all features. Use a smaller max_bin");
    }
    cuts.ptr.push_back(static_cast<BinIndex>(bins));
  }
  cuts.values.reserve(bins);
  cuts.min_values.reserve(features.size());
  for (FeatureCuts const& f : features) {
    cuts.values.insert(cuts.values.end(), f.values.begin(), f.values.end());
    cuts.min_values.push_back(f.min_value);
  }
  return cuts;
}

void CheckWeights(std::uint64_t rows, Span<float const> weights) {
  if (!weights.empty() && weights.size() != rows) {
    Throw<InvalidArgument>("There are ", weights.size(), " weights; allowed: none, or one for each of the ", rows,
                           " rows");
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && weights[i] <= std::numeric_limits<float>::max())) {
      Throw<InvalidArgument>("Weight of row ", i, " is ", weights[i], "; allowed: finite numbers, 0 or larger");
    }
  }
}

double WeightScale(Span<float const> weights) {
  return WeightScale(*std::max_element(weights.begin(), weights.end()), weights.size());
}

double WeightScale(float largest, std::uint64_t rows) {
  int bits = 0;  // weights become integers of at most 2^bits, so that a column's sum stays below 2^62
  while ((rows << bits) < (std::uint64_t{1} << 61) && bits < kWideBits) ++bits;
  return ScaleByPowerOfTwo(1.0, bits - (largest > 0 ? std::ilogb(largest) + 1 : 0));
}

void ThrowBadValue(std::uint64_t row, Entry const& entry, FeatureIndex features) {
  Throw<InvalidArgument>("Value of row ", row, ", feature ", entry.feature, " is ", entry.value,
                         "; allowed: finite numbers or missing, features 0 to ", features - 1);
}

void CheckEachFeatureOnce(std::uint64_t row, Span<Entry const> values) {
  std::vector<FeatureIndex> seen;
  for (Entry const& e : values) {
    if (!std::isnan(e.value)) seen.push_back(e.feature);
  }
  std::sort(seen.begin(), seen.end());
  auto const twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) {
    Throw<InvalidArgument>("Row ", row, " has feature ", *twice, " more than once; allowed: at most one value each");
  }
}

}  // namespace xgbgpu
