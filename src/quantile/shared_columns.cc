// Finds cuts over several shards: gathers few distinct values, or bisects on sort keys.
#include "quantile/shared_columns.h"

#include <algorithm>

#include "base/float_bits.h"
#include "base/message.h"
#include "base/parallel.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/error.h"
#include "xgbgpu/params.h"

namespace xgbgpu::host {

void KeptColumns::Keep(SortedColumn const& column) {
  Run& run = runs_[column.feature];
  run.values = column.values;
  run.keys.assign(column.keys.begin(), column.keys.end());
  run.cumulative.resize(column.keys.size());
  for (std::size_t i = 0; i < column.keys.size(); ++i) run.cumulative[i] = column.cumulative[i];
}

void KeptColumns::Forget(FeatureIndex first, FeatureIndex last) {
  for (FeatureIndex f = first; f < last; ++f) runs_[f] = {};
}

ShardColumns::Facts KeptColumns::FactsOf(FeatureIndex feature) const {
  Run const& run = runs_[feature];
  if (run.keys.empty()) return {run.values, 0, 0, 0};
  return {run.values, run.keys.size(), run.keys.front(), run.keys.back()};
}

void KeptColumns::WeightsUpTo(Span<ColumnKey const> keys, Span<std::int64_t> weights) const {
  constexpr std::size_t kGrain = 1 << 10;  // keys per task
  ParallelChunks(threads_, keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Run const& run = runs_[keys[i].feature];
      auto const after = std::upper_bound(run.keys.begin(), run.keys.end(), keys[i].key);
      auto const n = static_cast<std::size_t>(after - run.keys.begin());
      weights[i] = n == 0 ? 0 : run.cumulative[n - 1];
    }
  });
}

std::vector<SharedColumns::Facts> SharedColumns::FindFacts(FeatureIndex first, FeatureIndex last) const {
  constexpr std::int64_t kAboveAllKeys = std::int64_t{1} << 32;
  std::size_t const columns = last - first;
  std::vector<std::int64_t> values(columns), most(3 * columns);
  for (std::size_t c = 0; c < columns; ++c) {
    ShardColumns::Facts const own = own_.FactsOf(static_cast<FeatureIndex>(first + c));
    values[c] = static_cast<std::int64_t>(own.values);
    most[3 * c] = static_cast<std::int64_t>(own.distinct);
    most[3 * c + 1] = own.distinct == 0 ? -kAboveAllKeys : -std::int64_t{own.first};
    most[3 * c + 2] = own.distinct == 0 ? -1 : std::int64_t{own.last};
  }
  collective_.Sum(Span<std::int64_t>{values});
  collective_.Max(Span<std::int64_t>{most});
  std::vector<Facts> facts(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    facts[c] = {static_cast<std::uint64_t>(values[c]), static_cast<std::uint64_t>(most[3 * c]),
                static_cast<std::uint32_t>(-most[3 * c + 1]), static_cast<std::uint32_t>(most[3 * c + 2])};
  }
  return facts;
}

std::vector<std::vector<std::uint32_t>> SharedColumns::GatherKeys(std::vector<FeatureIndex> const& columns) const {
  std::vector<std::uint32_t> own;  // for each column the number of keys, then the keys
  for (FeatureIndex const f : columns) {
    auto const of_column = own_.KeysOf(f);
    own.push_back(static_cast<std::uint32_t>(of_column.size()));
    own.insert(own.end(), of_column.begin(), of_column.end());
  }
  std::vector<std::vector<std::uint32_t>> keys(columns.size());
  for (auto const& list : collective_.Gather(Span<std::uint32_t const>{own})) {
    auto at = list.begin();
    for (auto& of_column : keys) {
      auto const n = static_cast<std::ptrdiff_t>(*at++);
      of_column.insert(of_column.end(), at, at + n);
      at += n;
    }
  }
  ParallelTasks(threads_, keys.size(), [&](std::size_t c, int) {
    std::sort(keys[c].begin(), keys[c].end());
    keys[c].erase(std::unique(keys[c].begin(), keys[c].end()), keys[c].end());
  });
  return keys;
}

