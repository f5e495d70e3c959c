#include <algorithm>
#include <vector>

#include "quantile/categories.h"
#include "quantile/columns.h"
#include "quantile/feature_cuts.h"
#include "quantile/quantile.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/params.h"

namespace xgbgpu::host {

namespace {

FeatureCuts CutsOfColumn(SortedColumn const& column, int max_bin) {
  if (column.keys.empty()) return CutsOfEmptyColumn();
  std::size_t const distinct = column.keys.size();
  std::uint64_t const bins = std::min<std::uint64_t>(column.values, static_cast<std::uint64_t>(max_bin));
  std::uint32_t const first = column.keys.front(), last = column.keys.back();
  if (distinct <= bins + 1) return CutsOfValues(first, last, bins, column.keys.subspan(1, distinct - 1));
  std::vector<std::uint32_t> taken;
  taken.reserve(bins);
  ForEachQuantile(column.cumulative, distinct, static_cast<int>(bins),
                  [&](std::size_t i) { taken.push_back(column.keys[i]); });
  return CutsOfValues(first, last, bins, taken);
}

}  // namespace

Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads) {
  ValidateMaxBin(max_bin);
  CheckWeights(source.rows(), weights);
  std::vector<FeatureCuts> features(source.features());
  ForEachSortedColumn(source, weights, threads,
                      [&](SortedColumn const& c) { features[c.feature] = CutsOfColumn(c, max_bin); });
  Cuts cuts = JoinCuts(features);
  SetCategoryCuts(source, threads, &cuts);
  return cuts;
}

Cuts CutsFromBinEdges(RowSource const& source, int threads) {
  std::vector<FeatureCuts> features(source.features());
  ForEachSortedColumn(source, {}, threads, [&](SortedColumn const& c) {
    features[c.feature] = c.keys.empty() ? CutsOfEmptyColumn() : CutsOfEdges(c.feature, c.keys.size(), c.keys);
  });
  Cuts cuts = JoinCuts(features);
  SetCategoryCuts(source, threads, &cuts);
  return cuts;
}

}  // namespace xgbgpu::host
