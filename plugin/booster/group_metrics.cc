// Computes metrics over the rows of all workers, with two messages for all metrics of a matrix.
#include "booster/group_metrics.h"

#include <algorithm>
#include <utility>

#include "base/stages.h"
#include "booster/group_facts.h"
#include "booster/training_checks.h"
#include "matrix/adapt_input.h"
#include "xgb/owner.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

std::string TextOf(std::vector<Fact> const& facts) {
  std::string text;
  for (auto const& [name, value] : facts) text += name + '\0' + value + '\0';
  return text;
}

}  // namespace

class GroupMetrics::OwnRows {
 public:
  OwnRows(ProcessGroup* group, GroupMetrics const& metrics, LastPrediction* last, xgboost::MetaInfo const& info)
      : group_{group},
        learner_{metrics.learner_},
        trace_{metrics.trace_},
        last_{last},
        rows_{info.num_row_},
        targets_{ViewTargets(info)},
        on_device_{last->kept != nullptr} {}

  bool none() const { return rows_ == 0; }

  /// Brings targets to the device that has the predictions. Without room there, fill_predictions() brings the
  /// predictions to the host. Returns false if the labels do not fit the metric.
  bool Prepare(MetricParams const& metric, xgboost::MetaInfo const& info,
               std::function<void()> const& fill_predictions) {
    bool const fits = none() || LabelsFit(metric, info, learner_.outputs());
    try {
      if (fits && on_device_) {
        auto const mark = TargetMark::Of(targets_, rows_, last_->objective.kind, KnownEpoch(), learner_.threads());
        last_->kept->SetTargets(targets_, mark);
        last_->kept->rows->ReservePredictions();
      }
    } catch (OutOfDeviceMemory const&) {
      on_device_ = false;
    }
    if (!on_device_) fill_predictions();
    return fits;
  }

  /// Returns the numbers of this worker's own rows.
  std::string Numbers() const {
    std::string text;
    for (std::uint64_t const number :
         {rows_, std::uint64_t{learner_.outputs()}, std::uint64_t{targets_.label_columns},
          std::uint64_t{targets_.groups}, std::uint64_t{targets_.group_ptr != nullptr},
          std::uint64_t{targets_.weights != nullptr}, std::uint64_t{targets_.labels != nullptr},
          std::uint64_t{targets_.lower != nullptr}, std::uint64_t{targets_.upper != nullptr},
          std::uint64_t{on_device_}}) {
      text += std::to_string(number) + ' ';
    }
    return text;
  }

  /// Returns false if the device has no room for what the workers share of the metrics.
  bool Reserve(std::vector<Evaluated*> const& metrics) const {
    return !on_device_ || std::all_of(metrics.begin(), metrics.end(),
                                      [&](Evaluated* one) { return last_->kept->rows->ReserveShared(one->shared); });
  }

  std::vector<double> Evaluate(Span<MetricParams const> metrics, Span<SharedRows* const> shared) const {
    int const threads = learner_.threads();
    if (on_device_) {
      return last_->kept->rows->EvaluateInGroup(last_->objective, metrics, targets_, threads, group_, shared);
    }
    std::vector<double> values;
    trace_.Stage(kMetric, [&] {
      auto const predictions = RowMajor(last_->evaluated->ConstHostVector().data(), rows_, learner_.outputs());
      values = host::Evaluate(metrics, targets_, predictions, threads, *group_, shared);
    });
    return values;
  }

 private:
  ProcessGroup* group_;
  LearnerView const& learner_;
  BoosterTrace const& trace_;
  LastPrediction* last_;
  std::uint64_t rows_;
  TargetView targets_;
  bool on_device_;
};

GroupMetrics::Evaluated* GroupMetrics::Find(ProcessGroup const* group, DataKey const& key, std::string const& step,
                                            std::string const& what) {
  if (group != evaluated_in_) {  // whose workers may have evaluated other numbers of matrices
    evaluated_in_ = group;
    evaluated_.clear();
    evaluations_ = 0;
  }
  EraseExpired(&evaluated_);
  for (Evaluated& one : evaluated_) {
    if (one.key == key && one.step == step && one.what == what) return &one;
  }
  return nullptr;
}

