// Evaluates metrics on the host, over the rows of all shards.
#include "base/message.h"
#include "metric/auc.h"
#include "metric/cox.h"
#include "metric/metric_ops.h"
#include "metric/ranking.h"
#include "metric/sum_host.h"
#include "metric/sum_shards.h"
#include "objective/all_rows.h"
#include "xgbgpu/error.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::host {

namespace {

double EvaluateAll(MetricParams const& params, TargetView targets, OutputView<float const> predictions, int threads,
                   Collective& collective) {
  std::uint64_t const rows = predictions.rows;
  std::int64_t any[] = {targets.group_ptr != nullptr ? 1 : 0, targets.group_ptr == nullptr && rows != 0 ? 1 : 0};
  collective.Max({any, 2});
  bool const have_groups = any[0] != 0;
  constexpr std::uint32_t kNoGroup = 0;
  if (have_groups && rows == 0) {
    targets.group_ptr = &kNoGroup;
    targets.groups = 0;
  }
  AllOrNone(collective, [&] {
    CheckMetricInput(params, targets, predictions);
    if (have_groups && targets.group_ptr == nullptr) {
      Throw<InvalidArgument>("Metric ", NameOf(params.kind),
                             ": other shards of the rows have ranking groups (qid), and ", rows,
                             " rows here have none; allowed: groups of all rows, or none");
    }
  });
  bool const needs_all_rows =
      params.kind == Metric::kCoxNloglik || (!have_groups && (IsArea(params.kind) || IsRanking(params.kind, targets)));
  if (needs_all_rows) {
    AllRows const all{targets, predictions, collective};
    return Evaluate(params, all.targets(), all.values(), threads);
  }
  if (IsRanking(params.kind, targets)) return EvaluateRanking(params, targets, predictions, threads, collective);
  std::uint64_t const first_row = Shard::Place(&collective, rows).first_row;
  MetricSum sum{};
  VisitTerms(params, targets, predictions, [&](auto const& terms) {
    auto const term = [&](std::uint64_t i) { return OfAllShards(terms(i), first_row); };
    sum = SumShardTerms(term, terms.size(), threads, collective);
  });
  return FinishSum(params, sum, predictions.outputs);
}

}  // namespace

double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions, int threads,
                Collective& collective) {
  if (collective.shards() > 1) return EvaluateAll(params, targets, predictions, threads, collective);
  CheckMetricInput(params, targets, predictions);
  if (IsRanking(params.kind, targets)) return EvaluateRanking(params, targets, predictions, threads, collective);
  if (IsArea(params.kind)) return EvaluateArea(params.kind, targets, predictions, threads);
  if (params.kind == Metric::kCoxNloglik) return EvaluateCox(params, targets, predictions, threads);
  MetricSum sum{};
  VisitTerms(params, targets, predictions, [&](auto const& terms) { sum = SumTerms(terms, terms.size(), threads); });
  return FinishSum(params, sum, predictions.outputs);
}

}  // namespace xgbgpu::host
