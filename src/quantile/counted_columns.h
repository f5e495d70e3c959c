/// Finds cuts without sorting: counts sort keys, digit after digit, around the wanted ranks. Host code; counters are on
/// the host or on a device.
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

/// A prefix of a column's keys whose next digit is counted.
struct CountedPrefix {
  FeatureIndex feature;
  std::uint32_t bits;
};

/// Prefixes in the layout of PrefixView.
struct PrefixTable {
  explicit PrefixTable(Span<CountedPrefix const> prefixes);

  FeatureIndex columns() const { return static_cast<FeatureIndex>(start.size() - 1); }

  FeatureIndex first;                ///< column
  std::vector<std::uint32_t> start;  ///< [columns + 1]
  std::vector<std::uint32_t> bits;
};

/// The facts of one pass about a column beside its counts. Rows of weight 0 have values, but no keys.
struct KeyEnds {
  std::uint64_t values{0};       ///< number of values that are not missing
  std::uint32_t first{kNoKey};   ///< smallest key, or kNoKey
  std::uint32_t last{0};         ///< largest key
  std::int64_t first_weight{0};  ///< weight of all values with the smallest key; 0: the column has no key
  std::int64_t last_weight{0};

  bool empty() const { return first_weight == 0; }
  /// Adds a key with a weight.
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

/// The counters of one pass over a source, for this shard's rows.
class KeyCounter {
 public:
  KeyCounter() = default;
  virtual ~KeyCounter() = default;
  KeyCounter(KeyCounter const&) = delete;
  KeyCounter& operator=(KeyCounter const&) = delete;

  /// Returns the number of prefixes that fit the memory at a time, one or more.
  virtual std::size_t most_prefixes(KeyDigit digit) const = 0;
  /// Reads the source once. The counters of a prefix follow the counters of the prefix before: weights of all keys that
  /// begin with the prefix, by digit. Prefixes ascend by feature and bits.
  /// Throws  InvalidArgument (values that must not occur), during the count of the first digit
  virtual void Count(KeyDigit digit, Span<CountedPrefix const> prefixes) = 0;
  /// Copies neighbouring counters.
  virtual void Read(std::uint64_t first, Span<std::int64_t> counts) = 0;
  /// Returns [prefixes] the ends of the columns after the count of the first digit, when each prefix is a column.
  virtual std::vector<KeyEnds> Ends() = 0;
};

/// Returns the most passes of FindCutsByCounting for `columns` columns with `values` values in all. With bin edges
/// (max_bin is 0) it assumes columns of at most 256 edges, the common case.
std::uint64_t MostCountingPasses(std::uint64_t columns, std::uint64_t values, int max_bin, KeyCounter const& counter);

/// Cuts of columns that counting has found.
struct CountedCuts {
  std::vector<FeatureCuts> features;  ///< [columns]
  std::vector<std::uint64_t> values;  ///< [columns] number of values that are not missing, in all shards
};

/// Finds the cuts of the columns over the rows of all shards. All shards find the same. max_bin is host::ComputeCuts's,
/// or 0 for the cuts of host::CutsFromBinEdges.
///
/// Cost    passes over the source: one for every counter.most_prefixes() of a digit. A column is one prefix of the
///         first digit. It has at most one prefix of a later digit for each rank, but max_bin + 1 while its non-empty
///         prefixes are that few. Memory beside the counters: 60 bytes for each prefix, 8 MB of counts
/// Same    the cuts of sorted columns, bit for bit (counted_columns.cc has the proof)
/// Throws  the errors of counter->Count; InvalidArgument (more than kMaxBinLimit bin edges)
CountedCuts FindCutsByCounting(ColumnRange const& columns, int max_bin, int threads, KeyCounter* counter,
                               Collective& collective = NoOtherShards());

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_COUNTED_COLUMNS_H_
