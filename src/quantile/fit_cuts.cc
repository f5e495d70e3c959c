// Extends cuts by the extreme values and new categories of rows.
#include "quantile/fit_cuts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "base/float_bits.h"
#include "base/message.h"
#include "base/parallel.h"
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

/// Returns [features].
std::vector<Extremes> FindExtremes(RowSource const& source, int threads) {
  constexpr std::size_t kGrain = 1 << 12;  // rows
  FeatureIndex const features = source.features();
  std::vector<Extremes> all(features);
  std::mutex mutex;
  source.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<Extremes> own(features);
      for (std::size_t i = begin; i < end; ++i) {
        for (Entry const& e : batch.row(i)) {
          if (std::isnan(e.value)) continue;
          if (e.feature >= features || std::isinf(e.value)) ThrowBadValue(batch.first_row + i, e, features);
          own[e.feature].Add({e.value, e.value});
        }
      }
      std::lock_guard<std::mutex> const lock{mutex};
      for (FeatureIndex f = 0; f < features; ++f) all[f].Add(own[f]);
    });
  });
  return all;
}

/// Returns [features] of the rows of weight 0.
std::vector<Extremes> FindExtremesWithoutWeight(RowSource const& source, Span<float const> weights, int threads) {
  constexpr std::size_t kGrain = 1 << 12;  // rows
  FeatureIndex const features = source.features();
  std::vector<std::vector<Extremes>> of_threads(static_cast<std::size_t>(threads), std::vector<Extremes>(features));
  ForEachRow(source, threads, kGrain, [&](std::uint64_t r, auto const& row, int thread) {
    if (weights[r] != 0) return;
    auto& own = of_threads[static_cast<std::size_t>(thread)];
    row.ForEach([&](FeatureIndex f, float value) { own[f].Add({value, value}); });
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
  auto const extremes = FindExtremes(source, threads);
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

void CoverRowsWithoutWeight(RowSource const& source, Span<float const> weights, int threads, Collective& collective,
                            Cuts* cuts) {
  if (!collective.AnyOf(std::find(weights.begin(), weights.end(), 0.0f) != weights.end())) return;
  std::vector<Extremes> extremes(cuts->features());
  if (!weights.empty()) extremes = FindExtremesWithoutWeight(source, weights, threads);
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

}  // namespace xgbgpu
