// Extends cuts by the extreme values and new categories of a source.
#include "quantile/fit_cuts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "base/message.h"
#include "base/parallel.h"
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
    auto const [smallest, largest] = extremes[f];
    fitting[f].min_value = smallest > cuts.min_values[f] ? cuts.min_values[f] : BelowAll(smallest);
    float& last = fitting[f].values.back();
    if (!cuts.IsCategorical(f) && largest >= last) last = AboveAll(largest);
  }
  Cuts joined = JoinCuts(fitting);
  joined.categorical = cuts.categorical;
  return joined;
}

}  // namespace xgbgpu