std::vector<GroupMetrics::Evaluated*> GroupMetrics::AskedWith(Evaluated* first) {
  std::vector<Evaluated*> all{first};
  for (Evaluated& one : evaluated_) {
    if (&one != first && one.key == first->key && one.step == first->step && one.asked == first->asked) {
      all.push_back(&one);
    }
  }
  std::sort(all.begin() + 1, all.end(), [](auto const* a, auto const* b) { return a->number < b->number; });
  return all;
}

double GroupMetrics::EvaluateTogether(std::vector<Evaluated*> const& all, OwnRows const& rows, LastPrediction* last) {
  all.front()->asked = last->number;  // after an error the others are left out
  std::vector<MetricParams> metrics;
  std::vector<SharedRows*> shared;
  for (Evaluated* const one : all) {
    metrics.push_back(one->metric);
    shared.push_back(&one->shared);
  }
  std::vector<double> const values = rows.Evaluate(metrics, shared);
  for (std::size_t i = 0; i < all.size(); ++i) last->metrics.emplace_back(all[i]->step + all[i]->what, values[i]);
  return values.front();
}

/// Returns the metric if it was computed together with another one. XGBoost asks for it as well, from now on.
std::optional<double> GroupMetrics::TakeComputed(LastPrediction const& last, DataKey const& key,
                                                 std::string const& what) {
  for (Evaluated& one : evaluated_) {
    if (one.key != key || one.what != what) continue;
    for (auto const& [of, value] : last.metrics) {
      if (of != one.step + one.what) continue;
      one.asked = last.number;
      return value;
    }
  }
  return {};
}

std::optional<double> GroupMetrics::Evaluate(ProcessGroup* group, MetricParams const& metric, LastPrediction* last,
                                             xgboost::MetaInfo const& info,
                                             std::function<void()> const& fill_predictions) {
  std::vector<Fact> facts = FactsOfEvaluation(learner_.context()), metric_facts = FactsOf(metric);
  std::string const step = TextOf(facts), what = TextOf(metric_facts);
  DataKey const key = KeyOf(last->data, *last->cache);
  if (auto const value = TakeComputed(*last, key, what)) return value;

  OwnRows rows{group, *this, last, info};
  bool fits = true;
  std::vector<Evaluated*> all;
  std::string known;
  try {
    fits = rows.Prepare(metric, info, fill_predictions);
    Evaluated* const found = fits ? Find(group, key, step + rows.Numbers(), what) : nullptr;
    if (found != nullptr) all = AskedWith(found);
    if (!rows.Reserve(all)) all.clear();
    for (Evaluated const* one : all) known += "evaluation " + std::to_string(one->number) + ' ';
  } catch (ShardsLost const&) {
    throw;
  } catch (...) {
    all.clear();  // it comes again on the long way
  }
  for (Fact& fact : metric_facts) facts.push_back(std::move(fact));
  if (AllKnow(*group, facts, all.empty() ? "" : known)) return EvaluateTogether(all, rows, last);

  Agree(*group, {}, [&] { fits = rows.Prepare(metric, info, fill_predictions); });
  // Workers may have counted evaluations differently, if one of them has failed alone.
  std::int64_t any[] = {fits ? 0 : 1, rows.none() ? 0 : 1, evaluations_ + 1};
  group->Max({any, 3});
  if (any[0] != 0 || any[1] == 0) return {};  // XGBoost's own code has the words
  evaluations_ = any[2];
  SharedRows shared;
  SharedRows* const of_metric[] = {&shared};
  double const value = rows.Evaluate({&metric, 1}, {of_metric, 1}).front();
  std::string const own_step = step + rows.Numbers();
  Evaluated* evaluated = Find(group, key, own_step, what);
  if (evaluated == nullptr) evaluated = &evaluated_.emplace_back();
  *evaluated = {key, own_step, what, metric, evaluations_, last->number, std::move(shared)};
  return value;
}

}  // namespace xgbgpu::plugin
