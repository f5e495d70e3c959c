#include <algorithm>
#include <limits>
#include <vector>

#include "core/message.h"
#include "quantile/columns.h"
#include "quantile/quantile.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/params.h"

namespace xgbgpu::host {

namespace {

/// The bins of one feature while its neighbours are still being worked on.
struct FeatureCuts {
  float min_value;
  std::vector<float> values;
};

Cuts Join(std::vector<FeatureCuts> const& features) {
  Cuts cuts;
  cuts.ptr.reserve(features.size() + 1);
  cuts.ptr.push_back(0);
  std::uint64_t bins = 0;
  for (FeatureCuts const& f : features) {
    bins += f.values.size();
    // One more symbol per feature may be needed for "missing"; the sum of both must fit a BinIndex.
    if (bins + features.size() > std::numeric_limits<BinIndex>::max()) {
      Throw<InvalidArgument>("The data needs more than ", std::numeric_limits<BinIndex>::max(),
                             " bins over all features; use a smaller max_bin");
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

constexpr float kEmptyColumnValue = 1e-5f;  // XGBoost's bin of a column without values

FeatureCuts CutsOfColumn(SortedColumn const& column, int max_bin) {
  if (column.keys.empty()) return {kEmptyColumnValue, {AboveAll(kEmptyColumnValue)}};
  auto const value = [&](std::size_t i) { return ValueOfKey(column.keys[i]); };
  std::size_t const distinct = column.keys.size(), largest = distinct - 1;
  auto const bins = static_cast<int>(std::min<std::uint64_t>(column.values, static_cast<std::uint64_t>(max_bin)));

  FeatureCuts cuts{BelowAll(value(0)), {}};
  auto const add = [&](std::size_t i) {  // the first value is no cut: nothing lies below it
    if (cuts.values.size() + 1 < static_cast<std::size_t>(bins)) cuts.values.push_back(value(i));
  };
  if (distinct <= static_cast<std::size_t>(bins) + 1) {
    for (std::size_t i = 1; i < distinct; ++i) add(i);
  } else {
    ForEachQuantile(column.cumulative, distinct, bins, add);
    if (cuts.values.empty() || cuts.values.back() < value(largest)) add(largest);
  }
  cuts.values.push_back(AboveAll(value(largest)));
  return cuts;
}

FeatureCuts CutsOfEdges(SortedColumn const& column) {
  if (column.keys.empty()) return {kEmptyColumnValue, {AboveAll(kEmptyColumnValue)}};
  if (column.keys.size() > kMaxBinLimit) {
    Throw<InvalidArgument>("The quantised data have ", column.keys.size(), " bins in feature ", column.feature,
                           "; allowed: at most ", kMaxBinLimit, " (max_bin)");
  }
  FeatureCuts cuts{ValueOfKey(column.keys[0]), {}};
  cuts.values.reserve(column.keys.size());
  for (std::size_t i = 1; i < column.keys.size(); ++i) cuts.values.push_back(ValueOfKey(column.keys[i]));
  cuts.values.push_back(std::numeric_limits<float>::max());
  return cuts;
}

void CheckWeights(RowSource const& source, Span<float const> weights) {
  if (!weights.empty() && weights.size() != source.rows()) {
    Throw<InvalidArgument>("There are ", weights.size(), " weights; allowed: none, or one for each of the ",
                           source.rows(), " rows");
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && weights[i] <= std::numeric_limits<float>::max())) {
      Throw<InvalidArgument>("Weight of row ", i, " is ", weights[i], "; allowed: finite numbers, 0 or larger");
    }
  }
}

}  // namespace

Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads) {
  ValidateMaxBin(max_bin);
  CheckWeights(source, weights);
  std::vector<FeatureCuts> features(source.features());
  ForEachSortedColumn(source, weights, threads,
                      [&](SortedColumn const& c) { features[c.feature] = CutsOfColumn(c, max_bin); });
  return Join(features);
}

Cuts CutsFromBinEdges(RowSource const& source, int threads) {
  std::vector<FeatureCuts> features(source.features());
  ForEachSortedColumn(source, {}, threads, [&](SortedColumn const& c) { features[c.feature] = CutsOfEdges(c); });
  return Join(features);
}

}  // namespace xgbgpu::host
