/// Finds cuts without sorting: sort keys are counted, digit after digit, where wanted ranks are. Host code; counters
/// are on the host or on a device.
#ifndef XGBGPU_QUANTILE_COUNTED_COLUMNS_H_
#define XGBGPU_QUANTILE_COUNTED_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quantile/feature_cuts.h"
#include "quantile/key_counts_ops.h"
#include "quantile/pack.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A prefix of the keys of a column. Its next digit is counted.
struct CountedPrefix {
  FeatureIndex feature;
  std::uint32_t bits;
};

/// Prefixes as PrefixView has them.
struct PrefixTable {
  explicit PrefixTable(Span<CountedPrefix const> prefixes);

  FeatureIndex columns() const { return static_cast<FeatureIndex>(start.size() - 1); }

  FeatureIndex first;                ///< column
  std::vector<std::uint32_t> start;  ///< [columns + 1]
  std::vector<std::uint32_t> bits;
};

/// What one pass tells of a column beside its counts. Rows of weight 0 have values, but no keys.
struct KeyEnds {
  std::uint64_t values{0};       ///< not missing
  std::uint32_t first{kNoKey};   ///< smallest key, if any
  std::uint32_t last{0};         ///< largest
  std::int64_t first_weight{0};  ///< of all values with the smallest key; 0: there is no key
  std::int64_t last_weight{0};

  bool empty() const { return first_weight == 0; }
  /// Takes `weight` more of a key.
  void Add(std::uint32_t key, std::int64_t weight) {
    AddFirst(key, weight);
    AddLast(key, weight);
  }
  void Join(KeyEnds const& other) {
    values += other.values;
    AddFirst(other.first, other.first_weight);
    AddLast(other.last, other.last_weight);
  }

 private:
  void AddFirst(std::uint32_t key, std::int64_t weight) {
    if (key < first) first_weight = 0;
    if (key <= first) {
      first = key;
      first_weight += weight;
    }
  }
  void AddLast(std::uint32_t key, std::int64_t weight) {
    if (key > last) last_weight = 0;
    if (key >= last) {
      last = key;
      last_weight += weight;
    }
  }
};

/// The counters of one pass over a source, of this shard's rows.
class KeyCounter {
 public:
  KeyCounter() = default;
  virtual ~KeyCounter() = default;
  KeyCounter(KeyCounter const&) = delete;
  KeyCounter& operator=(KeyCounter const&) = delete;

  /// Returns for how many prefixes the memory suffices at a time. It is one or more.
  virtual std::size_t most_prefixes(KeyDigit digit) const = 0;
  /// Reads the source once. Counters of a prefix follow those of the one before: weights of all keys that begin with
  /// it, by their digit. Prefixes ascend by feature and bits.
  /// Throws  InvalidArgument (values of which there must be none), while the first digit is counted
  virtual void Count(KeyDigit digit, Span<CountedPrefix const> prefixes) = 0;
  /// Copies neighbouring counters.
  virtual void Read(std::uint64_t first, Span<std::int64_t> counts) = 0;
  /// Returns [prefixes] the ends of the columns, after the first digit was counted: each prefix was a column then.
  virtual std::vector<KeyEnds> Ends() = 0;
};

/// Returns how many passes FindCutsByCounting makes at most for so many columns with so many values in all. Of bin
/// edges (max_bin is 0) columns are taken to have 256 at most, as most have.
std::uint64_t MostCountingPasses(std::uint64_t columns, std::uint64_t values, int max_bin, KeyCounter const& counter);

/// What counting finds of some columns.
struct CountedCuts {
  std::vector<FeatureCuts> features;  ///< [columns]
  std::vector<std::uint64_t> values;  ///< [columns] not missing, in all shards
};

/// Finds the cuts of the columns, all of this shard's rows, and with the other shards those of all rows. All shards
/// find the same. max_bin is that of host::ComputeCuts, or 0 for those of host::CutsFromBinEdges.
///
/// Cost    passes over the source: one for every counter.most_prefixes() of a digit. A column is a prefix of the first
///         digit. Of the others it has at most one for each rank, but max_bin + 1 as long as they are so few.
///         Memory beside the counters: 60 bytes for each prefix, 8 MB of counts
/// Same    the cuts of sorted columns, bit for bit (counted_columns.cc says why)
/// Throws  what counter->Count throws; InvalidArgument (more than kMaxBinLimit bin edges)
CountedCuts FindCutsByCounting(ColumnRange const& columns, int max_bin, int threads, KeyCounter* counter,
                               Collective& collective = NoOtherShards());

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_COUNTED_COLUMNS_H_
