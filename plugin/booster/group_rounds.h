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
#include "booster/learner_view.h"
#include "booster/settings.h"
#include "group/process_group.h"
#include "matrix/adapt_input.h"
#include "xgb/types.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/training.h"

namespace xgbgpu::plugin {

/// The facts that workers compare about their training matrices.
struct SharedMatrix {
  DataKey key;
  xgboost::DMatrix* data;
  bool is_binned;   ///< a QuantileDMatrix
  bool has_values;  ///< has values to make cuts from: always true of a DMatrix, and of a QuantileDMatrix without rows
  int bins;         ///< most bins of a column; 0: a QuantileDMatrix without rows, which fits any number
};

/// Makes the workers of a process group agree before each step of a round. So no worker waits for a message that
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
  /// Returns the feature weights of all workers, if AgreeOnFeatureWeights has been called since the last AgreeOnRound.
  /// Nothing if this worker has rows or weights, and its weights differ.
  std::optional<std::vector<float>> KnownFeatureWeights(bool has_rows, std::vector<float> const& weights) const;
  /// Compares the facts of AgreeOnRound, but for types of columns and GPUs. Returns true if all workers have the same
  /// `known`: a text of this worker's knowledge, empty if it knows too little.
  bool AllKnowRound(ProcessGroup* group, SharedMatrix const& matrix, std::string const& step,
                    std::vector<Fact> const& facts, std::string const& known);
  /// Throws if parameters do not allow this process to train in the group.
  void CheckRound(ProcessGroup const* group) const;
  /// What an objective is computed from.
  struct Inputs {
    TargetView targets;
    std::vector<float> const* margins{nullptr};  ///< row-major [rows, outputs]
  };
  /// Returns the inputs of this worker's rows. Nothing if stock code has to compute gradients: it refuses inputs that
  /// do not fit. margins() returns the margins of the rows. Throws if the rows do not allow the objective.
  std::optional<Inputs> InputsOf(ProcessGroup const* group, Training* training, ObjectiveParams const& objective,
                                 xgboost::MetaInfo const& info,
                                 std::function<std::vector<float> const&()> const& margins) const;
  /// InputsOf, where all workers throw if one does or if the objectives differ. Returns nothing where this worker's
  /// rows do not fit, and throws on the others then.
  std::optional<Inputs> AgreeOnInputs(ProcessGroup* group, Training* training, ObjectiveParams const& objective,
                                      xgboost::MetaInfo const& info,
                                      std::function<std::vector<float> const&()> const& margins) const;
  /// Computes gradients of this worker's rows. `losses`: as host::ComputeGradients.
  void ComputeGradients(ProcessGroup* group, Training const& training, ObjectiveParams const& objective,
                        std::uint64_t rows, Inputs const& inputs, XgbGradientMatrix* out,
                        std::vector<std::int64_t>* losses) const;

 private:
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
  std::vector<Fact> FactsOfRound(SharedMatrix const& matrix, std::string const& step, std::vector<Fact> const& facts);

  LearnerView const& learner_;
  Settings& settings_;
  BoosterTrace const& trace_;
  std::optional<Known> known_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_GROUP_ROUNDS_H_
