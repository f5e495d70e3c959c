#include <algorithm>
#include <vector>

#include "core/float_bits.h"
#include "core/message.h"
#include "quantile/categories.h"
#include "quantile/columns.h"
#include "quantile/counted_columns.h"
#include "quantile/feature_cuts.h"
#include "quantile/key_counter_host.h"
#include "quantile/quantile.h"
#include "quantile/quantile_ops.h"
#include "quantile/shared_columns.h"
#include "xgbgpu/params.h"

namespace xgbgpu::host {

namespace {

FeatureCuts CutsOfColumn(SortedColumn const& column, int max_bin) {
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

/// Throws InvalidArgument unless all shards have the same number of features.
void CheckFeatures(FeatureIndex own, Collective& collective) {
  std::int64_t most[] = {std::int64_t{own}, -std::int64_t{own}};
  collective.Max({most, 2});
  if (most[0] != -most[1]) {
    Throw<InvalidArgument>("The shards of the rows have from ", -most[1], " to ", most[0],
                           " features; allowed: the same number in all");
  }
}

/// Returns the weights with one unit for all shards; a shard without rows has none.
RowWeights AgreeOnWeights(std::uint64_t rows, Span<float const> weights, Collective& collective) {
  AllOrNone(collective, [&] { CheckWeights(rows, weights); });
  if (!collective.AnyOf(!weights.empty())) return {{}, 1.0};
  if (collective.AnyOf(rows != 0 && weights.empty())) {
    Throw<InvalidArgument>("Some shards of the rows have weights and some have none; allowed: all or none");
  }
  float largest = 0;
  for (float const weight : weights) largest = std::max(largest, weight);
  // Bits of floats that are not negative compare as the floats do.
  auto const largest_bits = static_cast<std::uint32_t>(collective.MaxOf(MagnitudeBits(largest)));
  std::uint64_t const all_rows = Shard::Place(&collective, rows).all_rows;
  return {weights, WeightScale(FloatFromBits(largest_bits), all_rows)};
}

/// Returns the cuts of every column. With one shard of_column(sorted column) makes them, with several of_group(shared,
/// first, last).
template <typename OfColumn, typename OfGroup>
Cuts FindCuts(RowSource const& source, RowWeights const& weights, int threads, Collective& collective,
              OfColumn&& of_column, OfGroup&& of_group) {
  std::vector<FeatureCuts> features(source.features());
  if (collective.shards() == 1) {
    ForEachSortedColumn(source, weights, threads, collective, [&](SortedColumn const& column) {
      features[column.feature] = column.keys.empty() ? CutsOfEmptyColumn() : of_column(column);
    });
  } else {
    SharedColumns shared{source.features(), threads, &collective};
    ForEachSortedColumn(
        source, weights, threads, collective, [&](SortedColumn const& own) { shared.Keep(own); },
        [&](FeatureIndex first, FeatureIndex last) {
          std::vector<FeatureCuts> const cuts = of_group(&shared, first, last);
          std::copy(cuts.begin(), cuts.end(), features.begin() + first);
        });
  }
  Cuts cuts = JoinCuts(features);
  SetCategoryCuts(source, threads, collective, &cuts);
  return cuts;
}

/// Returns the cuts of every column, found in memory for so many bytes of counters. max_bin is 0 for bin edges.
Cuts CountCuts(RowSource const& source, RowWeights const& weights, int max_bin, int threads, std::size_t memory_bytes,
               Collective& collective) {
  auto const counter = MakeKeyCounter(source, weights, threads, memory_bytes);
  ColumnRange const columns{0, source.features(), source.features()};
  Cuts cuts = JoinCuts(FindCutsByCounting(columns, max_bin, threads, counter.get(), collective).features);
  SetCategoryCuts(source, threads, collective, &cuts);
  return cuts;
}

}  // namespace

Cuts ComputeCutsByCounting(RowSource const& source, Span<float const> weights, int max_bin, int threads,
                           std::size_t memory_bytes, Collective& collective) {
  ValidateMaxBin(max_bin);
  CheckFeatures(source.features(), collective);
  return CountCuts(source, AgreeOnWeights(source.rows(), weights, collective), max_bin, threads, memory_bytes,
                   collective);
}

Cuts CutsFromBinEdgesByCounting(RowSource const& source, int threads, std::size_t memory_bytes,
                                Collective& collective) {
  CheckFeatures(source.features(), collective);
  return CountCuts(source, {{}, 1.0}, 0, threads, memory_bytes, collective);
}

Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads, Collective& collective) {
  ValidateMaxBin(max_bin);
  CheckFeatures(source.features(), collective);
  return FindCuts(
      source, AgreeOnWeights(source.rows(), weights, collective), threads, collective,
      [&](SortedColumn const& column) { return CutsOfColumn(column, max_bin); },
      [&](SharedColumns* shared, FeatureIndex first, FeatureIndex last) {
        return shared->CutsAtQuantiles(first, last, max_bin);
      });
}

Cuts CutsFromBinEdges(RowSource const& source, int threads, Collective& collective) {
  CheckFeatures(source.features(), collective);
  return FindCuts(
      source, {{}, 1.0}, threads, collective,
      [](SortedColumn const& column) { return CutsOfEdges(column.feature, column.keys.size(), column.keys); },
      [](SharedColumns* shared, FeatureIndex first, FeatureIndex last) { return shared->CutsAtEdges(first, last); });
}

}  // namespace xgbgpu::host