std::vector<std::vector<std::uint32_t>> SharedColumns::FindQuantiles(std::vector<FeatureIndex> const& columns,
                                                                     std::vector<Facts> const& facts,
                                                                     std::vector<int> const& parts) const {
  auto const weights_of_all = [&](std::vector<ColumnKey> const& keys) {
    std::vector<std::int64_t> weights(keys.size());
    own_.WeightsUpTo(keys, weights);
    collective_.Sum(Span<std::int64_t>{weights});
    return weights;
  };
  std::vector<ColumnKey> end_keys;  // of each column the first, and the one before the last
  for (std::size_t c = 0; c < columns.size(); ++c) {
    end_keys.push_back({columns[c], facts[c].first});
    end_keys.push_back({columns[c], facts[c].last - 1});
  }
  std::vector<std::int64_t> const ends = weights_of_all(end_keys);

  /// A rank whose value has a key above `low` and at most `high`.
  struct Rank {
    std::size_t column;
    int number;
    std::uint32_t low, high;

    std::uint32_t middle() const { return low + (high - low) / 2; }
  };
  std::vector<Rank> ranks;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (int k = 1; k < parts[c]; ++k) ranks.push_back({c, k, facts[c].first, facts[c].last});
  }
  std::vector<ColumnKey> middles(ranks.size());
  auto const is_open = [](Rank const& rank) { return rank.high - rank.low > 1; };
  while (std::any_of(ranks.begin(), ranks.end(), is_open)) {  // all shards have the same ranks
    std::transform(ranks.begin(), ranks.end(), middles.begin(), [&](Rank const& rank) {
      return ColumnKey{columns[rank.column], rank.middle()};
    });
    std::vector<std::int64_t> const weights = weights_of_all(middles);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      Rank& rank = ranks[r];
      std::int64_t const begin = ends[2 * rank.column], range = ends[2 * rank.column + 1] - begin;
      bool const is_below =
          QuantileRanks{begin, range, parts[rank.column]}.IsBelow(rank.number, weights[r], weights[r]);
      if (is_open(rank)) (is_below ? rank.high : rank.low) = rank.middle();
    }
  }
  std::vector<std::vector<std::uint32_t>> taken(columns.size());
  for (Rank const& rank : ranks) {
    auto& of_column = taken[rank.column];
    if (of_column.empty() || of_column.back() != rank.high) of_column.push_back(rank.high);
  }
  return taken;
}

std::vector<FeatureCuts> SharedColumns::CutsAtQuantiles(FeatureIndex first, FeatureIndex last, int max_bin) const {
  std::vector<Facts> const facts = FindFacts(first, last);
  std::vector<FeatureCuts> cuts(facts.size());
  auto const bins = [&](FeatureIndex f) {
    return std::min<std::uint64_t>(facts[f - first].values, static_cast<std::uint64_t>(max_bin));
  };
  std::vector<FeatureIndex> few, many;
  for (FeatureIndex f = first; f < last; ++f) {
    std::uint64_t const distinct = facts[f - first].most_distinct;
    if (distinct == 0) {
      cuts[f - first] = CutsOfEmptyColumn();
    } else {
      (distinct <= bins(f) + 1 ? few : many).push_back(f);
    }
  }
  auto const gathered = GatherKeys(few);
  for (std::size_t c = 0; c < few.size(); ++c) {
    Span<std::uint32_t const> const keys = gathered[c];
    if (keys.size() <= bins(few[c]) + 1) {
      cuts[few[c] - first] = CutsOfValues(keys.front(), keys.back(), bins(few[c]), keys.subspan(1, keys.size() - 1));
    } else {
      many.push_back(few[c]);
    }
  }
  std::vector<Facts> of_many;
  std::vector<int> parts;
  for (FeatureIndex const f : many) {
    of_many.push_back(facts[f - first]);
    parts.push_back(static_cast<int>(bins(f)));
  }
  auto const taken = FindQuantiles(many, of_many, parts);
  for (std::size_t c = 0; c < many.size(); ++c) {
    cuts[many[c] - first] = CutsOfValues(of_many[c].first, of_many[c].last, bins(many[c]), taken[c]);
  }
  return cuts;
}

std::vector<FeatureCuts> SharedColumns::CutsAtEdges(FeatureIndex first, FeatureIndex last) const {
  std::vector<Facts> const facts = FindFacts(first, last);
  std::vector<FeatureIndex> columns;
  for (FeatureIndex f = first; f < last; ++f) {
    std::uint64_t const distinct = facts[f - first].most_distinct;
    if (distinct > kMaxBinLimit) CutsOfEdges(f, distinct, {});  // throws
    columns.push_back(f);
  }
  auto const gathered = GatherKeys(columns);
  std::vector<FeatureCuts> cuts(facts.size());
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    cuts[c] = gathered[c].empty() ? CutsOfEmptyColumn() : CutsOfEdges(columns[c], gathered[c].size(), gathered[c]);
  }
  return cuts;
}

void AgreeOnFeatures(FeatureIndex own, Collective& collective) {
  std::int64_t most[] = {std::int64_t{own}, -std::int64_t{own}};
  collective.Max({most, 2});
  if (most[0] != -most[1]) {
    Throw<InvalidArgument>("The shards of the rows have from ", -most[1], " to ", most[0],
                           " features; allowed: the same number in all");
  }
}

RowWeights AgreeOnWeights(std::uint64_t rows, Span<float const> weights, Collective& collective) {
  AllOrNone(collective, [&] { CheckWeights(rows, weights); });
  if (!collective.AnyOf(!weights.empty())) return {{}, 1.0};
  if (collective.AnyOf(rows != 0 && weights.empty())) {
    Throw<InvalidArgument>("Some shards of the rows have weights and some have none; allowed: all or none");
  }
  float largest = 0;
  for (float const weight : weights) largest = std::max(largest, weight);
  // Bits of non-negative floats order like the floats.
  auto const largest_bits = static_cast<std::uint32_t>(collective.MaxOf(MagnitudeBits(largest)));
  std::uint64_t const all_rows = Shard::Place(&collective, rows).all_rows;
  return {weights, WeightScale(FloatFromBits(largest_bits), all_rows)};
}

}  // namespace xgbgpu::host
