// Decorated metrics: the context of the stock one, and which metrics a learner has.
#include "xgb/metric.h"

#include <xgboost/json.h>

#include <utility>

#include "xgb/matrix.h"

namespace xgbgpu::plugin {

namespace {

/// The metric's context, which is for derived classes.
struct MetricContext : xgboost::Metric {
  XGBGPU_BEFORE_300(static auto Member() { return &MetricContext::tparam_; })
  XGBGPU_SINCE_300(static auto Member() { return &MetricContext::ctx_; })
};

/// Labels alone, as a matrix: newer metrics ask for one.
class LabelMatrix final : public XgbMatrix {
 public:
  LabelMatrix(xgboost::MetaInfo* info, XgbContext const* ctx) : info_{info}, ctx_{ctx} {}

  xgboost::MetaInfo& Info() override { return *info_; }
  xgboost::MetaInfo const& Info() const override { return *info_; }
  XgbContext const* Ctx() const override { return ctx_; }

 private:
  [[noreturn]] static void HasNoRows() { throw dmlc::Error{"A metric reads rows of a matrix that has labels alone"}; }

  std::shared_ptr<xgboost::DMatrix> LenderOf(PageKind) override { HasNoRows(); }
  bool Lends(PageKind) const override { return false; }
  xgboost::DMatrix* SliceRows(Span<std::int32_t const>) override { HasNoRows(); }

  xgboost::MetaInfo* info_;
  XgbContext const* ctx_;
};

}  // namespace

XgbMetric::XgbMetric(std::unique_ptr<xgboost::Metric> stock) : stock_{std::move(stock)} {
  // XGBoost leaves both uninitialised.
  this->*MetricContext::Member() = nullptr;
  stock_.get()->*MetricContext::Member() = nullptr;
}

xgboost::Metric* XgbMetric::stock() const {
  auto& context = stock_.get()->*MetricContext::Member();
  auto const ours = this->*MetricContext::Member();
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
  auto const value = Compute(predictions, info,
                             [metric](auto const& of, xgboost::MetaInfo* labels) { return metric->Eval(of, *labels); });
  return value ? *value : metric->Eval(predictions, info);
})

XGBGPU_SINCE_300(double XgbMetric::Evaluate(xgboost::HostDeviceVector<float> const& predictions,
                                            std::shared_ptr<xgboost::DMatrix> data) {
  xgboost::Metric* const metric = stock();
  auto const value = Compute(predictions, data->Info(), [&](auto const& of, xgboost::MetaInfo* labels) {
    return metric->Evaluate(of, std::make_shared<LabelMatrix>(labels, data->Ctx()));
  });
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
