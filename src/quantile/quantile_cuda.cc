// Finds cuts on a device: sorts groups of columns or pairs, or counts keys if that takes fewer passes.
#include "quantile/quantile_cuda.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "quantile/columns.h"
#include "quantile/counted_columns_cuda.h"
#include "quantile/feature_cuts.h"
#include "quantile/fit_cuts.h"
#include "quantile/pack.h"
#include "quantile/pair_upload_cuda.h"
#include "quantile/quantile.h"
#include "quantile/quantile_ops.h"
#include "quantile/quantile_policy.h"
#include "quantile/sorted_columns_cuda.h"
#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

namespace {

/// Finds the cuts of some columns, one group after another.
class Search {
 public:
  Search(RowSource const& source, ColumnRange const& columns, CutRequest const& wanted, BuildOptions const& options,
         DeviceArena* arena)
      : source_{source},
        columns_{columns},
        wanted_{wanted},
        threads_{options.threads},
        budget_{MemoryBudget(options)},
        fixed_budget_{options.memory_bytes != 0},
        arena_{arena},
        found_{std::vector<FeatureCuts>(columns.size()), std::vector<std::uint64_t>(columns.size())} {
    if (!wanted.weights.empty()) scale_ = WeightScale(wanted.weights);
  }

  void SearchNothing() { std::fill(found_.features.begin(), found_.features.end(), CutsOfEmptyColumn()); }
  /// Reads the source as dense rows, once for every group of columns, or counts keys if that takes fewer passes.
  void SearchColumns();
  /// Takes the columns from the devices that hold them.
  void SearchColumns(KeyShards const& shards);
  /// Reads the source as entries, with the same cuts. `entries` is the number of entries in the columns. `sizes`
  /// [features] are the columns' numbers of values, or empty: counted when needed.
  void SearchPairs(std::uint64_t entries, Span<std::uint64_t const> sizes);

  ColumnCuts Finish() { return std::move(found_); }
  /// Returns the columns, if they were all on the device at once.
  std::optional<KeyColumns> TakeColumns() { return std::move(kept_); }

 private:
  bool weighted() const { return !wanted_.weights.empty(); }
  CutRule rule() const {
    if (wanted_.max_bin == 0) return {kMaxBinLimit, 0};
    return {static_cast<std::uint64_t>(wanted_.max_bin) + 1, wanted_.max_bin};
  }
  /// Calls search(), which wants `bytes` of memory. If memory runs out, calls it again with half the budget.
  template <typename F>
  void WithinMemory(double bytes, F&& search);
  /// A way to sort: run(keys, columns) sorts at most `at_once` columns. It holds its memory and may take `more_bytes`.
  struct Sort {
    FeatureIndex at_once;
    std::size_t more_bytes;
    std::function<SortedColumns(std::uint32_t const* keys, FeatureIndex columns)> run;
  };
  /// Calls search(sort) with the best sort for the number of rows.
  using ForSort = std::function<void(Sort const& sort)>;
  bool sorts_keys() const { return !weighted() && source_.rows() >= QuantilePolicy{}.key_sort_from; }
  std::uint64_t bytes_of_sort() const {
    return sorts_keys() ? KeySorter::BytesPerKey() : PairSorter::BytesPerPair(weighted());
  }
  /// Returns the number of columns that are sorted at a time.
  FeatureIndex sorted_at_once() const;
  void WithSort(ForSort const& search);
  double bytes_of_columns() const;
  void WithKeySort(ForSort const& search);
  void WithPairSort(ForSort const& search);
  void SearchGroup(KeyColumns const& columns, Sort const& sort);
  void ReadColumns(Sort const& sort);
  /// Returns the approximate number of passes of ReadColumns, or the largest number if a column does not fit the
  /// memory.
  std::uint64_t PassesOfColumns() const;
  /// Counts the keys if that takes fewer passes than sorting. Returns true if it did.
  bool CountKeys(std::uint64_t sorting_passes, std::uint64_t values, bool as_rows);
  void JoinColumns(KeyShards const& shards, Sort const& sort);
  /// Returns the number of columns that fit a budget of `values` values, one or more.
  FeatureIndex ColumnsThatFit(std::uint64_t values) const;
  /// Columns whose pairs are sorted together.
  struct PairGroup {
    ColumnRange range;
    std::uint64_t pairs;
  };
  std::vector<PairGroup> GroupsOfPairs(std::uint64_t entries, Span<std::uint64_t const> sizes,
                                       std::uint64_t most) const;
  void SearchPairs(std::vector<PairGroup> const& groups);
  /// Makes the cuts of the columns from `first` on. Their present[] must be known.
  void Take(FeatureIndex first, SortedColumns* sorted);
  FeatureCuts CutsOfColumn(FeatureIndex f, ColumnSummary const& column, Span<std::uint32_t> list) const;
  std::uint64_t* present(FeatureIndex f) { return found_.present.data() + (f - columns_.first); }

