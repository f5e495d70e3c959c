// Finds cuts on the host over all shards, by sorting columns or by counting keys.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/float_bits.h"
#include "base/message.h"
#include "core/row_values.h"
#include "quantile/columns.h"
#include "quantile/counted_columns.h"
#include "quantile/feature_cuts.h"
#include "quantile/fit_cuts.h"
#include "quantile/gather_columns.h"
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

/// Returns the cuts of every column. With one shard of_column(sorted column) makes them, with several of_group(shared,
/// first, last).
template <typename OfColumn, typename OfGroup>
Cuts SortCuts(RowSource const& source, RowWeights const& weights, int threads, Collective& collective,
              SortWorkspace const& workspace, OfColumn&& of_column, OfGroup&& of_group) {
  std::vector<FeatureCuts> features(source.features());
  if (collective.shards() == 1) {
    ForEachSortedColumn(
        source, weights, threads, collective,
        [&](SortedColumn const& column) {
          features[column.feature] = column.keys.empty() ? CutsOfEmptyColumn() : of_column(column);
        },
        {}, workspace);
  } else {
    KeptColumns kept{source.features(), threads};
    SharedColumns const shared{&kept, threads, &collective};
    ForEachSortedColumn(
        source, weights, threads, collective, [&](SortedColumn const& own) { kept.Keep(own); },
        [&](FeatureIndex first, FeatureIndex last) {
          std::vector<FeatureCuts> const cuts = of_group(shared, first, last);
          std::copy(cuts.begin(), cuts.end(), features.begin() + first);
          kept.Forget(first, last);
        },
        workspace);
  }
  return CutsOfAllRows(features, source, weights.of_rows, threads, collective);
}

/// Returns the cuts of every column, found with `memory_bytes` of counters. max_bin is 0 for bin edges.
Cuts CountCuts(RowSource const& source, RowWeights const& weights, int max_bin, int threads, std::size_t memory_bytes,
               Collective& collective) {
  auto const counter = MakeKeyCounter(source, weights, threads, memory_bytes);
  ColumnRange const columns{0, source.features(), source.features()};
  CountedCuts const found = FindCutsByCounting(columns, max_bin, threads, counter.get(), collective);
  return CutsOfAllRows(found.features, source, weights.of_rows, threads, collective);
}

/// Returns the least memory limit of all shards, or 0 if no shard has one.
std::size_t AgreeOnMemory(std::size_t memory_bytes, Collective& collective) {
  constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
  auto const own = std::min<std::uint64_t>(memory_bytes, kAny);
  std::int64_t const least = -collective.MaxOf(-(own == 0 ? kAny : static_cast<std::int64_t>(own)));
  return least == kAny ? 0 : static_cast<std::size_t>(least);
}

/// Returns the workspace to sort columns of these sizes in `memory_bytes`: the columns in flight, and a column's size
/// again for each column being sorted. `values` is 0 if a column alone does not fit.
SortWorkspace MakeSortWorkspace(std::vector<std::uint64_t> const& sizes, RowWeights const& weights, int threads,
                                Collective const& collective, std::size_t memory_bytes) {
  std::uint64_t const sorted = weights.of_rows.empty() ? 4 : 8, kept = collective.shards() == 1 ? 0 : 12;
  std::uint64_t const longest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  std::uint64_t const column = std::max<std::uint64_t>(1, longest * sorted);
  constexpr std::uint64_t kShare = 4;  // part of the memory for columns being sorted
  auto const columns =
      std::clamp<std::uint64_t>(memory_bytes / kShare / column, 1, static_cast<std::uint64_t>(threads));
  std::uint64_t const values =
      memory_bytes < columns * column ? 0 : (memory_bytes - columns * column) / (sorted + kept);
  return {values < longest ? 0 : values, static_cast<int>(columns)};
}

