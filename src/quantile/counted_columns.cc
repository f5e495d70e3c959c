// Finds cuts by counting the digits of sort keys around the wanted ranks.
#include "quantile/counted_columns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/message.h"
#include "base/parallel.h"
#include "xgbgpu/params.h"

namespace xgbgpu {

namespace {

/// Counts that are copied, summed over shards and searched together.
constexpr std::size_t kCountsAtOnce = 1 << 20;

/// Returns the most distinct values of a column whose values all become cuts.
std::uint64_t MostDistinct(int max_bin) {
  return max_bin == 0 ? std::uint64_t{kMaxBinLimit} : static_cast<std::uint64_t>(max_bin) + 1;
}

/// Finds the values of a column that become cuts, as prefixes of their keys that grow digit by digit.
///
/// Proof that ForEachQuantile takes the same values from the sorted column: for rank k with R = begin + k·range/parts
/// it takes the first distinct value whose cumulative weight is above R. It never takes the smallest value, whose
/// cumulative weight `begin` is not above R. It takes no value from the largest on, since R < begin + range, the weight
/// of all other values. So the taken value is the first of all values whose cumulative weight is above R. The keys of a
/// prefix are neighbours in the sorted column. So the value begins with the first prefix whose end has a cumulative
/// weight above R. The same holds for longer prefixes. No empty prefix is the first, because the weight does not change
/// there.
///
/// Proof that the search knows if a column has few distinct values: it has at least as many as non-empty prefixes.
/// While there are few, the search keeps all of them, and the last ones are whole keys. Ranks are not used then: a
/// column of one or two values has no weight between its ends.
/// then, and are not used: a column of one or two values has no weight in between.
class ColumnSearch {
 public:
  /// A prefix whose next digit is counted next.
  struct Prefix {
    std::int64_t before;  ///< weight of smaller keys
    std::uint32_t bits;
    int first_rank, end_rank;  ///< [first, end) ranks whose values begin with it
  };

  /// Starts the search of a column. `weight` is the weight of all keys.
  void Begin(KeyEnds const& ends, std::int64_t weight, int max_bin) {
    ends_ = ends;
    ranks_ = {ends.first_weight, weight - ends.first_weight - ends.last_weight, max_bin};
    most_distinct_ = MostDistinct(max_bin);
    open_ = {{0, 0, 1, max_bin}};
  }
  std::vector<Prefix> const& open() const { return open_; }
  std::uint64_t values() const { return ends_.values; }

  /// Takes the counts of the first open prefix, in the next call of the second, and so on.
  void Take(KeyDigit digit, Span<std::int64_t const> counts) {
    Prefix const prefix = open_[taken_++];
    std::int64_t before = prefix.before;
    int rank = prefix.first_rank;
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      std::int64_t const up_to = before + counts[i];
      int const first_rank = rank;
      while (rank < prefix.end_rank && ranks_.IsBelow(rank, up_to, up_to)) ++rank;
      if (all_ || rank != first_rank) longer_.push_back({before, prefix.bits << digit.bits | i, first_rank, rank});
      before = up_to;
      if (all_ && longer_.size() > most_distinct_) KeepThoseOfRanks();
    }
  }
  /// Called after all open prefixes have been taken.
  void NextDigit() {
    open_ = std::exchange(longer_, {});
    taken_ = 0;
  }

  /// Returns the cuts after all digits: the open prefixes are whole keys.
  FeatureCuts Cuts(FeatureIndex feature, int max_bin) const {
    if (ends_.empty()) return CutsOfEmptyColumn();
    if (max_bin == 0 && !all_) {
      Throw<InvalidArgument>("The quantised data have more than ", kMaxBinLimit, " bins in feature ", feature,
                             "; allowed: at most ", kMaxBinLimit, " (max_bin)");
    }
    std::vector<std::uint32_t> keys(open_.size());
    std::transform(open_.begin(), open_.end(), keys.begin(), [](Prefix const& key) { return key.bits; });
    if (max_bin == 0) return CutsOfEdges(feature, keys.size(), keys);
    Span<std::uint32_t const> const taken = keys;
    return CutsOfValues(ends_.first, ends_.last, static_cast<std::uint64_t>(max_bin),
                        all_ ? taken.subspan(1, taken.size() - 1) : taken);
  }

 private:
  void KeepThoseOfRanks() {
    all_ = false;
    auto const has_none = [](Prefix const& p) { return p.first_rank == p.end_rank; };
    longer_.erase(std::remove_if(longer_.begin(), longer_.end(), has_none), longer_.end());
  }

  KeyEnds ends_;
  QuantileRanks ranks_{0, 0, 1};
  std::uint64_t most_distinct_{0};
  bool all_{true};  ///< every non-empty prefix has been kept
  std::vector<Prefix> open_, longer_;
  std::size_t taken_{0};
};

/// Combines the ends of all shards' columns.
void JoinEnds(Collective& collective, std::vector<KeyEnds>* ends) {
  if (collective.shards() == 1) return;
  std::vector<std::int64_t> most, sums;
  for (KeyEnds const& own : *ends) most.insert(most.end(), {-std::int64_t{own.first}, std::int64_t{own.last}});
  collective.Max(Span<std::int64_t>{most});
  for (std::size_t c = 0; c < ends->size(); ++c) {
    KeyEnds& own = (*ends)[c];
    auto const first = static_cast<std::uint32_t>(-most[2 * c]), last = static_cast<std::uint32_t>(most[2 * c + 1]);
    sums.insert(sums.end(), {static_cast<std::int64_t>(own.values), own.first == first ? own.first_weight : 0,
                             own.last == last ? own.last_weight : 0});
    own.first = first;
    own.last = last;
  }
  collective.Sum(Span<std::int64_t>{sums});
  for (std::size_t c = 0; c < ends->size(); ++c) {
    KeyEnds& all = (*ends)[c];
    all.values = static_cast<std::uint64_t>(sums[3 * c]);
    all.first_weight = sums[3 * c + 1];
    all.last_weight = sums[3 * c + 2];
  }
}

/// The searches of several columns, which share passes over the source.
class CountingSearch {
 public:
  CountingSearch(ColumnRange const& columns, int max_bin, int threads, KeyCounter* counter, Collective* collective)
      : first_{columns.first},
        max_bin_{max_bin},
        threads_{threads},
        counter_{*counter},
        collective_{*collective},
        searches_(columns.size()) {}

