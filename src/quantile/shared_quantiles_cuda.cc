// Sorts the columns of one process on its device, and finds the cuts of all processes.
#include "quantile/shared_quantiles_cuda.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "quantile/feature_cuts.h"
#include "quantile/fit_cuts.h"
#include "quantile/pair_upload_cuda.h"
#include "quantile/quantile_policy.h"
#include "quantile/shared_columns.h"
#include "quantile/sorted_columns_cuda.h"
#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

namespace {

/// The columns of the process's own rows, some of them sorted.
class OwnColumns : public host::ShardColumns {
 public:
  virtual ~OwnColumns() = default;

  /// Returns the number of columns that can be sorted at once; 0: memory is too short.
  virtual FeatureIndex at_once() const = 0;
  /// Sorts columns [first, last), which replace the columns sorted before. Waits.
  virtual void Sort(FeatureIndex first, FeatureIndex last) = 0;
  /// Returns [features] the numbers of values that are not missing.
  virtual std::vector<std::uint64_t> const& present() const = 0;
  /// Frees the memory of sorts. Returns the columns before they were sorted, if they are on the device.
  virtual std::optional<KeyColumns> TakeColumns() = 0;

  Facts FactsOf(FeatureIndex feature) const override {
    ColumnSummary const& column = sorted_.columns[feature - first_];
    return {present()[feature], column.empty() ? 0 : column.distinct, column.first, column.last};
  }
  Span<std::uint32_t const> KeysOf(FeatureIndex feature) const override {
    std::size_t const c = feature - first_;
    return {sorted_.lists.data() + sorted_.list_start[c], static_cast<std::size_t>(sorted_.columns[c].distinct)};
  }
  void WeightsUpTo(Span<host::ColumnKey const> keys, Span<std::int64_t> weights) const override {
    std::vector<KeyInColumn> places(keys.size());
    std::transform(keys.begin(), keys.end(), places.begin(), [&](host::ColumnKey const& of) {
      ColumnSummary const& column = sorted_.columns[of.feature - first_];
      return KeyInColumn{column.begin, column.end, of.key};
    });
    Weigh(places, weights);
  }

 protected:
  /// `max_bin` is 0 for bin edges.
  explicit OwnColumns(int max_bin)
      : rule_{max_bin == 0 ? CutRule{kMaxBinLimit, 0} : CutRule{static_cast<std::uint64_t>(max_bin) + 1, 1}} {}

  CutRule const& rule() const { return rule_; }
  void SetSorted(FeatureIndex first, SortedColumns sorted) {
    first_ = first;
    sorted_ = std::move(sorted);
  }

 private:
  virtual void Weigh(Span<KeyInColumn const> keys, Span<std::int64_t> weights) const = 0;

  CutRule rule_;  ///< lists distinct keys, and finds no ranks: these are of all rows
  FeatureIndex first_{0};
  SortedColumns sorted_;
};

/// Dense rows, as columns of keys that stay on the device.
class DenseColumns final : public OwnColumns {
 public:
  DenseColumns(RowSource const& source, host::RowWeights const& weights, int max_bin, BuildOptions const& options,
               DeviceArena* arena)
      : OwnColumns{max_bin}, scale_{weights.scale}, budget_{MemoryBudget(options)}, arena_{arena} {
    RowUpload upload{source, options.threads};
    FeatureIndex const features = source.features();
    std::size_t const bytes = source.rows() * features * sizeof(std::uint32_t);
    if (bytes + upload.device_bytes(features) > budget_) return;
    keys_ = GatherColumns({0, features, features}, arena_, &upload);
    weights_ = Upload(arena_, "weights", weights.of_rows.data(), weights.of_rows.size());
  }

  FeatureIndex at_once() const override {
    if (!keys_) return 0;
    bool const weighted = weights_.size() != 0;
    std::size_t const of_one =
        keys_->rows * (sorts_keys() ? KeySorter::BytesPerKey() : PairSorter::BytesPerPair(weighted) + 4);
    std::size_t const room = budget_ - std::min(budget_, arena_->bytes());
    return static_cast<FeatureIndex>(std::min<std::size_t>(room / of_one, keys_->range.size()));
  }

  void Sort(FeatureIndex first, FeatureIndex last) override {
    std::uint64_t const rows = keys_->rows;
    FeatureIndex const n = last - first;
    std::uint32_t const* const keys = keys_->keys.data() + first * rows;
    if (sorts_keys()) {
      if (!key_sorter_) key_sorter_.emplace(arena_, rows, n);
      SetSorted(first, key_sorter_->Run(keys, n, rule()));
      return;
    }
    if (!pair_sorter_) pair_sorter_.emplace(arena_, rows * n, weights_.size() != 0);
    MakePairs(keys, rows, n, weights_.data(), pair_sorter_->keys(), pair_sorter_->weights(), stream_);
    SetSorted(first, pair_sorter_->Run(rows * n, n, scale_, rule(), stream_));
  }

  std::vector<std::uint64_t> const& present() const override { return keys_->present; }
  std::optional<KeyColumns> TakeColumns() override {
    key_sorter_.reset();
    pair_sorter_.reset();
    return std::move(keys_);
  }

