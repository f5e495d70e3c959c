/// Everything that this library adds to XGBoost, done when it is loaded:
///
///   booster  gbtree, dart           the stock booster, decorated: booster.h
///   updater  grow_gpu_hist_xgbgpu   what the decorated boosters grow trees with: updater.h
///   every objective                 the stock one, decorated: objective.h
///   every metric                    the stock one, decorated: metric.h
///
/// In front of a few C functions stand ours of the same name, for callers that find those first: api_hooks.cc.
#include <dmlc/registry.h>
#include <xgboost/gbm.h>
#include <xgboost/metric.h>
#include <xgboost/objective.h>
#include <xgboost/tree_updater.h>

#include <cstdio>
#include <memory>
#include <string>

#include "booster.h"
#include "host_version.h"
#include "metric.h"
#include "objective.h"
#include "updater.h"

namespace xgbgpu::plugin {

namespace {

/// From now on `name` makes what it made before, with a Booster around it.
void Decorate(char const* name, Booster::Kind kind) {
  auto& entry = dmlc::Registry<xgboost::GradientBoosterReg>::Get()->__REGISTER_OR_GET__(name);
  auto const make_stock = entry.body;
  entry.set_body([=](xgboost::LearnerModelParam const* model, xgboost::GenericParameter const* ctx) {
    std::unique_ptr<xgboost::GradientBooster> inner{make_stock(model, ctx)};
    return new Booster{kind, std::move(inner), model, ctx};
  });
}

void DecorateObjectives() {
  for (auto const* name : dmlc::Registry<xgboost::ObjFunctionReg>::List()) {
    auto& entry = dmlc::Registry<xgboost::ObjFunctionReg>::Get()->__REGISTER_OR_GET__(name->name);
    entry.set_body([make_stock = entry.body] {
      return new DecoratedObjective{std::unique_ptr<xgboost::ObjFunction>{make_stock()}};
    });
  }
}

void DecorateMetrics() {
  for (auto const* name : dmlc::Registry<xgboost::MetricReg>::List()) {
    auto& entry = dmlc::Registry<xgboost::MetricReg>::Get()->__REGISTER_OR_GET__(name->name);
    entry.set_body([make_stock = entry.body](char const* param) {
      return new DecoratedMetric{std::unique_ptr<xgboost::Metric>{make_stock(param)}};
    });
  }
}

void AddUpdater() {
  dmlc::Registry<xgboost::TreeUpdaterReg>::Get()
      ->__REGISTER__(kUpdater)
      .describe("Histogram method of xgboost-gpu.")
      .set_body([](xgboost::GenericParameter const* ctx, xgboost::ObjInfo) { return new HistUpdater{ctx}; });
}

/// Empty on success, else why nothing was registered.
std::string Register() {
  std::string why_not = WhyVersionDoesNotFit();
  if (!why_not.empty()) return why_not;
  if (dmlc::Registry<xgboost::TreeUpdaterReg>::Find(kUpdater) != nullptr) {
    return "another copy of xgboost-gpu is loaded in this process and stays in use";
  }
  Decorate("gbtree", Booster::Kind::kGBTree);
  Decorate("dart", Booster::Kind::kDart);
  DecorateObjectives();
  DecorateMetrics();
  AddUpdater();
  return {};
}

[[maybe_unused]] bool const kRegistered = [] {
  std::string& why_not = WhyNotRegistered();
  why_not = Register();
  // Not XGBoost's log: of a version that does not fit, nothing may be used.
  if (!why_not.empty()) std::fprintf(stderr, "xgboost-gpu: gpu_hist was not registered: %s.\n", why_not.c_str());
  return why_not.empty();
}();

}  // namespace

}  // namespace xgbgpu::plugin