/// Chooses the search in `memory_bytes` with fewer passes over the source, or sorting if both take equally many.
/// Returns the workspace to sort in, or nothing: keys are counted. All shards have the same memory and choose the same.
std::optional<SortWorkspace> ChooseSortWorkspace(RowSource const& source, RowWeights const& weights, int max_bin,
                                                 int threads, Collective& collective, std::size_t memory_bytes) {
  if (memory_bytes == 0) return SortWorkspace{};
  auto const counter = MakeKeyCounter(source, weights, threads, memory_bytes);
  bool const is_array = !collective.AnyOf(!HostArray(source));
  // First it assumes full columns. If both ways then take many passes, it counts the values in one more pass.
  std::vector<std::int64_t> largest(source.features(), collective.MaxOf(static_cast<std::int64_t>(source.rows())));
  std::vector<std::uint64_t> own;
  for (;;) {
    std::vector<std::uint64_t> const sizes(largest.begin(), largest.end());
    SortWorkspace workspace = MakeSortWorkspace(sizes, weights, threads, collective, memory_bytes);
    workspace.values = static_cast<std::uint64_t>(-collective.MaxOf(-static_cast<std::int64_t>(workspace.values)));
    std::uint64_t const values = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    auto const counting = static_cast<std::uint64_t>(
        collective.MaxOf(static_cast<std::int64_t>(MostCountingPasses(sizes.size(), values, max_bin, *counter))));
    std::uint64_t const sorting = (own.empty() ? 1 : 0) + MakeColumnGroups(sizes, sizes, workspace.values).size();
    bool const sorts = workspace.values != 0 && sorting <= counting;
    if (is_array || !own.empty() || (sorts ? sorting : counting) <= kNumKeyDigits) {
      workspace.sizes = std::move(own);
      return sorts ? std::optional<SortWorkspace>{std::move(workspace)} : std::nullopt;
    }
    AllOrNone(collective, [&] { own = CountColumns(source, threads); });
    largest.assign(own.begin(), own.end());
    collective.Max(Span<std::int64_t>{largest});
  }
}

}  // namespace

Cuts ComputeCutsByCounting(RowSource const& source, Span<float const> weights, int max_bin, int threads,
                           std::size_t memory_bytes, Collective& collective) {
  ValidateMaxBin(max_bin);
  AgreeOnFeatures(source.features(), collective);
  return CountCuts(source, AgreeOnWeights(source.rows(), weights, collective), max_bin, threads, memory_bytes,
                   collective);
}

Cuts CutsFromBinEdgesByCounting(RowSource const& source, int threads, std::size_t memory_bytes,
                                Collective& collective) {
  AgreeOnFeatures(source.features(), collective);
  return CountCuts(source, {{}, 1.0}, 0, threads, memory_bytes, collective);
}

Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int threads, Collective& collective,
                 std::size_t memory_bytes) {
  ValidateMaxBin(max_bin);
  AgreeOnFeatures(source.features(), collective);
  RowWeights const agreed = AgreeOnWeights(source.rows(), weights, collective);
  std::size_t const memory = AgreeOnMemory(memory_bytes, collective);
  auto const workspace = ChooseSortWorkspace(source, agreed, max_bin, threads, collective, memory);
  if (!workspace) return CountCuts(source, agreed, max_bin, threads, memory, collective);
  return SortCuts(
      source, agreed, threads, collective, *workspace,
      [&](SortedColumn const& column) { return CutsOfColumn(column, max_bin); },
      [&](SharedColumns const& shared, FeatureIndex first, FeatureIndex last) {
        return shared.CutsAtQuantiles(first, last, max_bin);
      });
}

Cuts CutsFromBinEdges(RowSource const& source, int threads, Collective& collective, std::size_t memory_bytes) {
  AgreeOnFeatures(source.features(), collective);
  RowWeights const none{{}, 1.0};
  std::size_t const memory = AgreeOnMemory(memory_bytes, collective);
  auto const workspace = ChooseSortWorkspace(source, none, 0, threads, collective, memory);
  if (!workspace) return CountCuts(source, none, 0, threads, memory, collective);
  return SortCuts(
      source, none, threads, collective, *workspace,
      [](SortedColumn const& column) { return CutsOfEdges(column.feature, column.keys.size(), column.keys); },
      [](SharedColumns const& shared, FeatureIndex first, FeatureIndex last) {
        return shared.CutsAtEdges(first, last);
      });
}

}  // namespace xgbgpu::host
