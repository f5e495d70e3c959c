// Registers everything that this library adds to XGBoost:
//
//   booster  gbtree, dart           the stock booster, decorated: decorated_booster.h
//   booster  gblinear               the stock booster, decorated: decorated_linear.h
//   predictor  cpu_predictor        the stock one, which can be watched: xgb/predictor.h
//   updater  grow_gpu_hist_xgbgpu   grows the trees of decorated boosters: updater.h
//   every objective                 the stock one, decorated: decorated_objective.h
//   every metric                    the stock one, decorated: decorated_metric.h
//
// Objectives and metrics that other libraries register later are decorated before one is made: xgb/registry.h.
//
// In front of C functions of XGBoost stand ours of the same names, for callers that find ours first: functions.inc.
#include "entry/register.h"

#include <memory>
#include <string>
#include <utility>

#include "entry/decorated_booster.h"
#include "entry/decorated_linear.h"
#include "entry/decorated_metric.h"
#include "entry/decorated_objective.h"
#include "entry/updater.h"
#include "xgb/registry.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

/// Puts a Booster around a stock booster.
template <Booster::Kind kKind>
XgbBooster* Decorate(std::unique_ptr<xgboost::GradientBooster> stock, xgboost::LearnerModelParam const* model,
                     XgbContext const* ctx) {
  return new DecoratedBooster{kKind, std::move(stock), model, ctx};
}

/// Puts `Decorated` around a stock part.
template <typename Decorated, typename Base, typename Stock, typename... Args>
Base* Wrap(std::unique_ptr<Stock> stock, Args... args) {
  return new Decorated{std::move(stock), args...};
}

}  // namespace

std::string Register() {
  std::string why_not = WhyVersionDoesNotFit();
  if (!why_not.empty()) return why_not;
  if (IsUpdater(kUpdater)) return "another copy of xgboost-gpu is loaded in this process and stays in use";
  DecorateBoosters("gbtree", Decorate<Booster::Kind::kGBTree>);
  DecorateBoosters("dart", Decorate<Booster::Kind::kDart>);
  DecorateBoosters("gblinear", Wrap<DecoratedLinear, XgbBooster>);
  DecoratePredictor();
  DecorateObjectives(Wrap<DecoratedObjective, XgbObjective>);
  DecorateMetrics(Wrap<DecoratedMetric, XgbMetric>);
  AddUpdater(kUpdater, "Histogram method of xgboost-gpu.",
             [](XgbContext const* ctx) -> XgbUpdater* { return new HistUpdater{ctx}; });
  return {};
}

}  // namespace xgbgpu::plugin
