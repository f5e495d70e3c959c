/// Everything that this library adds to XGBoost, done when it is loaded:
///
///   booster  gbtree, dart           the stock booster, decorated: booster.h
///   booster  gblinear               the stock booster, decorated: decorated_linear.h
///   predictor  cpu_predictor        the stock one, which can be watched: predictor.h
///   updater  grow_gpu_hist_xgbgpu   what the decorated boosters grow trees with: updater.h
///   every objective                 the stock one, decorated: decorated_objective.h
///   every metric                    the stock one, decorated: decorated_metric.h
///
/// Objectives and metrics that others register later are decorated, too, before somebody makes one: newcomers.h.
///
/// In front of a few C functions stand ours of the same name, for callers that find those first: api_hooks.cc.
#include <dmlc/registry.h>
#include <xgboost/gbm.h>
#include <xgboost/metric.h>
#include <xgboost/objective.h>
#include <xgboost/predictor.h>
#include <xgboost/tree_updater.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "booster/decorated_metric.h"
#include "booster/decorated_objective.h"
#include "booster/newcomers.h"
#include "entry/decorated_booster.h"
#include "entry/decorated_linear.h"
#include "entry/updater.h"
#include "xgb/predictor.h"
#include "xgb/types.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

/// From now on `name` makes what it made before, with a Booster around it.
void Decorate(char const* name, Booster::Kind kind) {
  auto& entry = dmlc::Registry<xgboost::GradientBoosterReg>::Get()->__REGISTER_OR_GET__(name);
  auto const make_stock = entry.body;
  entry.set_body([=](xgboost::LearnerModelParam const* model, XgbContext const* ctx) {
    std::unique_ptr<xgboost::GradientBooster> inner{make_stock(model, ctx)};
    return new DecoratedBooster{kind, std::move(inner), model, ctx};
  });
}

/// From now on `gblinear` makes what it made before, decorated.
void DecorateLinear() {
  auto& entry = dmlc::Registry<xgboost::GradientBoosterReg>::Get()->__REGISTER_OR_GET__("gblinear");
  entry.set_body([make_stock = entry.body](xgboost::LearnerModelParam const* model, XgbContext const* ctx) {
    return new DecoratedLinear{std::unique_ptr<xgboost::GradientBooster>{make_stock(model, ctx)}, model, ctx};
  });
}

/// Makes what an entry of the registry made before, decorated. It has a type of its own, by which a decorated entry is
/// recognised.
struct MakeObjective {
  std::function<xgboost::ObjFunction*()> make;
  Maker maker;
  xgboost::ObjFunction* operator()() const {
    return new DecoratedObjective{std::unique_ptr<xgboost::ObjFunction>{make()}, maker};
  }
};
struct MakeMetric {
  std::function<xgboost::Metric*(char const*)> make;
  Maker maker;
  xgboost::Metric* operator()(char const* param) const {
    return new DecoratedMetric{std::unique_ptr<xgboost::Metric>{make(param)}, maker};
  }
};

/// Decorates every entry that is not decorated yet.
template <typename Entry, typename Make>
void DecorateAll(Maker maker) {
  for (auto const* listed : dmlc::Registry<Entry>::List()) {
    if (listed->body.template target<Make>() != nullptr) continue;
    auto& entry = dmlc::Registry<Entry>::Get()->__REGISTER_OR_GET__(listed->name);
    entry.set_body(Make{entry.body, maker});
  }
}

void DecoratePredictor() {
  auto& entry = dmlc::Registry<xgboost::PredictorReg>::Get()->__REGISTER_OR_GET__("cpu_predictor");
  entry.set_body([make_stock = entry.body](XgbContext const* ctx) {
    return new DecoratedPredictor{std::unique_ptr<xgboost::Predictor>{make_stock(ctx)}, ctx};
  });
}

void AddUpdater() {
  dmlc::Registry<xgboost::TreeUpdaterReg>::Get()
      ->__REGISTER__(kUpdater)
      .describe("Histogram method of xgboost-gpu.")
      .set_body([](XgbContext const* ctx, auto const&...) { return new HistUpdater{ctx}; });
}

/// Registers everything. Returns "" on success, else why nothing was registered.
std::string Register() {
  std::string why_not = WhyVersionDoesNotFit();
  if (!why_not.empty()) return why_not;
  if (dmlc::Registry<xgboost::TreeUpdaterReg>::Find(kUpdater) != nullptr) {
    return "another copy of xgboost-gpu is loaded in this process and stays in use";
  }
  Decorate("gbtree", Booster::Kind::kGBTree);
  Decorate("dart", Booster::Kind::kDart);
  DecorateLinear();
  DecoratePredictor();
  DecorateAll<xgboost::ObjFunctionReg, MakeObjective>(Maker::kKnown);
  DecorateAll<xgboost::MetricReg, MakeMetric>(Maker::kKnown);
  AddUpdater();
  return {};
}

bool const kRegistered = [] {
  std::string& why_not = WhyNotRegistered();
  why_not = Register();
  // XGBoost's log is not used: of a version that does not fit, nothing may be.
  if (!why_not.empty()) std::fprintf(stderr, "xgboost-gpu: gpu_hist was not registered: %s.\n", why_not.c_str());
  return why_not.empty();
}();

}  // namespace

void DecorateNewcomers() {
  if (!kRegistered) return;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock{mutex};
  DecorateAll<xgboost::ObjFunctionReg, MakeObjective>(Maker::kStranger);
  DecorateAll<xgboost::MetricReg, MakeMetric>(Maker::kStranger);
}

}  // namespace xgbgpu::plugin
