// Computes metrics on a device, on the host, or over the rows of a process group.
#include "booster/evaluation.h"

#include <xgboost/logging.h>

#include <cmath>
#include <memory>
#include <utility>

#include "base/message.h"
#include "base/quoted.h"
#include "base/stages.h"
#include "booster/booster.h"
#include "call/info_epoch.h"
#include "errors/boundary.h"
#include "group/process_group.h"
#include "matrix/adapt_input.h"
#include "xgb/owner.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

/// Warns in the words of stock code, and as often.
void WarnIfWithoutArea(Metric metric, double value) {
  if ((metric == Metric::kAuc || metric == Metric::kAucpr) && std::isnan(value)) {
    LOG(WARNING) << "Dataset is empty, or contains only positive or negative samples.";
  }
}

/// Returns the name of a metric without its number.
std::string KindOfMetric(std::string const& name) {
  std::string kind = name.substr(0, name.find('@'));
  if (!kind.empty() && kind.back() == '-') kind.pop_back();
  return kind;
}

/// Returns true if stock code reads a weight for every row. Metrics over groups and of hazards do not. `metric`:
/// nothing if the engine does not compute it.
bool ReadsWeightsOfRows(std::string const& name, std::optional<MetricParams> const& metric, TargetView const& targets) {
  if (metric) return metric->kind != Metric::kCoxNloglik && !IsRanking(metric->kind, targets);
  std::string const kind = KindOfMetric(name);
  return kind == "ams" || kind == "quantile" || kind == "expectile";
}

/// Throws if stock code reads a weight for every row, but the weights are of groups. Behind the last weight it ends the
/// process, or, for `ams` and metrics of classes and times, reads on. Groups of one row have a weight for each row.
void CheckWeightsForStock(std::string const& name, std::optional<MetricParams> const& metric,
                          xgboost::MetaInfo const& info) {
  TargetView const targets = ViewTargets(info);
  if (targets.group_ptr == nullptr || targets.weights == nullptr || targets.groups == info.num_row_) return;
  if (!ReadsWeightsOfRows(name, metric, targets)) return;
  Throw<InvalidArgument>("Metric ", Escaped(name, 80), " needs one weight for each row, but the data have weights of ",
                         targets.groups, " ranking groups; allowed: no weights, or a metric of rankings");
}

/// Throws if rows have several labels and stock code computes the metric from one: it would end the process.
void CheckLabelsForStock(std::string const& metric, xgboost::MetaInfo const& info) {
  std::string const name = KindOfMetric(metric);
  std::uint32_t const columns = ViewTargets(info).label_columns;
  if (columns <= 1) return;
  for (char const* const of_one : {"ndcg", "map", "pre", "ams", "cox-nloglik"}) {
    if (name == of_one)
      Throw<InvalidArgument>("Metric ", Escaped(metric, 80), ": the data have ", columns, " labels a row; allowed: 1");
  }
}

}  // namespace

bool Evaluation::Begin(std::optional<ObjectiveParams> const& objective, xgboost::HostDeviceVector<float>* predictions) {
  LastPrediction& last = LastPrediction::OfThisThread();
  if (!config_.OwnsRounds()) return false;
  auto const begin = [&] {
    last.evaluated = predictions;
    last.objective = *objective;
    return true;
  };
  if (objective && last.kept != nullptr) return begin();
  if (last.kept != nullptr) BringMargins(&last, predictions);
  if (!objective) return false;
  std::uint64_t const rows = last.data->Info().num_row_;  // NOLINT(clang-analyzer-*): the caller asked who predicted
  auto& values = predictions->HostVector();
  if (rows == 0 && ProcessGroup::OfThisThread() != nullptr) return begin();  // other workers have rows
  if (rows == 0 || values.size() % rows != 0) return false;
  auto const outputs = static_cast<std::uint32_t>(values.size() / rows);
  host::Transform(*objective, RowMajor<float const>(values.data(), rows, outputs),
                  RowMajor(values.data(), rows, outputs), learner_.threads());
  return begin();
}

void Evaluation::BringMargins(LastPrediction* last, xgboost::HostDeviceVector<float>* predictions) {
  margins_->Copy(*last->kept, last->cache);  // NOLINT(clang-analyzer-*): callers know that there are kept rows
  predictions->HostVector() = last->cache->predictions.ConstHostVector();
  last->kept = nullptr;
}

std::optional<double> Evaluation::Evaluate(MetricParams const& metric,
                                           xgboost::HostDeviceVector<float> const& predictions,
                                           xgboost::MetaInfo const& info) {
  LastPrediction& last = LastPrediction::OfThisThread();
  if (last.evaluated != &predictions || &last.data->Info() != &info) return {};
  if (ProcessGroup* const group = ProcessGroup::OfThisThread()) {
    return group_.Evaluate(group, metric, &last, info, [&] { FillPredictions(predictions); });
  }
  std::uint64_t const rows = info.num_row_;
  auto const outputs = static_cast<std::uint32_t>(last.kept ? last.kept->rows->outputs() : predictions.Size() / rows);
  if (!LabelsFit(metric, info, outputs)) return {};
  TargetView const targets = ViewTargets(info);
  if (last.kept == nullptr) return EvaluateOnHost(last, metric, targets, rows, outputs);
  try {
    last.kept->SetTargets(targets,
                          TargetMark::Of(targets, rows, last.objective.kind, KnownEpoch(), learner_.threads()));
    return last.kept->rows->Evaluate(last.objective, metric);
  } catch (OutOfDeviceMemory const&) {
    FillPredictions(predictions);  // the host has room
    return EvaluateOnHost(last, metric, targets, rows, outputs);
  }
}

double Evaluation::EvaluateOnHost(LastPrediction const& last, MetricParams const& metric, TargetView targets,
                                  std::uint64_t rows, std::uint32_t outputs) const {
  double value = 0;
  trace_.Stage(kMetric, [&] {
    std::shared_ptr<TimeOrder const> times;
    if (metric.kind == Metric::kCoxNloglik) {
      auto const mark = TargetMark::Of(targets, rows, Objective::kCox, KnownEpoch(), learner_.threads());
      times = time_orders_.Get(KeyOf(last.data, *last.cache), rows, targets, mark);
      targets.by_time = *times;
    }
    value = host::Evaluate(metric, targets, RowMajor(last.evaluated->ConstHostVector().data(), rows, outputs),
                           learner_.threads());
  });
  return value;
}

void Evaluation::FillPredictions(xgboost::HostDeviceVector<float> const& predictions) {
  LastPrediction& last = LastPrediction::OfThisThread();
  if (last.evaluated != &predictions || last.kept == nullptr) return;
  BringMargins(&last, last.evaluated);
  Begin(last.objective, last.evaluated);
}

std::optional<double> EvaluateOurs(XgbContext const* ctx, std::string const& name,
                                   std::function<std::optional<MetricParams>()> const& params,
                                   xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info) {
  HostSpan span{"metric"};
  return AtBoundary("evaluating", [&]() -> std::optional<double> {
    Booster* const booster = Booster::WhichPredictedLast(ctx);
    if (booster == nullptr) return {};
    auto const metric = params();
    if (metric) {
      if (auto const ours = booster->Evaluate(*metric, predictions, info)) {
        WarnIfWithoutArea(metric->kind, *ours);
        return ours;
      }
    }
    CheckWeightsForStock(name, metric, info);
    CheckLabelsForStock(name, info);
    booster->FillPredictions(predictions);
    return {};
  });
}

}  // namespace xgbgpu::plugin
