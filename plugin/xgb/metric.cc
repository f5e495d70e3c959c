// Decorated metrics: the context of the stock one, and which metrics a learner has.
#include "xgb/metric.h"

#include <xgboost/json.h>

#include <utility>

namespace xgbgpu::plugin {

namespace {

/// Metric::tparam_ is for derived classes.
struct Context : xgboost::Metric {
  static auto Member() { return &Context::tparam_; }
};

}  // namespace

XgbMetric::XgbMetric(std::unique_ptr<xgboost::Metric> stock) : stock_{std::move(stock)} {
  // XGBoost leaves both uninitialised.
  tparam_ = nullptr;
  stock_.get()->*Context::Member() = nullptr;
}

xgboost::Metric* XgbMetric::stock() const {
  auto& context = stock_.get()->*Context::Member();
  if (context != tparam_) context = tparam_;
  context_ = tparam_;
  return stock_.get();
}

void XgbMetric::Configure(xgboost::Args const& args) {
  stock()->Configure(args);
  ParamsChanged();
}

void XgbMetric::LoadConfig(xgboost::Json const& in) {
  stock()->LoadConfig(in);
  ParamsChanged();
}

double XgbMetric::Eval(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const& info) {
  xgboost::Metric* const metric = stock();
  auto const value = Compute(predictions, info);
  return value ? *value : metric->Eval(predictions, info);
}

std::string MetricNamesOf(XgbContext const* ctx) {
  std::string names;
  Listing<XgbMetric>::ForEach([&](XgbMetric const& metric) {
    if (metric.context() == ctx) names += (names.empty() ? "" : ",") + std::string{metric.Name()};
  });
  return names;
}

}  // namespace xgbgpu::plugin
