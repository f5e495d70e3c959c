/// Finds the cuts of columns whose values are in several shards of the rows.
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

/// Holds this shard's sorted columns of one group and finds their cuts together with all other shards.
///
/// Columns of few distinct values are gathered. In other columns a bisection on 32-bit sort keys finds the value of
/// each rank. The weight up to a key is a sum over shards. All ranks of the group's columns take the same steps.
/// Memory  12 bytes for each distinct value of the group in this shard; 32 bytes a rank; the distinct values of
///         gathered columns, at most max_bin + 1 a column, from every shard
/// Cost    at most 36 collective calls a group
/// Same    the cuts of ComputeCuts on all rows, bit for bit (proof: quantile_ops.h, ForEachQuantile)
class SharedColumns {
 public:
  SharedColumns(FeatureIndex features, int threads, Collective* collective);

  /// Keeps a column of the next group. Several threads may call it at a time for different columns.
  void Keep(SortedColumn const& own);
  /// Returns the cuts at quantiles of the kept columns [first, last), and drops the columns. All shards find the same
  /// cuts.
  std::vector<FeatureCuts> CutsAtQuantiles(FeatureIndex first, FeatureIndex last, int max_bin);
  /// Returns the cuts of kept columns [first, last) of lower bin edges (CutsOfEdges), and drops the columns.
  std::vector<FeatureCuts> CutsAtEdges(FeatureIndex first, FeatureIndex last);

 private:
  /// Values of one shard.
  struct Run {
    std::uint64_t values{0};
    std::vector<std::uint32_t> keys;
    std::vector<std::int64_t> cumulative;

    std::int64_t WeightUpTo(std::uint32_t key) const;
  };
  /// Facts of all shards' values.
  struct Facts {
    std::uint64_t values;
    std::uint64_t most_distinct;  ///< of one shard; 0: the column is empty
    std::uint32_t first, last;    ///< smallest and largest key
  };

  std::vector<Facts> FindFacts(FeatureIndex first, FeatureIndex last);
  /// Returns [columns] the distinct keys of all shards, ascending.
  std::vector<std::vector<std::uint32_t>> GatherKeys(std::vector<FeatureIndex> const& columns);
  /// Returns [columns] the keys of the values at the ranks of `parts` equal parts, ascending and distinct.
  std::vector<std::vector<std::uint32_t>> FindQuantiles(std::vector<FeatureIndex> const& columns,
                                                        std::vector<Facts> const& facts, std::vector<int> const& parts);
  void Forget(FeatureIndex first, FeatureIndex last);

  int threads_;
  Collective& collective_;
  std::vector<Run> runs_;  ///< [features]
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_QUANTILE_SHARED_COLUMNS_H_