  RowSource const& source_;
  ColumnRange columns_;
  CutRequest const& wanted_;
  int threads_;
  std::size_t budget_;
  bool fixed_budget_;  ///< the caller chose the budget
  DeviceArena* arena_;
  double scale_{1.0};
  ColumnCuts found_;
  std::optional<KeyColumns> kept_;
};

FeatureCuts Search::CutsOfColumn(FeatureIndex f, ColumnSummary const& column, Span<std::uint32_t> list) const {
  if (column.empty()) return CutsOfEmptyColumn();
  bool const all = column.distinct <= rule().most_distinct;
  std::vector<std::uint32_t> keys;
  if (all) {
    keys.assign(list.begin(), list.begin() + column.distinct);
    std::sort(keys.begin(), keys.end());
  } else {
    for (std::uint32_t const key : list) {
      if (key == kNoKey) break;
      if (keys.empty() || keys.back() != key) keys.push_back(key);
    }
  }
  if (wanted_.max_bin == 0) return CutsOfEdges(f, column.distinct, keys);
  std::uint64_t const bins =
      std::min<std::uint64_t>(found_.present[f - columns_.first], static_cast<std::uint64_t>(wanted_.max_bin));
  Span<std::uint32_t const> const taken = keys;
  return CutsOfValues(column.first, column.last, bins, all ? taken.subspan(1, taken.size() - 1) : taken);
}

void Search::Take(FeatureIndex first, SortedColumns* sorted) {
  constexpr std::size_t kGrain = 16;  // columns per task
  ParallelChunks(threads_, sorted->columns.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      auto const f = static_cast<FeatureIndex>(first + c);
      found_.features[f - columns_.first] = CutsOfColumn(f, sorted->columns[c], sorted->list(c));
    }
  });
}

template <typename F>
void Search::WithinMemory(double bytes, F&& search) {
  for (;;) {
    try {
      search();
      return;
    } catch (OutOfDeviceMemory const&) {
      std::size_t const less = static_cast<std::size_t>(std::min(static_cast<double>(budget_), bytes) / 2);
      if (fixed_budget_ || less < QuantilePolicy{}.least_bytes) throw;
      budget_ = less;
    }
  }
}

void Search::SearchGroup(KeyColumns const& columns, Sort const& sort) {
  std::copy(columns.present.begin(), columns.present.end(), present(columns.range.first));
  for (FeatureIndex c = 0; c < columns.range.size(); c += sort.at_once) {
    SortedColumns sorted =
        sort.run(columns.keys.data() + c * columns.rows, std::min(sort.at_once, columns.range.size() - c));
    Take(columns.range.first + c, &sorted);
  }
}

FeatureIndex Search::ColumnsThatFit(std::uint64_t values) const {
  return static_cast<FeatureIndex>(std::clamp<std::uint64_t>(values / source_.rows(), 1, columns_.size()));
}

void Search::ReadColumns(Sort const& sort) {
  RowUpload upload{source_, threads_};
  std::size_t const taken = std::min(budget_, arena_->bytes() + sort.more_bytes + upload.device_bytes(columns_.size()));
  FeatureIndex const in_flight = std::max(sort.at_once, ColumnsThatFit((budget_ - taken) / sizeof(std::uint32_t)));
  for (std::uint64_t first = columns_.first; first < columns_.last; first += in_flight) {
    auto const last = static_cast<FeatureIndex>(std::min<std::uint64_t>(columns_.last, first + in_flight));
    ColumnRange const range{static_cast<FeatureIndex>(first), last, columns_.features};
    KeyColumns columns = GatherColumns(range, arena_, &upload);
    SearchGroup(columns, sort);
    if (range.size() == columns_.features) kept_ = std::move(columns);
  }
}

void Search::JoinColumns(KeyShards const& shards, Sort const& sort) {
  for (std::uint64_t first = columns_.first; first < columns_.last; first += sort.at_once) {
    auto const last = static_cast<FeatureIndex>(std::min<std::uint64_t>(columns_.last, first + sort.at_once));
    SearchGroup(cuda::JoinColumns(shards, {static_cast<FeatureIndex>(first), last, columns_.features}, arena_), sort);
  }
}

