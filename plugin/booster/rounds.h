/// The boosting rounds of one booster.
#ifndef XGBGPU_PLUGIN_BOOSTER_ROUNDS_H_
#define XGBGPU_PLUGIN_BOOSTER_ROUNDS_H_

#include <xgboost/data.h>
#include <xgboost/objective.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "booster/booster_trace.h"
#include "booster/group_rounds.h"
#include "booster/learner_view.h"
#include "booster/margins.h"
#include "booster/prediction.h"
#include "booster/settings.h"
#include "xgb/types.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/time_orders.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu::plugin {

/// The parts of a booster that rounds need. Every pointer must outlive the rounds.
struct RoundParts {
  LearnerView const* learner;
  Settings* settings;
  TrainingPool* trainings;
  TimeOrders* time_orders;
  std::unique_ptr<Margins> const* margins;  ///< others from the time when parameters make a gbtree drop trees
  Prediction* prediction;
  GroupRounds* group;
  BoosterTrace* trace;
};

/// Grows the trees of a round from its gradients, through the stock booster, which keeps the model.
class Rounds {
 public:
  explicit Rounds(RoundParts const& parts) : parts_{parts} {}

  /// Computes the gradients of the margins that this thread predicted last, where the margins are. `out` is filled on
  /// the host and emptied on a device. `next_biases` become the biases of the next round if the objective has biases.
  /// Returns false if stock code has to compute them: with other methods, or if it refuses labels.
  bool ComputeGradients(ObjectiveParams objective, xgboost::MetaInfo const& info, XgbGradientMatrix* out,
                        PositionBiases* next_biases);
  /// Does what GradientBooster::DoBoost promises. If it throws, the booster is as before the call.
  void Boost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache, xgboost::ObjFunction const* objective);
  /// Must be called after a change of the model that is more than new rounds.
  void ForgetModel() { named_ = {}; }

 private:
  /// Gradients that are on a device, for the Boost that follows.
  struct Pending {
    Training* training{nullptr};
    XgbGradientMatrix const* gradients{nullptr};  ///< XGBoost's vector, left empty
    xgboost::DMatrix const* data{nullptr};
    ObjectiveParams objective{};
    TargetMark targets{};
  };
  /// Labels and weights of rows. A change of either changes the mark.
  struct Targets {
    TargetView view;
    TargetMark mark;
  };
  /// An order to the engine for one round.
  struct Setup {
    RoundOrder order;
    HostRound::Residuals residuals;  ///< if leaves change on the host
    bool host_sets_leaves{false};
  };

  BoosterConfig const& config() const { return parts_.settings->config(); }
  LearnerView const& learner() const { return *parts_.learner; }

  void CheckNames(xgboost::DMatrix* data, XgbCache const& cache);
  void CheckServes() const;
  bool ComputeAlone(std::shared_ptr<xgboost::DMatrix> const& owner, ObjectiveParams const& objective,
                    xgboost::MetaInfo const& info, XgbGradientMatrix* out);
  bool StayOnDevice(Training const& training, ObjectiveParams const& objective) const;
  Targets Check(Training* training, ObjectiveParams const& objective, xgboost::MetaInfo const& info,
                std::uint32_t outputs) const;
  std::optional<Targets> BringToDevice(Training* training, ObjectiveParams const& objective,
                                       xgboost::MetaInfo const& info);
  void ComputeOnDevice(Training* training, ObjectiveParams const& objective, Targets const& targets,
                       XgbGradientMatrix* out);
  char const* WhyVectorsOnHost(Place const& place) const;
  void CheckTakesVectors(Place const& place) const;
  Place PlaceOfTrees(Place place) const;
  Training& PrepareTraining(std::shared_ptr<xgboost::DMatrix> const& data, std::string const& step);
  /// Prepares this worker for a step of a round. Returns, as a text, the facts that all workers must share beside the
  /// training. An empty text: the step has to go the long way.
  using Ready = std::function<std::string(Training* training)>;
  Training* GoOn(ProcessGroup* group, std::shared_ptr<xgboost::DMatrix> const& data, std::string const& step,
                 std::vector<Fact> facts, Ready const& ready);
  SharedMatrix Shared(std::shared_ptr<xgboost::DMatrix> const& data) const;
  Place ChoosePlace(xgboost::MetaInfo const& info) const;
  Setup Decide(xgboost::MetaInfo const& info, XgbGradientMatrix const& gradients, xgboost::ObjFunction const* objective,
               bool on_device, std::function<Span<float const>()> const& margins) const;

  // Steps of a round in a process group.

  bool ComputeInGroup(ProcessGroup* group, std::shared_ptr<xgboost::DMatrix> const& owner,
                      ObjectiveParams const& objective, xgboost::MetaInfo const& info, XgbGradientMatrix* out);
  std::optional<Targets> KnownOnDevice(Training* training, ObjectiveParams const& objective,
                                       xgboost::MetaInfo const& info) const;
  bool AgreeOnDevice(ProcessGroup* group, Training* training, ObjectiveParams const& objective,
                     xgboost::MetaInfo const& info, XgbGradientMatrix* out);
  void AddUpLosses(ProcessGroup* group);
  Training& BeginInGroup(ProcessGroup* group, std::shared_ptr<xgboost::DMatrix> const& data, bool on_device,
                         std::function<Setup()> const& decide, Setup* setup);
  std::unique_ptr<BoostingRound> Begin(Training* training, Setup setup, Pending const* pending) const;
  void GrowByStock(BoostingRound* round, Training const* on_device, xgboost::DMatrix* data, XgbGradients* gradients,
                   XgbCache* cache, xgboost::ObjFunction const* objective);

  RoundParts parts_;
  Pending pending_;
  std::vector<std::int64_t> losses_;           ///< of positions, of the last gradients; empty without biases
  DataKey named_;                              ///< the matrix whose names of categories were found to be the model's
  std::shared_ptr<xgboost::DMatrix> one_row_;  ///< for rounds on a device; null: there was none
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_ROUNDS_H_
