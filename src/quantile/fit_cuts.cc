// Extends cuts by the extreme values and new categories of rows.
#include "quantile/fit_cuts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/float_bits.h"
#include "base/message.h"
#include "core/row_values.h"
#include "quantile/categories.h"
#include "quantile/feature_cuts.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// The smallest and the largest value of a feature. Without a value the smallest is above the largest.
struct Extremes {
  float smallest{std::numeric_limits<float>::infinity()};
  float largest{-std::numeric_limits<float>::infinity()};

  void Add(Extremes const& other) {
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
};

/// Returns [features] of the rows for which takes(row) is true.
template <typename Takes>
std::vector<Extremes> FindExtremes(RowSource const& source, int threads, Takes&& takes) {
  constexpr std::size_t kGrain = 1 << 12;  // rows
  FeatureIndex const features = source.features();
  std::vector<std::vector<Extremes>> of_threads(static_cast<std::size_t>(threads), std::vector<Extremes>(features));
  ForEachRow(source, threads, kGrain, [&](std::uint64_t r, auto const& row, int thread) {
    if (!takes(r)) return;
    auto& own = of_threads[static_cast<std::size_t>(thread)];
    row.ForEach([&](FeatureIndex f, float value) {
      if (f >= features || std::isinf(value)) ThrowBadValue(r, {f, value}, features);
      own[f].Add({value, value});
    });
  });
  std::vector<Extremes> all(features);
  for (auto const& own : of_threads) {
    for (FeatureIndex f = 0; f < features; ++f) all[f].Add(own[f]);
  }
  return all;
}

/// Extends the bins of a feature, from `min_value` to the upper end `last`, to its extremes.
void Extend(Extremes const& extremes, bool is_categorical, float* min_value, float* last) {
  if (extremes.smallest <= *min_value) *min_value = BelowAll(extremes.smallest);
  if (!is_categorical && extremes.largest >= *last) *last = AboveAll(extremes.largest);
}

/// Extends numerical features to the extreme values of rows of weight 0 in all shards.
void CoverRowsWithoutWeight(RowSource const& source, Span<float const> weights, int threads, Collective& collective,
                            Cuts* cuts) {
  if (!collective.AnyOf(std::find(weights.begin(), weights.end(), 0.0f) != weights.end())) return;
  std::vector<Extremes> extremes;
  AllOrNone(collective, [&] {
    extremes = FindExtremes(source, threads, [&](std::uint64_t r) { return !weights.empty() && weights[r] == 0; });
  });
  std::vector<std::int64_t> keys;
  for (auto const& [smallest, largest] : extremes) {
    keys.push_back(-static_cast<std::int64_t>(AscendingKey(smallest)));
    keys.push_back(AscendingKey(largest));
  }
  collective.Max(Span<std::int64_t>{keys});
  for (FeatureIndex f = 0; f < cuts->features(); ++f) {
    if (cuts->IsCategorical(f)) continue;  // it has a bin for each category of all rows
    Extremes const all{ValueOfKey(static_cast<std::uint32_t>(-keys[2 * f])),
                       ValueOfKey(static_cast<std::uint32_t>(keys[2 * f + 1]))};
    Extend(all, false, &cuts->min_values[f], &cuts->values[cuts->ptr[f + 1] - 1]);
  }
}

}  // namespace

Cuts FitCuts(Cuts const& cuts, RowSource const& source, int threads) {
  auto const categorical = source.categorical();
  bool const alike =
      cuts.features() == source.features() &&
      std::equal(categorical.begin(), categorical.end(), cuts.categorical.begin(), cuts.categorical.end());
  if (!alike) {
    Throw<InvalidArgument>("The data have ", source.features(), " columns, and those whose bins they share (ref) have ",
                           cuts.features(), "; allowed: as many, of which the same are categorical (feature_types)");
  }
  auto const extremes = FindExtremes(source, threads, [](std::uint64_t) { return true; });
  Cuts own = cuts;
  SetCategoryCuts(source, threads, NoOtherShards(), &own);
  std::vector<FeatureCuts> fitting(cuts.features());
  for (FeatureIndex f = 0; f < cuts.features(); ++f) {
    Cuts const& from = cuts.IsCategorical(f) && own.bins(f) > cuts.bins(f) ? own : cuts;
    fitting[f].values.assign(from.values.begin() + from.ptr[f], from.values.begin() + from.ptr[f + 1]);
    fitting[f].min_value = cuts.min_values[f];
    Extend(extremes[f], cuts.IsCategorical(f), &fitting[f].min_value, &fitting[f].values.back());
  }
  Cuts joined = JoinCuts(fitting);
  joined.categorical = cuts.categorical;
  return joined;
}

Cuts CutsOfAllRows(std::vector<FeatureCuts> const& features, RowSource const& source, Span<float const> weights,
                   int threads, Collective& collective) {
  Cuts cuts = JoinCuts(features);
  SetCategoryCuts(source, threads, collective, &cuts);
  CoverRowsWithoutWeight(source, weights, threads, collective, &cuts);
  return cuts;
}

}  // namespace xgbgpu
