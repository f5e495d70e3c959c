// Finds the largest category of each categorical feature and makes a bin for each category.
#include "quantile/categories.h"

#include <algorithm>
#include <vector>

#include "base/message.h"
#include "core/row_values.h"
#include "quantile/feature_cuts.h"
#include "xgbgpu/params.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kRowsPerTask = 1 << 12;  // rows per task

/// Returns the largest category of every categorical feature; 0 for a feature without values.
std::vector<BinIndex> LargestCategories(RowSource const& source, int threads) {
  Span<std::uint8_t const> const categorical = source.categorical();
  std::vector<std::vector<BinIndex>> largest(static_cast<std::size_t>(threads));
  for (auto& own : largest) own.resize(source.features());
  ForEachRow(source, threads, kRowsPerTask, [&](std::uint64_t row, auto const& values, int thread) {
    auto& own = largest[static_cast<std::size_t>(thread)];
    values.ForEach([&](FeatureIndex f, float value) {
      if (categorical[f] == 0) return;
      if (value < 0 || value >= static_cast<float>(kMaxBinLimit)) {
        Throw<InvalidArgument>("Category of row ", row, ", feature ", f, " is ", value, "; allowed: 0 to ",
                               kMaxBinLimit - 1, ", or missing");
      }
      own[f] = std::max(own[f], static_cast<BinIndex>(value));
    });
  });
  for (auto const& own : largest) {
    std::transform(own.begin(), own.end(), largest[0].begin(), largest[0].begin(),
                   [](BinIndex a, BinIndex b) { return std::max(a, b); });
  }
  return largest[0];
}

}  // namespace

void SetCategoryCuts(RowSource const& source, int threads, Collective& collective, Cuts* cuts) {
  Span<std::uint8_t const> const categorical = source.categorical();
  if (std::find(categorical.begin(), categorical.end(), 1) == categorical.end()) return;
  std::vector<BinIndex> own;
  AllOrNone(collective, [&] { own = LargestCategories(source, threads); });
  std::vector<std::int64_t> largest(own.begin(), own.end());
  collective.Max(Span<std::int64_t>{largest});
  std::vector<FeatureCuts> features(source.features());
  for (FeatureIndex f = 0; f < source.features(); ++f) {
    FeatureCuts& cuts_of_feature = features[f];
    cuts_of_feature.min_value = cuts->min_values[f];
    if (categorical[f] == 0) {
      cuts_of_feature.values.assign(cuts->values.begin() + cuts->ptr[f], cuts->values.begin() + cuts->ptr[f + 1]);
    } else {
      for (std::int64_t c = 0; c <= largest[f]; ++c) cuts_of_feature.values.push_back(static_cast<float>(c + 1));
    }
  }
  *cuts = JoinCuts(features);
  cuts->categorical.assign(categorical.begin(), categorical.end());
}

}  // namespace xgbgpu
