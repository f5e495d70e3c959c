/// cox-nloglik: minus the partial log-likelihood of Cox's proportional hazards, for each event; for the metric stage
/// alone.
///
/// Predictions are hazards p, labels times as in objective/cox_ops.h. The metric is the mean over events (labels above
/// 0) of ln (D / p), with D the sum of p over rows of the same time and later. NaN without an event. Weights do not
/// matter.
#ifndef XGBGPU_METRIC_COX_H_
#define XGBGPU_METRIC_COX_H_

#include "base/hd.h"
#include "core/portable_math.h"
#include "metric/metric_sum.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

/// Item i is the row at place i of the order.
struct CoxTerms {
  float const* labels;
  OutputView<float const> predictions;
  TimeOrder order;
  double const* at_risk;  ///< [rows] sum of predictions of each place and later ones

  XGBGPU_HD MetricSum operator()(std::uint64_t place) const {
    std::uint32_t const row = order.rows[place];
    if (!(labels[row] > 0.0f)) return {0.0, 0.0, 0};
    double const hazard = predictions.at(row, 0);
    return {PortableLog(at_risk[order.first[place]] / hazard), 1.0, 0};
  }
};

namespace host {
/// Input is that of Evaluate, which has checked it (CheckMetricInput). Rows are sorted by time unless targets.by_time
/// has their order. Two passes in that order follow, with a double for each row.
double EvaluateCox(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   int threads);
}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_COX_H_
