// Finds cuts over several shards: gathers few distinct values, or bisects on sort keys.
#include "quantile/shared_columns.h"

#include <algorithm>

#include "base/parallel.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/params.h"

namespace xgbgpu::host {

SharedColumns::SharedColumns(FeatureIndex features, int threads, Collective* collective)
    : threads_{threads}, collective_{*collective}, runs_(features) {}

void SharedColumns::Keep(SortedColumn const& own) {
  Run& run = runs_[own.feature];
  run.values = own.values;
  run.keys.assign(own.keys.begin(), own.keys.end());
  run.cumulative.resize(own.keys.size());
  for (std::size_t i = 0; i < own.keys.size(); ++i) run.cumulative[i] = own.cumulative[i];
}

std::int64_t SharedColumns::Run::WeightUpTo(std::uint32_t key) const {
  auto const n = static_cast<std::size_t>(std::upper_bound(keys.begin(), keys.end(), key) - keys.begin());
  return n == 0 ? 0 : cumulative[n - 1];
}

std::vector<SharedColumns::Facts> SharedColumns::FindFacts(FeatureIndex first, FeatureIndex last) {
  constexpr std::int64_t kAboveAllKeys = std::int64_t{1} << 32;
  std::size_t const columns = last - first;
  std::vector<std::int64_t> values(columns), most(3 * columns);
  for (std::size_t c = 0; c < columns; ++c) {
    Run const& own = runs_[first + c];
    values[c] = static_cast<std::int64_t>(own.values);
    most[3 * c] = static_cast<std::int64_t>(own.keys.size());
    most[3 * c + 1] = own.keys.empty() ? -kAboveAllKeys : -std::int64_t{own.keys.front()};
    most[3 * c + 2] = own.keys.empty() ? -1 : std::int64_t{own.keys.back()};
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

std::vector<std::vector<std::uint32_t>> SharedColumns::GatherKeys(std::vector<FeatureIndex> const& columns) {
  std::vector<std::uint32_t> own;  // for each column the number of keys, then the keys
  for (FeatureIndex const f : columns) {
    own.push_back(static_cast<std::uint32_t>(runs_[f].keys.size()));
    own.insert(own.end(), runs_[f].keys.begin(), runs_[f].keys.end());
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
                                                                     std::vector<int> const& parts) {
  std::vector<std::int64_t> ends;  // for each column the weight of its first value, then of all values but the last
  for (std::size_t c = 0; c < columns.size(); ++c) {
    ends.push_back(runs_[columns[c]].WeightUpTo(facts[c].first));
    ends.push_back(runs_[columns[c]].WeightUpTo(facts[c].last - 1));
  }
  collective_.Sum(Span<std::int64_t>{ends});

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
  std::vector<std::int64_t> weights(ranks.size());
  auto const is_open = [](Rank const& rank) { return rank.high - rank.low > 1; };
  while (std::any_of(ranks.begin(), ranks.end(), is_open)) {  // all shards have the same ranks
    constexpr std::size_t kGrain = 1 << 10;                   // ranks per task
    ParallelChunks(threads_, ranks.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        weights[r] = runs_[columns[ranks[r].column]].WeightUpTo(ranks[r].middle());
      }
    });
    collective_.Sum(Span<std::int64_t>{weights});
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

std::vector<FeatureCuts> SharedColumns::CutsAtQuantiles(FeatureIndex first, FeatureIndex last, int max_bin) {
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
  Forget(first, last);
  return cuts;
}

std::vector<FeatureCuts> SharedColumns::CutsAtEdges(FeatureIndex first, FeatureIndex last) {
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
  Forget(first, last);
  return cuts;
}

void SharedColumns::Forget(FeatureIndex first, FeatureIndex last) {
  for (FeatureIndex f = first; f < last; ++f) runs_[f] = {};
}

}  // namespace xgbgpu::host
