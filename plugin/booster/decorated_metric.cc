#include "booster/decorated_metric.h"

#include <xgboost/json.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "booster/evaluation.h"
#include "params/saved_params.h"

namespace xgbgpu::plugin {

namespace {

/// Metric::tparam_ is for derived classes.
struct Context : xgboost::Metric {
  static auto Member() { return &Context::tparam_; }
};

/// All metrics of the process, the oldest first.
struct Metrics {
  std::mutex mutex;
  std::vector<DecoratedMetric const*> all;

  static Metrics& Instance() {
    static auto* const kMetrics = new Metrics;  // never freed: metrics may be at exit
    return *kMetrics;
  }
};

}  // namespace

DecoratedMetric::DecoratedMetric(std::unique_ptr<xgboost::Metric> inner, Maker maker)
    : inner_{std::move(inner)}, maker_{maker} {
  // XGBoost leaves both uninitialised.
  tparam_ = nullptr;
  inner_.get()->*Context::Member() = nullptr;
  Metrics& metrics = Metrics::Instance();
  std::lock_guard<std::mutex> const lock{metrics.mutex};
  metrics.all.push_back(this);
}

DecoratedMetric::~DecoratedMetric() {
  Metrics& metrics = Metrics::Instance();
  std::lock_guard<std::mutex> const lock{metrics.mutex};
  metrics.all.erase(std::find(metrics.all.cbegin(), metrics.all.cend(), this));
}

std::string DecoratedMetric::NamesOf(XgbContext const* ctx) {
  Metrics& metrics = Metrics::Instance();
  std::lock_guard<std::mutex> const lock{metrics.mutex};
  std::string names;
  for (DecoratedMetric const* const metric : metrics.all) {
    if (metric->context_ == ctx) names += (names.empty() ? "" : ",") + std::string{metric->Name()};
  }
  return names;
}

xgboost::Metric* DecoratedMetric::inner() const {
  auto& context = inner_.get()->*Context::Member();
  if (context != tparam_) context = tparam_;
  context_ = tparam_;
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