std::uint64_t Search::PassesOfColumns() const {
  std::uint64_t const rows = source_.rows(), sort = sorted_at_once() * rows * bytes_of_sort();
  std::uint64_t const taken = arena_->bytes() + sort + wanted_.weights.size() * sizeof(float) +
                              RowUpload{source_, threads_}.device_bytes(columns_.size());
  std::uint64_t const free = budget_ - std::min<std::uint64_t>(budget_, taken), column = rows * sizeof(std::uint32_t);
  if (free < column) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t const in_flight = std::max(sorted_at_once(), ColumnsThatFit(free / sizeof(std::uint32_t)));
  return (columns_.size() + in_flight - 1) / in_flight;
}

bool Search::CountKeys(std::uint64_t sorting_passes, std::uint64_t values, bool as_rows) {
  if (sorting_passes <= kNumKeyDigits) return false;
  std::size_t const memory = budget_ - std::min(budget_, arena_->bytes());
  auto const counter = MakeKeyCounter(source_, {wanted_.weights, scale_, as_rows, threads_, memory}, arena_);
  if (MostCountingPasses(columns_.size(), values, wanted_.max_bin, *counter) >= sorting_passes) return false;
  CountedCuts counted = FindCutsByCounting(columns_, wanted_.max_bin, threads_, counter.get());
  found_ = {std::move(counted.features), std::move(counted.values)};
  return true;
}

FeatureIndex Search::sorted_at_once() const {
  std::uint64_t const most = sorts_keys() ? QuantilePolicy{}.keys_at_once : QuantilePolicy{}.pairs_at_once;
  return ColumnsThatFit(std::min<std::uint64_t>(most, budget_ / 2 / bytes_of_sort()));
}

void Search::WithKeySort(ForSort const& search) {
  KeySorter sorter{arena_, source_.rows(), sorted_at_once()};
  search({sorted_at_once(), 0, [&](std::uint32_t const* keys, FeatureIndex n) { return sorter.Run(keys, n, rule()); }});
}

void Search::WithPairSort(ForSort const& search) {
  std::uint64_t const rows = source_.rows();
  DeviceBuffer<float> const weights = Upload(arena_, "weights", wanted_.weights.data(), wanted_.weights.size());
  FeatureIndex const at_once = sorted_at_once();
  PairSorter sorter{arena_, at_once * rows, weighted()};
  std::size_t const scratch = at_once * rows / 4;  // CUB's
  Stream const stream;
  search({at_once, scratch, [&](std::uint32_t const* keys, FeatureIndex n) {
            MakePairs(keys, rows, n, weights.data(), sorter.keys(), sorter.weights(), stream);
            return sorter.Run(rows * n, n, scale_, rule(), stream);
          }});
}

void Search::WithSort(ForSort const& search) { sorts_keys() ? WithKeySort(search) : WithPairSort(search); }

double Search::bytes_of_columns() const {
  constexpr double kBytes = sizeof(std::uint32_t);  // for each value, and more for the sort
  return 2 * kBytes * static_cast<double>(source_.rows()) * columns_.size();
}

void Search::SearchColumns() {
  WithinMemory(bytes_of_columns(), [&] {
    if (CountKeys(PassesOfColumns(), source_.rows() * columns_.size(), true)) return;
    WithSort([&](Sort const& sort) { ReadColumns(sort); });
  });
}

void Search::SearchColumns(KeyShards const& shards) {
  WithinMemory(bytes_of_columns(), [&] { WithSort([&](Sort const& sort) { JoinColumns(shards, sort); }); });
}

std::vector<Search::PairGroup> Search::GroupsOfPairs(std::uint64_t entries, Span<std::uint64_t const> sizes,
                                                     std::uint64_t most) const {
  if (entries <= most) return {{columns_, entries}};
  std::vector<std::uint64_t> counted;
  if (sizes.empty()) {
    counted = host::CountColumns(source_, threads_);
    sizes = counted;
  }
  std::vector<PairGroup> groups;
  for (FeatureIndex f = columns_.first; f < columns_.last; ++f) {
    if (groups.empty() || groups.back().pairs + sizes[f] > most) groups.push_back({{f, f, columns_.features}, 0});
    groups.back().range.last = f + 1;
    groups.back().pairs += sizes[f];
  }
  return groups;
}

