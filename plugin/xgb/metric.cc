// Decorated metrics: the context of the stock one, and which metrics a learner has.
#include "xgb/metric.h"

#include <xgboost/json.h>

#include <utility>

namespace xgbgpu::plugin {

namespace {

/// The metric's context, which is for derived classes.
struct Context : xgboost::Metric {
  XGBGPU_BEFORE_300(static auto Member() { return &Context::tparam_; })
  XGBGPU_SINCE_300(static auto Member() { return &Context::ctx_; })
};

}  // namespace

XgbMetric::XgbMetric(std::unique_ptr<xgboost::Metric> stock) : stock_{std::move(stock)} {
  // XGBoost leaves both uninitialised.
  this->*Context::Member() = nullptr;
  stock_.get()->*Context::Member() = nullptr;
}

xgboost::Metric* XgbMetric::stock() const {
  auto& context = stock_.get()->*Context::Member();
  auto const ours = this->*Context::Member();
  if (context != ours) context = ours;
  context_ = ours;
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

XGBGPU_BEFORE_300(double XgbMetric::Eval(xgboost::HostDeviceVector<float> const& predictions,
                                         xgboost::MetaInfo const& info) {
  xgboost::Metric* const metric = stock();
  auto const value = Compute(predictions, info);
  return value ? *value : metric->Eval(predictions, info);
})

XGBGPU_SINCE_300(double XgbMetric::Evaluate(xgboost::HostDeviceVector<float> const& predictions,
                                            std::shared_ptr<xgboost::DMatrix> data) {
  xgboost::Metric* const metric = stock();
  auto const value = Compute(predictions, data->Info());
  return value ? *value : metric->Evaluate(predictions, std::move(data));
})

std::string MetricNamesOf(XgbContext const* ctx) {
  std::string names;
  Listing<XgbMetric>::ForEach([&](XgbMetric const& metric) {
    if (metric.context() == ctx) names += (names.empty() ? "" : ",") + std::string{metric.Name()};
  });
  return names;
}

}  // namespace xgbgpu::plugin