 private:
  bool sorts_keys() const { return weights_.size() == 0 && keys_->rows >= QuantilePolicy{}.key_sort_from; }
  void Weigh(Span<KeyInColumn const> keys, Span<std::int64_t> weights) const override {
    key_sorter_ ? key_sorter_->WeightsUpTo(keys, weights) : pair_sorter_->WeightsUpTo(keys, weights, stream_);
  }

  double scale_;
  std::size_t budget_;
  DeviceArena* arena_;
  Stream stream_;
  std::optional<KeyColumns> keys_;  ///< nothing: they do not fit
  DeviceBuffer<float> weights_;
  std::optional<KeySorter> key_sorter_;
  std::optional<PairSorter> pair_sorter_;
};

/// Rows of mostly missing values, whose entries are sorted all at once.
class EntryColumns final : public OwnColumns {
 public:
  EntryColumns(RowSource const& source, std::uint64_t entries, host::RowWeights const& weights, int max_bin,
               BuildOptions const& options, DeviceArena* arena)
      : OwnColumns{max_bin}, features_{source.features()}, present_(source.features()) {
    bool const weighted = !weights.of_rows.empty();
    constexpr std::size_t kScratch = 2;  // bytes an entry, of CUB
    if (entries * (PairSorter::BytesPerPair(weighted) + kScratch) > MemoryBudget(options)) return;
    sorter_.emplace(arena, std::max<std::uint64_t>(1, entries), weighted);
    PairUpload upload{source, weights.of_rows, options.threads};
    std::uint64_t sent = 0;
    std::uint64_t const n = upload.Run({0, features_, features_}, [&](PairPiece const& piece) {
      CopyPairs(piece, sorter_->keys() + sent, sorter_->weights() + sent, upload.stream());
      sent += piece.n;
    });
    SortedColumns sorted = sorter_->Run(n, features_, weights.scale, rule(), stream_);
    std::transform(sorted.columns.begin(), sorted.columns.end(), present_.begin(),
                   [](ColumnSummary const& column) { return column.stop - column.begin; });
    SetSorted(0, std::move(sorted));
  }

  FeatureIndex at_once() const override { return sorter_ ? features_ : 0; }
  void Sort(FeatureIndex /*first*/, FeatureIndex /*last*/) override {}
  std::vector<std::uint64_t> const& present() const override { return present_; }
  std::optional<KeyColumns> TakeColumns() override {
    sorter_.reset();
    return {};
  }

 private:
  void Weigh(Span<KeyInColumn const> keys, Span<std::int64_t> weights) const override {
    sorter_->WeightsUpTo(keys, weights, stream_);
  }

  FeatureIndex features_;
  Stream stream_;
  std::optional<PairSorter> sorter_;  ///< nothing: the entries do not fit
  std::vector<std::uint64_t> present_;
};

/// Calls work() in all processes. Returns false in all if memory is short in one.
template <typename F>
bool FitsAll(Collective* group, F&& work) {
  bool fits = false;
  AllOrNone(*group, [&] {
    try {
      fits = work();
    } catch (OutOfDeviceMemory const&) {  // the host has other memory
    }
  });
  return !group->AnyOf(!fits);
}

}  // namespace

std::optional<Quantiles> FindSharedQuantiles(RowSource const& source, CutRequest const& wanted,
                                             BuildOptions const& options, Collective* group, DeviceArena* arena) {
  FeatureIndex const features = source.features();
  host::AgreeOnFeatures(features, *group);
  host::RowWeights const weights = host::AgreeOnWeights(source.rows(), wanted.weights, *group);
  std::unique_ptr<OwnColumns> own;
  bool const fits = FitsAll(group, [&] {
    std::uint64_t const entries = CountEntries(source);
    if (ReadAsColumns(source, entries)) {
      own = std::make_unique<DenseColumns>(source, weights, wanted.max_bin, options, arena);
    } else {
      own = std::make_unique<EntryColumns>(source, entries, weights, wanted.max_bin, options, arena);
    }
    return own->at_once() != 0;
  });
  if (!fits) return {};
  auto const at_once = static_cast<FeatureIndex>(-group->MaxOf(-std::int64_t{own->at_once()}));
  host::SharedColumns const shared{own.get(), options.threads, group};
  std::vector<FeatureCuts> cuts;
  for (FeatureIndex first = 0; first < features; first += at_once) {
    FeatureIndex const last = std::min(features, first + at_once);
    bool const sorted = FitsAll(group, [&] {
      own->Sort(first, last);
      return true;
    });
    if (!sorted) return {};
    auto const found =
        wanted.max_bin == 0 ? shared.CutsAtEdges(first, last) : shared.CutsAtQuantiles(first, last, wanted.max_bin);
    cuts.insert(cuts.end(), found.begin(), found.end());
  }
  return Quantiles{CutsOfAllRows(cuts, source, wanted.weights, options.threads, *group), own->present(),
                   own->TakeColumns()};
}

}  // namespace xgbgpu::cuda