  CountedCuts Run() {
    for (int number = 0; number < kNumKeyDigits; ++number) {
      KeyDigit const digit = kKeyDigits[number];
      std::vector<CountedPrefix> const prefixes = number == 0 ? WholeColumns() : OpenPrefixes();
      auto const most = static_cast<std::int64_t>(std::min(counter_.most_prefixes(digit), prefixes.size()));
      auto const at_once = static_cast<std::size_t>(-collective_.MaxOf(-most));
      for (std::size_t i = 0; i < prefixes.size(); i += at_once) {
        Span<CountedPrefix const> const counted{prefixes.data() + i, std::min(at_once, prefixes.size() - i)};
        AllOrNone(collective_, [&] { counter_.Count(digit, counted); });
        std::vector<KeyEnds> ends;
        if (number == 0) {
          ends = counter_.Ends();
          JoinEnds(collective_, &ends);
        }
        TakeCounts(digit, counted, ends);
      }
      for (ColumnSearch& search : searches_) search.NextDigit();
    }
    CountedCuts found;
    for (FeatureIndex c = 0; c < searches_.size(); ++c) {
      found.features.push_back(searches_[c].Cuts(first_ + c, max_bin_));
      found.values.push_back(searches_[c].values());
    }
    return found;
  }

 private:
  std::vector<CountedPrefix> WholeColumns() const {
    std::vector<CountedPrefix> prefixes(searches_.size());
    for (FeatureIndex c = 0; c < prefixes.size(); ++c) prefixes[c] = {first_ + c, 0};
    return prefixes;
  }
  std::vector<CountedPrefix> OpenPrefixes() const {
    std::vector<CountedPrefix> prefixes;
    for (FeatureIndex c = 0; c < searches_.size(); ++c) {
      for (auto const& prefix : searches_[c].open()) prefixes.push_back({first_ + c, prefix.bits});
    }
    return prefixes;
  }
  /// Takes the counts of `prefixes`. `ends` has the ends of columns if the prefixes are whole columns, and is empty
  /// otherwise.
  void TakeCounts(KeyDigit digit, Span<CountedPrefix const> prefixes, std::vector<KeyEnds> const& ends) {
    std::size_t const counters = digit.counters(), at_once = kCountsAtOnce / counters;
    for (std::size_t begin = 0; begin < prefixes.size(); begin += at_once) {
      std::size_t const end = std::min(prefixes.size(), begin + at_once);
      counts_.resize(std::max(counts_.size(), (end - begin) * counters));
      Span<std::int64_t> const counts{counts_.data(), (end - begin) * counters};
      counter_.Read(begin * counters, counts);
      collective_.Sum(counts);
      std::vector<std::size_t> starts;  // of columns, whose prefixes are taken in turn
      for (std::size_t i = begin; i < end; ++i) {
        if (i == begin || prefixes[i].feature != prefixes[i - 1].feature) starts.push_back(i);
      }
      starts.push_back(end);
      ParallelTasks(threads_, starts.size() - 1, [&](std::size_t task, int) {
        ColumnSearch& search = searches_[prefixes[starts[task]].feature - first_];
        for (std::size_t i = starts[task]; i < starts[task + 1]; ++i) {
          Span<std::int64_t const> const own = counts.subspan((i - begin) * counters, counters);
          if (!ends.empty()) {
            search.Begin(ends[i], std::accumulate(own.begin(), own.end(), std::int64_t{0}), max_bin_);
          }
          search.Take(digit, own);
        }
      });
    }
  }

  FeatureIndex first_;
  int max_bin_;
  int threads_;
  KeyCounter& counter_;
  Collective& collective_;
  std::vector<ColumnSearch> searches_;  ///< [columns]
  std::vector<std::int64_t> counts_;
};

}  // namespace

PrefixTable::PrefixTable(Span<CountedPrefix const> prefixes)
    : first{prefixes.front().feature}, start(prefixes.back().feature - first + std::size_t{2}) {
  for (CountedPrefix const& prefix : prefixes) {
    ++start[prefix.feature - first + 1];
    bits.push_back(prefix.bits);
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
}

std::uint64_t MostCountingPasses(std::uint64_t columns, std::uint64_t values, int max_bin, KeyCounter const& counter) {
  constexpr int kUsualBins = 256;
  std::uint64_t const most_distinct = MostDistinct(max_bin == 0 ? kUsualBins : max_bin);
  std::uint64_t passes = 0, of_column = 1, different = 1;
  for (KeyDigit const& digit : kKeyDigits) {
    std::uint64_t const at_once = counter.most_prefixes(digit);
    std::uint64_t const prefixes = different == 1 ? columns : std::min(columns * of_column, values);
    passes += (prefixes + at_once - 1) / at_once;
    different *= digit.counters();
    of_column = std::min(different, most_distinct);
  }
  return passes;
}

CountedCuts FindCutsByCounting(ColumnRange const& columns, int max_bin, int threads, KeyCounter* counter,
                               Collective& collective) {
  return CountingSearch{columns, max_bin, threads, counter, &collective}.Run();
}

}  // namespace xgbgpu
