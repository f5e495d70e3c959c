// Computes ranking metrics on the host.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"
#include "metric/ranking.h"
#include "metric/ranking_ops.h"
#include "metric/sum_host.h"
#include "metric/sum_shards.h"

namespace xgbgpu::host {

namespace {

/// Writes the rows of the group to `rows`, at the group's place, in descending order of value(row). Equal rows keep
/// their order.
template <typename Value>
void SortRows(RankingGroup const& group, std::uint32_t* rows, Value&& value) {
  thread_local std::vector<std::uint64_t> keyed;  // key and row in one number, so that sorting looks nothing up
  keyed.resize(group.size);
  for (std::uint64_t i = 0; i < group.size; ++i) {
    auto const row = static_cast<std::uint32_t>(group.begin + i);
    keyed[i] = std::uint64_t{PredictionKey(value(row))} << 32 | row;
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::uint64_t i = 0; i < group.size; ++i) rows[group.begin + i] = static_cast<std::uint32_t>(keyed[i]);
}

}  // namespace

double EvaluateRanking(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                       int threads, Collective& collective) {
  std::uint64_t const rows = predictions.rows;
  bool const needs_predictions = params.kind != Metric::kAuc;
  bool const needs_labels = params.kind == Metric::kAuc || params.kind == Metric::kNdcg;
  Buffer<std::uint32_t> by_prediction{needs_predictions ? rows : 0}, by_label{needs_labels ? rows : 0};
  Buffer<CurvePoint> points{params.kind == Metric::kAucpr ? rows : 0};
  RankingTerms const terms{params, targets, predictions, by_prediction.data(), by_label.data(), points.data()};
  std::uint32_t const groups = targets.group_ptr == nullptr ? 1 : targets.groups;
  std::vector<MetricSum> values(groups);
  ParallelTasks(threads, groups, [&](std::size_t g, int) {
    auto const index = static_cast<std::uint32_t>(g);
    RankingGroup const group = GroupOf(targets, rows, index);
    if (needs_predictions) {
      SortRows(group, by_prediction.data(), [&](std::uint32_t row) { return predictions.at(row, 0); });
    }
    if (needs_labels) SortRows(group, by_label.data(), [&](std::uint32_t row) { return targets.labels[row]; });
    if (params.kind == Metric::kAucpr) {
      CurvePoint sum{0, 0};
      for (std::uint64_t i = 0; i < group.size; ++i) points[group.begin + i] = sum = sum + terms.PointOf(group, i);
    }
    std::uint64_t hits = 0;
    auto const term = [&](std::uint64_t position) {  // called for one position after another
      if (params.kind == Metric::kMap && terms.IsHit(group, position)) ++hits;
      return terms(group, position, hits);
    };
    auto const block = [&](std::uint64_t b) {
      return SumBlock(term, b * kSumBlock, std::min<std::uint64_t>(group.size, (b + 1) * kSumBlock));
    };
    values[g] =
        terms.Finish(index, group, group.size <= kSumBlock ? block(0) : SumBlock(block, 0, SumBlocks(group.size)));
  });
  if (collective.shards() == 1) {
    return FinishRanking(params, SumTerms([&](std::uint64_t g) { return values[g]; }, groups, threads));
  }
  std::uint64_t const first_row = Shard::Place(&collective, rows).first_row;
  auto const value = [&](std::uint64_t g) { return OfAllShards(values[g], first_row); };
  auto const compute = [&](ShardItems const& own, MetricSum* sums) { SumItems(value, own, threads, sums); };
  std::vector<std::int64_t> sizes;
  ShareSizes(groups, collective, &sizes);
  ShardSum<MetricSum> const sum{sizes, collective.shard(), compute};
  std::vector<std::int64_t> words = sum.words();
  collective.Sum(Span<std::int64_t>{words});
  return FinishRanking(params, sum.From(words));
}

}  // namespace xgbgpu::host
