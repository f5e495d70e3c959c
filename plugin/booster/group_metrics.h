/// Metrics over the rows of all workers of a process group. docs/adr/0020-process-groups.md
#ifndef XGBGPU_PLUGIN_BOOSTER_GROUP_METRICS_H_
#define XGBGPU_PLUGIN_BOOSTER_GROUP_METRICS_H_

#include <xgboost/data.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "booster/booster_trace.h"
#include "booster/last_prediction.h"
#include "booster/learner_view.h"
#include "group/process_group.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::plugin {

/// One worker's part in the metrics of a process group. All workers make each call at the same time, with the `group`
/// of their thread. Every call throws on all workers if one of them fails.
class GroupMetrics {
 public:
  GroupMetrics(LearnerView const& learner, BoosterTrace const& trace) : learner_{learner}, trace_{trace} {}

  /// Returns the metric over the rows of all workers; nothing if stock code has to compute it. The predictions of this
  /// worker's rows are on a device (`last->kept`), or in `last->evaluated` after fill_predictions().
  ///
  /// At the first evaluation of a matrix workers exchange facts about their rows: the long way. A later evaluation
  /// needs two messages: one tells that no worker has anything new, one has the sums of all metrics that XGBoost is
  /// going to ask for.
  std::optional<double> Evaluate(ProcessGroup* group, MetricParams const& metric, LastPrediction* last,
                                 xgboost::MetaInfo const& info, std::function<void()> const& fill_predictions);

 private:
  /// A metric of a matrix that all workers have evaluated together.
  struct Evaluated {
    DataKey key;
    std::string step;  ///< facts of the evaluation that all workers compare, and the numbers of this worker's rows
    std::string what;  ///< facts of the metric that all workers compare
    MetricParams metric;
    std::int64_t number;  ///< of the evaluation on the long way: the same on all workers
    std::uint64_t asked;  ///< LastPrediction::number when XGBoost asked for it last
    SharedRows shared;
  };
  /// Predictions and targets of this worker, for metrics that XGBoost asks for now.
  class OwnRows;

  std::optional<double> TakeComputed(LastPrediction const& last, DataKey const& key, std::string const& what);
  Evaluated* Find(ProcessGroup const* group, DataKey const& key, std::string const& step, std::string const& what);
  /// Returns `first` and the other metrics that XGBoost asked for in the last evaluation with `first`.
  std::vector<Evaluated*> AskedWith(Evaluated* first);
  /// Evaluates metrics that all workers know. Returns the first one, and keeps the others in `last`.
  static double EvaluateTogether(std::vector<Evaluated*> const& all, OwnRows const& rows, LastPrediction* last);

  LearnerView const& learner_;
  BoosterTrace const& trace_;
  ProcessGroup const* evaluated_in_{nullptr};
  std::vector<Evaluated> evaluated_;
  std::int64_t evaluations_{0};  ///< on the long way
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_GROUP_METRICS_H_
