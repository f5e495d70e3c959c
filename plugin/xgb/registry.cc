// Replaces the makers of XGBoost's parts by makers that decorate what the stock ones make.
#include "xgb/registry.h"

#include <dmlc/registry.h>
#include <xgboost/gbm.h>
#include <xgboost/metric.h>
#include <xgboost/objective.h>
#include <xgboost/predictor.h>
#include <xgboost/tree_updater.h>

#include <functional>
#include <mutex>

#include "xgb/predictor.h"

namespace xgbgpu::plugin {

namespace {

DecorateObjective decorate_objective = nullptr;
DecorateMetric decorate_metric = nullptr;

/// Makes what an entry of the registry made before, decorated. It has a type of its own, by which a decorated entry is
/// recognised.
struct MakeObjective {
  std::function<xgboost::ObjFunction*()> make;
  Maker maker;
  xgboost::ObjFunction* operator()() const {
    return decorate_objective(std::unique_ptr<xgboost::ObjFunction>{make()}, maker);
  }
};
struct MakeMetric {
  std::function<xgboost::Metric*(char const*)> make;
  Maker maker;
  xgboost::Metric* operator()(char const* param) const {
    return decorate_metric(std::unique_ptr<xgboost::Metric>{make(param)}, maker);
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

}  // namespace

void DecorateBoosters(char const* name, DecorateBooster decorate) {
  if (dmlc::Registry<xgboost::GradientBoosterReg>::Find(name) == nullptr) return;
  auto& entry = dmlc::Registry<xgboost::GradientBoosterReg>::Get()->__REGISTER_OR_GET__(name);
  entry.set_body([=, make_stock = entry.body](xgboost::LearnerModelParam const* model, XgbContext const* ctx) {
    return decorate(std::unique_ptr<xgboost::GradientBooster>{make_stock(model, ctx)}, model, ctx);
  });
}

void DecorateObjectives(DecorateObjective decorate) {
  decorate_objective = decorate;
  DecorateAll<xgboost::ObjFunctionReg, MakeObjective>(Maker::kKnown);
}

void DecorateMetrics(DecorateMetric decorate) {
  decorate_metric = decorate;
  DecorateAll<xgboost::MetricReg, MakeMetric>(Maker::kKnown);
}

void DecoratePredictor() {
  auto& entry = dmlc::Registry<xgboost::PredictorReg>::Get()->__REGISTER_OR_GET__("cpu_predictor");
  entry.set_body([make_stock = entry.body](XgbContext const* ctx) {
    return new DecoratedPredictor{std::unique_ptr<xgboost::Predictor>{make_stock(ctx)}, ctx};
  });
}

void AddUpdater(char const* name, char const* description, XgbUpdater* (*make)(XgbContext const*)) {
  dmlc::Registry<xgboost::TreeUpdaterReg>::Get()
      ->__REGISTER__(name)
      .describe(description)
      .set_body([make](XgbContext const* ctx, auto const&...) { return make(ctx); });
}

bool IsObjective(std::string const& name) { return dmlc::Registry<xgboost::ObjFunctionReg>::Find(name) != nullptr; }
bool IsMetric(std::string const& name) { return dmlc::Registry<xgboost::MetricReg>::Find(name) != nullptr; }
bool IsUpdater(std::string const& name) { return dmlc::Registry<xgboost::TreeUpdaterReg>::Find(name) != nullptr; }

void DecorateNewcomers() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> const lock{mutex};
  if (decorate_objective != nullptr) DecorateAll<xgboost::ObjFunctionReg, MakeObjective>(Maker::kStranger);
  if (decorate_metric != nullptr) DecorateAll<xgboost::MetricReg, MakeMetric>(Maker::kStranger);
}

}  // namespace xgbgpu::plugin
