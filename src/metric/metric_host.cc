#include "metric/auc.h"
#include "metric/cox.h"
#include "metric/metric.h"
#include "metric/metric_ops.h"
#include "metric/ranking.h"
#include "metric/sum_host.h"

namespace xgbgpu::host {

double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                int threads) {
  CheckMetricInput(params, targets, predictions);
  if (IsRanking(params.kind, targets)) return EvaluateRanking(params, targets, predictions, threads);
  if (IsArea(params.kind)) return EvaluateArea(params.kind, targets, predictions, threads);
  if (params.kind == Metric::kCoxNloglik) return EvaluateCox(params, targets, predictions, threads);
  MetricSum sum{};
  VisitTerms(params, targets, predictions, [&](auto const& terms) { sum = SumTerms(terms, terms.size(), threads); });
  return FinishSum(params, sum, predictions.outputs);
}

}  // namespace xgbgpu::host
