/// One worker's part in the rounds of a process group. docs/adr/0020-process-groups.md
#ifndef XGBGPU_PLUGIN_BOOSTER_GROUP_ROUNDS_H_
#define XGBGPU_PLUGIN_BOOSTER_GROUP_ROUNDS_H_

#include <xgboost/data.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "booster/booster_trace.h"
#include "booster/category_names.h"
#include "booster/last_prediction.h"
#include "booster/learner_view.h"
#include "booster/settings.h"
#include "group/process_group.h"
#include "matrix/adapt_input.h"
#include "xgb/types.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/training.h"

namespace xgbgpu::plugin {

/// What workers compare of their training matrices.
struct SharedMatrix {
  DataKey key;
  xgboost::DMatrix* data;
  bool is_binned;   ///< a QuantileDMatrix
  bool has_values;  ///< from which cuts may be made: always of a DMatrix, and of a QuantileDMatrix without rows
  int bins;         ///< of a column, at most; 0: a QuantileDMatrix without rows has no say
};

/// What workers compare of an objective that the engine has.
std::vector<Fact> FactsOf(ObjectiveParams const& objective);
/// What workers compare before an evaluation by the learner with this context. A worker that evaluates more metrics or
/// matrices would wait for workers that have gone on, perhaps to a message of XGBoost's own.
std::vector<Fact> FactsOfEvaluation(XgbContext const* ctx);

/// Makes the workers of a process group agree before each step of a round, so that none waits for a message that
/// another will not send. All workers make each call at the same time, with the `group` of their thread. Every call
/// throws on all workers if one of them fails.
class GroupRounds {
 public:
  GroupRounds(LearnerView const& learner, Settings* settings, BoosterTrace const& trace)
      : learner_{learner}, settings_{*settings}, trace_{trace} {}

  /// Compares parameters, `matrix` and `facts`. Returns where this worker trains. `step` names the part of the round in
  /// messages. A matrix without rows and types of columns gets the types of other workers.
  Place AgreeOnRound(ProcessGroup* group, SharedMatrix const& matrix, std::string const& step,
                     std::vector<Fact> const& facts);
  /// Returns the bins that all workers train on since the last AgreeOnRound.
  BinsOf const& bins() const { return known_->bins; }
  /// Returns true if a worker has had a gpu_memory_limit at the last AgreeOnRound.
  bool limits_memory() const { return known_->limits_memory; }
  /// Returns the feature weights that all workers with rows have. A worker without rows may have none: Dask gives it a
  /// matrix that knows nothing of the other workers' matrices.
  std::vector<float> AgreeOnFeatureWeights(ProcessGroup* group, bool has_rows, std::vector<float> const& weights);

  // A round like the one before needs one message a step.

  /// Returns where this worker trains, if the last AgreeOnRound was with this group, matrix and device parameters.
  std::optional<Place> KnownPlace(ProcessGroup const* group, SharedMatrix const& matrix) const;
  /// Returns the feature weights of all workers, if they are known from the last AgreeOnFeatureWeights, behind that
  /// AgreeOnRound, and a worker that may say so has the same.
  std::optional<std::vector<float>> KnownFeatureWeights(bool has_rows, std::vector<float> const& weights) const;
  /// Compares what AgreeOnRound compares, but for types of columns and GPUs, and returns whether all workers know the
  /// same. `known` says what this worker knows, which is empty if it knows too little.
  bool AllKnowRound(ProcessGroup* group, SharedMatrix const& matrix, std::string const& step,
                    std::vector<Fact> const& facts, std::string const& known);
  /// Throws if parameters do not allow this process to train in the group.
  void CheckRound(ProcessGroup const* group) const;
  /// What an objective is computed from.
  struct Inputs {
    TargetView targets;
    std::vector<float> const* margins{nullptr};  ///< row-major [rows × outputs]
  };
  /// Returns the inputs of this worker's rows; nothing if stock code has to compute gradients, which refuses what does
  /// not fit. margins() returns their margins. Throws what this worker's rows do not allow.
  std::optional<Inputs> InputsOf(ProcessGroup const* group, Training* training, ObjectiveParams const& objective,
                                 xgboost::MetaInfo const& info,
                                 std::function<std::vector<float> const&()> const& margins) const;
  /// InputsOf, where all workers throw if one does or if the objectives differ. Returns nothing where this worker's rows
  /// do not fit, and throws on the others then.
  std::optional<Inputs> AgreeOnInputs(ProcessGroup* group, Training* training, ObjectiveParams const& objective,
                                      xgboost::MetaInfo const& info,
                                      std::function<std::vector<float> const&()> const& margins) const;
  /// Computes gradients of this worker's rows. `losses`: as host::ComputeGradients.
  void ComputeGradients(ProcessGroup* group, Training const& training, ObjectiveParams const& objective,
                        std::uint64_t rows, Inputs const& inputs, XgbGradientMatrix* out,
                        std::vector<std::int64_t>* losses) const;
  /// Returns the metric over the rows of all workers; nothing if stock code has to compute it. The predictions of this
  /// worker's rows are on a device (`last->kept`), or in `last->evaluated` after fill_predictions().
  std::optional<double> Evaluate(ProcessGroup* group, MetricParams const& metric, LastPrediction* last,
                                 xgboost::MetaInfo const& info, std::function<void()> const& fill_predictions);

 private:
  /// A metric of a matrix that all workers have evaluated together.
  struct Evaluated {
    DataKey key;
    std::string step;  ///< what all workers compare of an evaluation, and the numbers of this worker's rows
    std::string what;  ///< what all workers compare of the metric
    MetricParams metric;
    std::int64_t number;  ///< of the evaluation on the long way: the same on all workers
    std::uint64_t asked;  ///< LastPrediction::number when XGBoost asked for it last
    SharedRows shared;
  };

  /// What workers have agreed on for rounds on one matrix.
  struct Known {
    ProcessGroup const* group;
    DataKey key;
    std::uint64_t rows;
    std::string categorical;                    ///< names of the features
    std::map<std::string, std::string> device;  ///< parameters
    Place place;
    BinsOf bins;
    bool limits_memory;                                 ///< a worker has a gpu_memory_limit
    std::optional<std::vector<float>> feature_weights;  ///< empty: not asked for
  };

  void AgreeOnNames(ProcessGroup* group, CategoryNames const& names) const;
  Evaluated* FindEvaluated(ProcessGroup const* group, DataKey const& key, std::string const& step,
                           std::string const& what);
  /// Returns `first` and what else XGBoost asked for in the last evaluation in which it asked for `first`.
  std::vector<Evaluated*> AskedWith(Evaluated* first);
  using EvaluateMetrics = std::function<std::vector<double>(Span<MetricParams const>, Span<SharedRows* const>)>;
  /// Evaluates metrics that all workers know. Returns the first one, and keeps the others in `last`.
  static double EvaluateTogether(std::vector<Evaluated*> const& all, EvaluateMetrics const& evaluate,
                                 LastPrediction* last);
  std::vector<Fact> FactsOfRound(SharedMatrix const& matrix, std::string const& step, std::vector<Fact> const& facts);

  LearnerView const& learner_;
  Settings& settings_;
  BoosterTrace const& trace_;
  std::optional<Known> known_;
  ProcessGroup const* evaluated_in_{nullptr};
  std::vector<Evaluated> evaluated_;
  std::int64_t evaluations_{0};  ///< on the long way
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_GROUP_ROUNDS_H_
