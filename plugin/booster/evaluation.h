/// Metrics of the learner's last prediction, computed where the predictions are.
#ifndef XGBGPU_PLUGIN_BOOSTER_EVALUATION_H_
#define XGBGPU_PLUGIN_BOOSTER_EVALUATION_H_

#include <xgboost/data.h>
#include <xgboost/host_device_vector.h>

#include <functional>
#include <optional>
#include <string>

#include "booster/booster_trace.h"
#include "booster/group_metrics.h"
#include "booster/last_prediction.h"
#include "booster/learner_view.h"
#include "booster/margins.h"
#include "params/booster_config.h"
#include "xgb/types.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/time_orders.h"

namespace xgbgpu::plugin {

/// Evaluates the last prediction of this thread, which the booster has made.
class Evaluation {
 public:
  /// Each pointer must outlive it.
  Evaluation(LearnerView const& learner, BoosterConfig const& config, std::unique_ptr<Margins> const* margins,
             TimeOrders* time_orders, BoosterTrace const& trace)
      : learner_{learner},
        config_{config},
        margins_{*margins},
        time_orders_{*time_orders},
        group_{learner, trace},
        trace_{trace} {}

  /// Transforms the margins predicted last by `objective`, where they are. `predictions` is XGBoost's copy. It stays
  /// empty while the margins are on a device. Returns false if stock code has to transform them; `predictions` then has
  /// the margins.
  bool Begin(std::optional<ObjectiveParams> const& objective, xgboost::HostDeviceVector<float>* predictions);
  /// Returns the metric of what Begin transformed last; nothing if stock code has to compute it.
  std::optional<double> Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                 xgboost::MetaInfo const& info);
  /// Brings the `predictions` that Begin has seen to the host, unless they are there.
  void FillPredictions(xgboost::HostDeviceVector<float> const& predictions);

 private:
  void BringMargins(LastPrediction* last, xgboost::HostDeviceVector<float>* predictions);
  double EvaluateOnHost(LastPrediction const& last, MetricParams const& metric, TargetView targets, std::uint64_t rows,
                        std::uint32_t outputs) const;

  LearnerView const& learner_;
  BoosterConfig const& config_;
  std::unique_ptr<Margins> const& margins_;
  TimeOrders& time_orders_;
  GroupMetrics group_;
  BoosterTrace const& trace_;
};

/// Returns the metric `name` of `predictions` by the learner with this context. It is ours if a booster in charge of
/// gpu_hist predicted and the engine has the metric: params() has a value. params() is called only after such a booster
/// has predicted. Nothing if stock code has to compute it; the predictions are then on the host. Throws where stock
/// code would end the process.
std::optional<double> EvaluateOurs(XgbContext const* ctx, std::string const& name,
                                   std::function<std::optional<MetricParams>()> const& params,
                                   xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_EVALUATION_H_
