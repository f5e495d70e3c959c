// Evaluates metrics on the host, over the rows of all shards.
#include <optional>

#include "base/message.h"
#include "metric/auc.h"
#include "metric/cox.h"
#include "metric/metric_ops.h"
#include "metric/metric_shards.h"
#include "metric/ranking.h"
#include "metric/sum_host.h"
#include "metric/sum_shards.h"
#include "objective/all_rows.h"
#include "xgbgpu/error.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

namespace {

class HostShard final : public MetricShard {
 public:
  HostShard(TargetView const& targets, OutputView<float const> const& predictions, int threads)
      : targets_{targets}, predictions_{predictions}, threads_{threads} {}

  TargetView const& targets() const override { return targets_; }
  std::uint64_t rows() const override { return predictions_.rows; }
  std::uint32_t outputs() const override { return predictions_.outputs; }
  OutputView<float const> predictions() override { return predictions_; }
  void Sum(MetricParams const& metric, ShardItems const& items, MetricSum* values) override {
    VisitTerms(metric, targets_, predictions_,
               [&](auto const& terms) { host::SumItems(terms, items, threads_, values); });
  }

 private:
  TargetView const& targets_;
  OutputView<float const> predictions_;
  int threads_;
};

/// Returns the facts of all shards. Throws in all shards if the rows of one do not suit the metric.
SharedRows::Facts AgreeOnFacts(MetricParams const& metric, MetricShard const& own, Collective& collective) {
  TargetView const& targets = own.targets();
  auto const check = [&] {
    CheckMetricInput(metric, targets, RowMajor<float const>(nullptr, own.rows(), own.outputs()));
  };
  bool fails = false;
  try {
    check();
  } catch (InvalidArgument const&) {
    fails = true;
  }
  bool const has_groups = targets.group_ptr != nullptr;
  std::int64_t any[] = {has_groups ? 1 : 0, !has_groups && own.rows() != 0 ? 1 : 0, targets.weights != nullptr ? 1 : 0,
                        own.can_count() ? 0 : 1, fails ? 1 : 0};
  collective.Max({any, 5});
  bool const some_have_groups = any[0] != 0 && any[1] != 0;
  if (any[4] != 0 || some_have_groups) {
    AllOrNone(collective, [&] {
      check();
      if (some_have_groups && !has_groups && own.rows() != 0) {
        Throw<InvalidArgument>("Metric ", NameOf(metric.kind),
                               ": other shards of the rows have ranking groups (qid), and ", own.rows(),
                               " rows here have none; allowed: groups of all rows, or none");
      }
    });
  }
  return {any[0] != 0, any[2] != 0, any[3] == 0};
}

/// Returns the number of items of an element-wise metric.
std::uint64_t ItemsOf(MetricParams const& metric, TargetView const& targets, OutputView<float const> const& shape) {
  std::uint64_t items = 0;
  VisitTerms(metric, targets, shape, [&](auto const& terms) { items = terms.size(); });
  return items;
}

/// Returns a metric of all shards that is no sum over rows; nothing if it is one.
std::optional<double> EvaluateWhole(MetricParams const& metric, MetricShard* own, int threads, Collective& collective,
                                    SharedRows* shared) {
  std::uint64_t const rows = own->rows();
  TargetView targets = own->targets();
  if (!shared->facts) shared->facts = AgreeOnFacts(metric, *own, collective);
  SharedRows::Facts const& facts = *shared->facts;
  constexpr std::uint32_t kNoGroup = 0;
  if (facts.have_groups && rows == 0) {
    targets.group_ptr = &kNoGroup;
    targets.groups = 0;
  }
  bool const is_area = !facts.have_groups && IsArea(metric.kind);
  if (is_area && !facts.have_weights && facts.can_count) {
    if (!shared->place) shared->place = Shard::Place(&collective, rows);
    if (!shared->count_area) shared->count_area = !collective.AnyOf(!own->ReserveArea(shared->place->all_rows));
    if (auto const area = *shared->count_area ? own->CountArea(metric.kind, *shared->place) : std::nullopt) return area;
  }
  if (metric.kind == Metric::kCoxNloglik || is_area || (!facts.have_groups && IsRanking(metric.kind, targets))) {
    AllRows const all{targets, own->predictions(), collective};
    return host::Evaluate(metric, all.targets(), all.values(), threads);
  }
  if (!IsRanking(metric.kind, targets)) return {};
  return host::EvaluateRanking(metric, targets, own->predictions(), threads, collective);
}

/// Computes this shard's part of a metric that is a sum over rows. Shards tell each other the numbers of their items
/// once.
host::ShardSum<MetricSum> SumOwn(MetricParams const& metric, MetricShard* own, Collective& collective,
                                 SharedRows* shared) {
  auto const shape = RowMajor<float const>(nullptr, own->rows(), own->outputs());
  host::ShareSizes(ItemsOf(metric, own->targets(), shape), collective, &shared->items);
  return {shared->items, collective.shard(), [&](ShardItems const& items, MetricSum* values) {
            own->Sum(metric, items, values);
            // Where an item names a row, it is one.
            for (std::uint64_t i = 0; i < items.blocks + items.loose(); ++i) {
              values[i] = host::OfAllShards(values[i], items.first);
            }
          }};
}

}  // namespace

std::vector<double> EvaluateShards(Span<MetricParams const> metrics, MetricShard* own, int threads,
                                   Collective& collective, Span<SharedRows* const> shared) {
  std::vector<double> values(metrics.size());
  std::vector<std::size_t> summed;
  std::vector<host::ShardSum<MetricSum>> sums;
  std::vector<std::int64_t> words;  // of all sums, in one message
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (auto const value = EvaluateWhole(metrics[i], own, threads, collective, shared[i])) {
      values[i] = *value;
      continue;
    }
    summed.push_back(i);
    sums.push_back(SumOwn(metrics[i], own, collective, shared[i]));
    words.insert(words.end(), sums.back().words().begin(), sums.back().words().end());
  }
  if (!sums.empty()) collective.Sum(Span<std::int64_t>{words});
  Span<std::int64_t const> rest{words};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::size_t const size = sums[i].words().size();
    values[summed[i]] = FinishSum(metrics[summed[i]], sums[i].From(rest.subspan(0, size)), own->outputs());
    rest = rest.subspan(size, rest.size() - size);
  }
  return values;
}

namespace host {

std::vector<double> Evaluate(Span<MetricParams const> metrics, TargetView const& targets,
                             OutputView<float const> predictions, int threads, Collective& collective,
                             Span<SharedRows* const> shared) {
  HostShard own{targets, predictions, threads};
  return EvaluateShards(metrics, &own, threads, collective, shared);
}

double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions, int threads,
                Collective& collective, SharedRows* shared) {
  if (collective.shards() > 1) {
    SharedRows once;
    SharedRows* const rows[] = {shared != nullptr ? shared : &once};
    return Evaluate({&params, 1}, targets, predictions, threads, collective, {rows, 1})[0];
  }
  CheckMetricInput(params, targets, predictions);
  if (IsRanking(params.kind, targets)) return EvaluateRanking(params, targets, predictions, threads, collective);
  if (IsArea(params.kind)) return EvaluateArea(params.kind, targets, predictions, threads);
  if (params.kind == Metric::kCoxNloglik) return EvaluateCox(params, targets, predictions, threads);
  MetricSum sum{};
  VisitTerms(params, targets, predictions, [&](auto const& terms) { sum = SumTerms(terms, terms.size(), threads); });
  return FinishSum(params, sum, predictions.outputs);
}

}  // namespace host

}  // namespace xgbgpu