void Search::SearchPairs(std::uint64_t entries, Span<std::uint64_t const> sizes) {
  std::size_t const pair_bytes = PairSorter::BytesPerPair(weighted()) + 2;  // + 2: for CUB's scratch
  WithinMemory(static_cast<double>(pair_bytes) * static_cast<double>(entries), [&] {
    std::uint64_t const most = std::max<std::uint64_t>(1, budget_ / pair_bytes);
    std::uint64_t const groups = (entries + most - 1) / most, counts = groups > 1 && sizes.empty() ? 1 : 0;
    if (!CountKeys(groups + counts, entries, false)) SearchPairs(GroupsOfPairs(entries, sizes, most));
  });
}

void Search::SearchPairs(std::vector<PairGroup> const& groups) {
  std::uint64_t largest = 0;
  for (PairGroup const& group : groups) largest = std::max(largest, group.pairs);
  PairSorter sorter{arena_, largest, weighted()};
  PairUpload upload{source_, wanted_.weights, threads_};
  for (PairGroup const& group : groups) {
    ColumnRange const& range = group.range;
    std::uint64_t sent = 0;
    std::uint64_t const n = upload.Run(range, [&](PairPiece const& piece) {
      CopyPairs(piece, sorter.keys() + sent, sorter.weights() + sent, upload.stream());
      sent += piece.n;
    });
    SortedColumns sorted = sorter.Run(n, range.size(), scale_, rule(), upload.stream());
    for (FeatureIndex c = 0; c < range.size(); ++c) {
      *present(range.first + c) = sorted.columns[c].stop - sorted.columns[c].begin;
    }
    Take(range.first, &sorted);
  }
}

}  // namespace

std::uint64_t CountEntries(RowSource const& source) {
  if (source.arrays()) return source.rows() * source.features();
  std::uint64_t entries = 0;
  source.ForEachBatch([&](RowBatch const& batch) {
    if (batch.rows() != 0) entries += batch.offsets.back() - batch.offsets.front();
  });
  return entries;
}

bool ReadAsColumns(RowSource const& source, std::uint64_t entries) {
  double const places = static_cast<double>(source.rows()) * source.features();
  return entries != 0 && places > 0 && static_cast<double>(entries) >= QuantilePolicy{}.dense_from * places;
}

Quantiles FindQuantiles(RowSource const& source, CutRequest const& wanted, BuildOptions const& options,
                        DeviceArena* arena) {
  CheckWeights(source.rows(), wanted.weights);
  std::uint64_t const entries = CountEntries(source);
  Search search{source, {0, source.features(), source.features()}, wanted, options, arena};
  if (entries == 0) {
    search.SearchNothing();
  } else if (ReadAsColumns(source, entries)) {
    search.SearchColumns();
  } else {
    search.SearchPairs(entries, {});
  }
  ColumnCuts found = search.Finish();
  Cuts cuts = CutsOfAllRows(found.features, source, wanted.weights, options.threads, NoOtherShards());
  return {std::move(cuts), std::move(found.present), search.TakeColumns()};
}

ColumnCuts FindColumnCuts(RowSource const& source, ColumnRange const& columns, Span<std::uint64_t const> sizes,
                          CutRequest const& wanted, BuildOptions const& options, DeviceArena* arena) {
  Search search{source, columns, wanted, options, arena};
  if (sizes.empty()) {
    search.SearchColumns();
  } else {
    search.SearchPairs(std::accumulate(sizes.begin() + columns.first, sizes.begin() + columns.last, std::uint64_t{0}),
                       sizes);
  }
  return search.Finish();
}

ColumnCuts FindColumnCuts(RowSource const& source, KeyShards const& shards, ColumnRange const& columns,
                          CutRequest const& wanted, BuildOptions const& options, DeviceArena* arena) {
  Search search{source, columns, wanted, options, arena};
  search.SearchColumns(shards);
  return search.Finish();
}

Cuts ComputeCuts(RowSource const& source, Span<float const> weights, int max_bin, int device, int threads) {
  DeviceScope const scope{device};
  ValidateMaxBin(max_bin);
  DeviceArena arena{"Finding quantiles on the GPU"};
  return FindQuantiles(source, {max_bin, weights}, {device, threads}, &arena).cuts;
}

Cuts CutsFromBinEdges(RowSource const& source, int device, int threads) {
  DeviceScope const scope{device};
  DeviceArena arena{"Finding bin edges on the GPU"};
  return FindQuantiles(source, {0, {}}, {device, threads}, &arena).cuts;
}

}  // namespace xgbgpu::cuda
