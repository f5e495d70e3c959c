/// Finds the cuts of columns with values in several shards of the rows.
#ifndef XGBGPU_QUANTILE_SHARED_COLUMNS_H_
#define XGBGPU_QUANTILE_SHARED_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "quantile/columns.h"
#include "quantile/feature_cuts.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A key of a column.
struct ColumnKey {
  FeatureIndex feature;
  std::uint32_t key;
};

/// The sorted columns of one shard, in its own memory. Columns of few distinct keys list them, up to a number that
/// suffices for the wanted cuts.
class ShardColumns {
 public:
  virtual ~ShardColumns() = default;

  struct Facts {
    std::uint64_t values;    ///< number of values that are not missing, rows of weight 0 included
    std::uint64_t distinct;  ///< number of distinct values, without rows of weight 0; at least 1 too many to be listed
    std::uint32_t first, last;  ///< smallest and largest key, if there is one
  };
  virtual Facts FactsOf(FeatureIndex feature) const = 0;
  /// Returns the distinct keys of a column that lists them, in any order.
  virtual Span<std::uint32_t const> KeysOf(FeatureIndex feature) const = 0;
  /// Writes the integer weights of the values up to and including each key.
  virtual void WeightsUpTo(Span<ColumnKey const> keys, Span<std::int64_t> weights) const = 0;
};

/// Keeps sorted columns in host memory: 12 bytes for each distinct value.
class KeptColumns final : public ShardColumns {
 public:
  KeptColumns(FeatureIndex features, int threads) : threads_{threads}, runs_(features) {}

  /// Several threads may call it at a time for different columns.
  void Keep(SortedColumn const& column);
  void Forget(FeatureIndex first, FeatureIndex last);

  Facts FactsOf(FeatureIndex feature) const override;
  Span<std::uint32_t const> KeysOf(FeatureIndex feature) const override { return runs_[feature].keys; }
  void WeightsUpTo(Span<ColumnKey const> keys, Span<std::int64_t> weights) const override;

 private:
  struct Run {
    std::uint64_t values{0};
    std::vector<std::uint32_t> keys;
    std::vector<std::int64_t> cumulative;
  };

  int threads_;
  std::vector<Run> runs_;  ///< [features]
};

/// Finds the cuts of this shard's columns together with all other shards.
///
/// Columns of few distinct values are gathered. In other columns a bisection on 32-bit sort keys finds the value of
/// each rank. The weight up to a key is a sum over shards. All ranks of the group's columns take the same steps.
/// Memory  32 bytes a rank; the distinct values of gathered columns, at most max_bin + 1 a column, from every shard
/// Cost    at most 36 collective calls a call
/// Same    the cuts of ComputeCuts on all rows, bit for bit (proof: quantile_ops.h, ForEachQuantile)
class SharedColumns {
 public:
  SharedColumns(ShardColumns const* own, int threads, Collective* collective)
      : own_{*own}, threads_{threads}, collective_{*collective} {}

  /// Returns the cuts at quantiles of columns [first, last). All shards find the same cuts. Columns list up to
  /// max_bin + 1 distinct keys.
  std::vector<FeatureCuts> CutsAtQuantiles(FeatureIndex first, FeatureIndex last, int max_bin) const;
  /// Returns the cuts of columns [first, last) of lower bin edges (CutsOfEdges). Columns list up to
  /// kMaxBinLimit distinct keys.
  std::vector<FeatureCuts> CutsAtEdges(FeatureIndex first, FeatureIndex last) const;

 private:
  /// Facts of all shards' values.
  struct Facts {
    std::uint64_t values;
    std::uint64_t most_distinct;  ///< of one shard; 0: the column is empty
    std::uint32_t first, last;    ///< smallest and largest key
  };

  std::vector<Facts> FindFacts(FeatureIndex first, FeatureIndex last) const;
  /// Returns [columns] the distinct keys of all shards, ascending.
  std::vector<std::vector<std::uint32_t>> GatherKeys(std::vector<FeatureIndex> const& columns) const;
  /// Returns [columns] the keys of the values at the ranks of `parts` equal parts, ascending and distinct.
  std::vector<std::vector<std::uint32_t>> FindQuantiles(std::vector<FeatureIndex> const& columns,
                                                        std::vector<Facts> const& facts,
                                                        std::vector<int> const& parts) const;

  ShardColumns const& own_;
  int threads_;
  Collective& collective_;
};

/// Throws InvalidArgument unless all shards have the same number of features.
void AgreeOnFeatures(FeatureIndex own, Collective& collective);

/// Returns the weights with one unit for all shards. A shard without rows has no weights.
/// Throws  InvalidArgument: the weights are not fit, or some shards have weights and some have none
RowWeights AgreeOnWeights(std::uint64_t rows, Span<float const> weights, Collective& collective);

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_SHARED_COLUMNS_H_
