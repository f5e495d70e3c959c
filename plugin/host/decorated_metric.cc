#include "host/decorated_metric.h"

#include <xgboost/json.h>

#include "common/evaluate.h"
#include "common/saved_params.h"

namespace xgbgpu::plugin {

namespace {

/// Metric::tparam_ is for derived classes.
struct Context : xgboost::Metric {
  static auto Member() { return &Context::tparam_; }
};

}  // namespace

DecoratedMetric::DecoratedMetric(std::unique_ptr<xgboost::Metric> inner, Maker maker)
    : inner_{std::move(inner)}, maker_{maker} {
  // XGBoost leaves both uninitialised.
  tparam_ = nullptr;
  inner_.get()->*Context::Member() = nullptr;
}

xgboost::Metric* DecoratedMetric::inner() const {
  auto& context = inner_.get()->*Context::Member();
  if (context != tparam_) context = tparam_;
  return inner_.get();
}

void DecoratedMetric::Configure(xgboost::Args const& args) {
  inner()->Configure(args);
  configured_ = false;
}

void DecoratedMetric::LoadConfig(xgboost::Json const& in) {
  inner()->LoadConfig(in);
  configured_ = false;
}

std::optional<MetricParams> const& DecoratedMetric::params() {
  if (!configured_ && maker_ == Maker::kKnown) {
    xgboost::Json config{xgboost::Object{}};
    inner()->SaveConfig(&config);
    params_ = MetricParamsOf(inner()->Name(), config);
  }
  configured_ = true;
  return params_;
}

double DecoratedMetric::Eval(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info) {
  auto const value = EvaluateOurs(
      tparam_, inner()->Name(), [this] { return params(); }, predictions, info);
  return value ? *value : inner()->Eval(predictions, info);
}

}  // namespace xgbgpu::plugin
