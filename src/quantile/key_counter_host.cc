// Counts sort keys on the host with shared counters.
#include "quantile/key_counter_host.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/float_bits.h"
#include "base/parallel.h"
#include "core/row_values.h"
#include "quantile/gather_columns.h"

namespace xgbgpu::host {

namespace {

/// Weights up to 2^62, or counts of values, which fit 32 bits.
template <typename Weight>
using Counters = std::vector<std::atomic<Weight>>;

/// One thread's additions to counters that all threads share.
///
/// Frequent counters are summed here first: frequent values are common, and threads that add to the same counter wait
/// for each other. Most other additions miss the cache, and every atomic addition delays the next. So additions wait in
/// a queue until their cache line arrives.
template <typename Weight>
class CounterAdder {
 public:
  void Add(std::uint64_t counter, Weight weight, Counters<Weight>* counters) {
    Sum const& sum = SumOf(counter);
    if (sum.counter != kNoCounter && sum.counter != counter) __builtin_prefetch(&(*counters)[sum.counter], 1);
    queue_[queued_++] = {counter, weight};
    if (queued_ == queue_.size()) AddQueued(counters);
  }
  void Flush(Counters<Weight>* counters) {
    AddQueued(counters);
    for (Sum& sum : sums_) Flush(&sum, counters);
  }

 private:
  static constexpr int kBits = 11;
  struct Sum {
    std::uint64_t counter{kNoCounter};
    Weight weight{0};
  };

  Sum& SumOf(std::uint64_t counter) {
    return sums_[(counter * 0x9E3779B97F4A7C15U) >> (64 - kBits)];  // spreads neighbours
  }
  void AddQueued(Counters<Weight>* counters) {
    for (std::size_t i = 0; i < queued_; ++i) {
      Sum& sum = SumOf(queue_[i].counter);
      if (sum.counter != queue_[i].counter) Flush(&sum, counters);
      sum.counter = queue_[i].counter;
      sum.weight += queue_[i].weight;
    }
    queued_ = 0;
  }
  static void Flush(Sum* sum, Counters<Weight>* counters) {
    if (sum->counter != kNoCounter) (*counters)[sum->counter].fetch_add(sum->weight, std::memory_order_relaxed);
    *sum = {};
  }

  std::array<Sum, std::size_t{1} << kBits> sums_{};
  std::array<Sum, 64> queue_{};
  std::size_t queued_{0};
};

/// Weight: std::int64_t, or std::uint32_t if every value counts 1.
template <typename Weight>
class HostKeyCounter final : public KeyCounter {
 public:
  HostKeyCounter(RowSource const& source, RowWeights const& weights, int threads, std::size_t memory_bytes)
      : source_{source},
        weights_{weights},
        threads_{threads},
        memory_bytes_{memory_bytes},
        adders_(static_cast<std::size_t>(threads)),
        ends_(static_cast<std::size_t>(threads)) {}

  std::size_t most_prefixes(KeyDigit digit) const override {
    std::size_t const counters = digit.counters() * sizeof(Weight), place = 2 * sizeof(std::uint32_t);
    std::size_t const ends = digit.IsFirst() ? ends_.size() * sizeof(KeyEnds) : 0;
    return std::max<std::size_t>(1, memory_bytes_ / (counters + place + ends));
  }
  void Count(KeyDigit digit, Span<CountedPrefix const> prefixes) override {
    Begin(digit, prefixes);
    if (auto const array = HostArray(source_)) {
      VisitRows(*array, source_.features(), [&](auto const& rows) { CountRows(rows); });
    } else {
      source_.ForEachBatch([&](RowBatch const& batch) { CountBatch(batch); });
    }
    for (auto& adder : adders_) adder.Flush(&counters_);
  }
  void Read(std::uint64_t first, Span<std::int64_t> counts) override {
    constexpr std::size_t kGrain = 1 << 16;
    ParallelChunks(threads_, counts.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) counts[i] = counters_[first + i].load(std::memory_order_relaxed);
    });
  }
  std::vector<KeyEnds> Ends() override {
    for (std::size_t t = 1; t < ends_.size(); ++t) {
      for (std::size_t c = 0; c < table_->columns(); ++c) ends_[0][c].Join(ends_[t][c]);
    }
    return ends_[0];
  }

 private:
  FeatureIndex first() const { return table_->first; }
  FeatureIndex last() const { return table_->first + table_->columns(); }

  void Begin(KeyDigit digit, Span<CountedPrefix const> prefixes) {
    counters_ = Counters<Weight>{};  // frees the old memory first
    counters_ = Counters<Weight>(prefixes.size() * digit.counters());
    table_.emplace(prefixes);
    view_ = {digit, table_->start.data(), table_->bits.data()};
    for (auto& own : ends_) own.assign(digit.IsFirst() ? table_->columns() : 0, {});
  }
  void CountValue(std::size_t thread, std::uint64_t row, std::size_t column, float value) {
    std::uint32_t const key = AscendingKey(value);
    Weight weight = 1;
    if constexpr (std::is_same_v<Weight, std::int64_t>) {
      weight = IntegerWeight(weights_.of_rows[row], weights_.scale);
    }
    if (view_.digit.IsFirst()) {
      KeyEnds& ends = ends_[thread][column];
      ++ends.values;
      if (weight != 0) ends.Add(key, weight);
    }
    std::uint64_t const counter = view_.CounterOf(static_cast<std::uint32_t>(column), key);
    if (counter != kNoCounter) adders_[thread].Add(counter, weight, &counters_);
  }
  template <typename T>
  void CountRows(ArrayRows<T> const& rows) {
    std::size_t const n = source_.rows(), parts = adders_.size();
    ParallelTasks(threads_, parts, [&](std::size_t part, int) {
      ForEachColumnPart(rows, n * part / parts, n * (part + 1) / parts, first(), last(),
                        [&](FeatureIndex f, std::size_t row, std::size_t part_rows, float const* values) {
                          for (std::size_t r = 0; r < part_rows; ++r) {
                            if (!std::isnan(values[r])) CountValue(part, row + r, f - first(), values[r]);
                          }
                        });
    });
  }
  void CountBatch(RowBatch const& batch) {
    constexpr std::uint64_t kAny = std::uint64_t{1} << 32;
    ForEachValue(batch, 0, kAny, adders_.size(), threads_, [&](std::size_t part, std::size_t i, Entry e) {
      std::uint64_t const row = batch.first_row + i;
      if (e.feature >= source_.features() || std::isinf(e.value)) ThrowBadValue(row, e, source_.features());
      if (e.feature >= first() && e.feature < last()) CountValue(part, row, e.feature - first(), e.value);
    });
  }

  RowSource const& source_;
  RowWeights weights_;
  int threads_;
  std::size_t memory_bytes_;
  std::vector<CounterAdder<Weight>> adders_;  ///< [threads]
  std::vector<std::vector<KeyEnds>> ends_;    ///< [threads][columns]
  std::optional<PrefixTable> table_;          ///< of view_
  PrefixView view_{};
  Counters<Weight> counters_;
};

}  // namespace

std::unique_ptr<KeyCounter> MakeKeyCounter(RowSource const& source, RowWeights const& weights, int threads,
                                           std::size_t memory_bytes) {
  if (weights.of_rows.empty()) {
    return std::make_unique<HostKeyCounter<std::uint32_t>>(source, weights, threads, memory_bytes);
  }
  return std::make_unique<HostKeyCounter<std::int64_t>>(source, weights, threads, memory_bytes);
}

}  // namespace xgbgpu::host
