// Shares bounds of rows with other processes, and evaluates metrics of the rows of all.

#include <cstring>
#include <iterator>
#include <vector>

#include "base/stages.h"
#include "cuda/device.h"
#include "cuda/long_copies.h"
#include "metric/metric_ops.h"
#include "metric/metric_shards.h"
#include "metric/sum_shards.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu::cuda {

/// The rows of this process.
class DeviceResidentRows::OwnShard final : public MetricShard {
 public:
  OwnShard(DeviceResidentRows* rows, OutputView<float const> const& predictions, TargetView const& on_host,
           GatherWords const& gather)
      : rows_{*rows}, predictions_{predictions}, on_host_{on_host}, gather_{gather} {}

  TargetView const& targets() const override { return on_host_; }
  std::uint64_t rows() const override { return rows_.rows_; }
  std::uint32_t outputs() const override { return rows_.outputs_; }
  OutputView<float const> predictions() override {
    if (copy_.empty()) {
      copy_.resize(predictions_.outputs * rows_.stride());
      CopyLongToHost(copy_.data(), rows_.predictions_.data(), copy_.size() * sizeof(float), rows_.threads_,
                     rows_.stream_, "copying predictions");
    }
    return rows_.View<float const>(copy_.data());
  }

  void Sum(MetricParams const& metric, ShardItems const& items, MetricSum* values) override {
    try {
      SumShardItems(metric, rows_.targets_, predictions_, items, values, &rows_.metrics_, rows_.limits_, rows_.stream_);
    } catch (OutOfDeviceMemory const&) {  // the other processes wait, and the host has room
      VisitTerms(metric, on_host_, predictions(),
                 [&](auto const& terms) { host::SumItems(terms, items, rows_.threads_, values); });
    }
  }

  bool can_count() const override { return true; }
  bool ReserveArea(std::uint64_t all_rows) override { return rows_.ReserveArea(all_rows); }
  std::optional<double> CountArea(Metric metric, Shard const& place) override {
    return EvaluateCountedArea(metric, rows_.targets_, predictions_, place.first_row, place.all_rows, gather_,
                               &rows_.metrics_, rows_.limits_, rows_.stream_);
  }

 private:
  DeviceResidentRows& rows_;
  OutputView<float const> predictions_;
  TargetView const& on_host_;
  GatherWords const& gather_;
  std::vector<float> copy_;  ///< of the predictions, in the device's layout
};

bool DeviceResidentRows::ReserveArea(std::uint64_t all_rows) {
  try {
    ReserveCountedArea(all_rows, outputs_, &metrics_, stream_);
    return true;
  } catch (OutOfDeviceMemory const&) {
    return false;
  }
}

bool DeviceResidentRows::ReserveShared(SharedRows const& shared) {
  DeviceScope const scope{limits_.device};
  return !shared.count_area.value_or(false) || ReserveArea(shared.place->all_rows);
}

void DeviceResidentRows::ShareBoundsOver(Collective* group) {
  double* const bounds[] = {&most_margin_, &most_label_, &most_weight_};
  std::int64_t bits[std::size(bounds)];  // have the order of the magnitudes
  for (std::size_t i = 0; i < std::size(bounds); ++i) std::memcpy(bits + i, bounds[i], sizeof(double));
  group->Max({bits, std::size(bits)});
  for (std::size_t i = 0; i < std::size(bounds); ++i) std::memcpy(bounds[i], bits + i, sizeof(double));
  bounds_are_shared_ = true;
}

std::vector<double> DeviceResidentRows::EvaluateOver(ObjectiveParams const& objective, Span<MetricParams const> metrics,
                                                     TargetView const& targets, Collective* group,
                                                     GatherWords const& gather, Span<SharedRows* const> shared) {
  DeviceScope scope{limits_.device};
  std::vector<double> values;
  timer_->Run(kMetric, kNoLevel, [&] {
    OwnShard own{this, Predictions(objective), targets, gather};
    values = EvaluateShards(metrics, &own, threads_, *group, shared);
  });
  return values;
}

}  // namespace xgbgpu::cuda
