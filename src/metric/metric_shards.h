/// Metrics over the rows of several shards. Each shard has its rows in host memory or on a device.
#ifndef XGBGPU_METRIC_METRIC_SHARDS_H_
#define XGBGPU_METRIC_METRIC_SHARDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "metric/metric_sum.h"
#include "metric/shard_items.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// The rows of one shard.
class MetricShard {
 public:
  virtual ~MetricShard() = default;

  /// Returns labels and weights in host memory.
  virtual TargetView const& targets() const = 0;
  virtual std::uint64_t rows() const = 0;
  virtual std::uint32_t outputs() const = 0;
  /// Returns the predictions in host memory. They are valid as long as the shard.
  virtual OutputView<float const> predictions() = 0;

  /// Does the work of `compute` in host::ShardSum for an element-wise metric. Rows are numbered from the shard's first.
  virtual void Sum(MetricParams const& metric, ShardItems const& items, MetricSum* values) = 0;
  /// Returns true if the shard can count areas beside other shards that can (CountArea).
  virtual bool can_count() const { return false; }
  /// Takes memory for CountArea. Returns false if there is too little.
  virtual bool ReserveArea(std::uint64_t /*all_rows*/) { return false; }
  /// Returns kAuc or kAucpr of the rows of all shards, without weights and groups. All shards call it at the same time,
  /// after ReserveArea. Returns nothing in all shards if cuda::EvaluateCountedArea does not serve the rows.
  virtual std::optional<double> CountArea(Metric /*metric*/, Shard const& /*place*/) { return {}; }
};

/// Returns metrics of the rows of all shards. All shards call it at the same time. `shared`: of each metric. Errors,
/// bits and cost are host::Evaluate's.
std::vector<double> EvaluateShards(Span<MetricParams const> metrics, MetricShard* own, int threads,
                                   Collective& collective, Span<SharedRows* const> shared);

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_METRIC_SHARDS_H_
