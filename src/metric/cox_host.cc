// Computes cox-nloglik on the host.
#include "base/buffer.h"
#include "metric/cox.h"
#include "metric/sum_host.h"
#include "objective/cox.h"

namespace xgbgpu::host {

double EvaluateCox(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   int threads) {
  std::uint64_t const rows = predictions.rows;
  SortedTimes own;
  TimeOrder order = targets.by_time;
  if (order.rows == nullptr) {
    own = SortTimes(targets.labels, rows);
    order = own.view();
  }
  Buffer<double> at_risk{rows};
  SumFromEnd(
      order, rows, [&](std::uint32_t row) { return static_cast<double>(predictions.at(row, 0)); }, at_risk.data(),
      threads);
  CoxTerms const terms{targets.labels, predictions, order, at_risk.data()};
  return FinishSum(params, SumTerms(terms, rows, threads), 1);
}

}  // namespace xgbgpu::host
