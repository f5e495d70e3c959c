/// cox-nloglik: the negative partial log-likelihood of Cox's proportional hazards, per event. Internal to the metric
/// stage.
///
/// Predictions are hazards p, labels are times as in objective/cox_ops.h. The metric is the mean over events (labels
/// above 0) of ln (D / p), with D the sum of p over rows of the same time and later. NaN without an event. Weights are
/// ignored.
#ifndef XGBGPU_METRIC_COX_H_
#define XGBGPU_METRIC_COX_H_

#include "base/hd.h"
#include "core/portable_math.h"
#include "metric/metric_sum.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

/// Terms of the metric. Item i is the row at place i of the order.
struct CoxTerms {
  float const* labels;
  OutputView<float const> predictions;
  TimeOrder order;
  double const* at_risk;  ///< [rows] sum of predictions of each place and of later places

  XGBGPU_HD MetricSum operator()(std::uint64_t place) const {
    std::uint32_t const row = order.rows[place];
    if (!(labels[row] > 0.0f)) return {0.0, 0.0, 0};
    double const hazard = predictions.at(row, 0);
    return {PortableLog(at_risk[order.first[place]] / hazard), 1.0, 0};
  }
};

namespace host {
/// Returns the metric. Input is Evaluate's, which has checked it (CheckMetricInput). Sorts rows by time unless
/// targets.by_time has their order. Then two passes in this order, with a double for each row.
double EvaluateCox(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   int threads);
}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_COX_H_
