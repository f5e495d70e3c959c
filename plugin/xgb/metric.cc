// Decorated metrics: the context of the stock one, and which metrics a learner has.
#include "xgb/metric.h"

#include <xgboost/json.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace xgbgpu::plugin {

namespace {

/// Metric::tparam_ is for derived classes.
struct Context : xgboost::Metric {
  static auto Member() { return &Context::tparam_; }
};

/// All metrics of the process, the oldest first.
struct Metrics {
  std::mutex mutex;
  std::vector<XgbMetric const*> all;

  static Metrics& Instance() {
    static auto* const kMetrics = new Metrics;  // never freed: metrics may be at exit
    return *kMetrics;
  }
};

}  // namespace

XgbMetric::XgbMetric(std::unique_ptr<xgboost::Metric> stock) : stock_{std::move(stock)} {
  // XGBoost leaves both uninitialised.
  tparam_ = nullptr;
  stock_.get()->*Context::Member() = nullptr;
  Metrics& metrics = Metrics::Instance();
  std::lock_guard<std::mutex> const lock{metrics.mutex};
  metrics.all.push_back(this);
}

XgbMetric::~XgbMetric() {
  Metrics& metrics = Metrics::Instance();
  std::lock_guard<std::mutex> const lock{metrics.mutex};
  metrics.all.erase(std::find(metrics.all.cbegin(), metrics.all.cend(), this));
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
  Metrics& metrics = Metrics::Instance();
  std::lock_guard<std::mutex> const lock{metrics.mutex};
  std::string names;
  for (XgbMetric const* const metric : metrics.all) {
    if (metric->context() == ctx) names += (names.empty() ? "" : ",") + std::string{metric->Name()};
  }
  return names;
}

}  // namespace xgbgpu::plugin
