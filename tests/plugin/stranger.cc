/// Another plugin of XGBoost: objectives and metrics that are registered when this library is loaded. They read host
/// vectors, as all code may that a CPU build of XGBoost runs.
#include <xgboost/metric.h>
#include <xgboost/objective.h>
#include <xgboost/tree_model.h>

#include <cmath>
#include <map>
#include <string>
#include <typeinfo>
#include <utility>

namespace {

/// Squared error under other names.
class StrangeObjective : public xgboost::ObjFunction {
 public:
  void Configure(xgboost::Args const&) override {}
  void LoadConfig(xgboost::Json const&) override {}
  void SaveConfig(xgboost::Json* out) const override {
    (*out)["name"] = xgboost::String{"reg:squarederror"};  // a name that means something else to others
  }
  void GetGradient(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info, int,
                   xgboost::HostDeviceVector<xgboost::GradientPair>* out) override {
    auto const& from = margins.ConstHostVector();
    auto const labels = info.labels.HostView();
    out->Resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) out->HostVector()[i] = {from[i] - labels(i, 0), 1.0f};
  }
  /// Predictions are shown without their sign.
  void EvalTransform(xgboost::HostDeviceVector<float>* predictions) override {
    for (float& p : predictions->HostVector()) p = std::abs(p);
  }
  char const* DefaultEvalMetric() const override { return "stranger_sum"; }
  xgboost::ObjInfo Task() const override { return xgboost::ObjInfo::kRegression; }
};

/// A leaf is half of the mean residual of its rows, which it knows from their positions only.
class AdaptiveObjective : public StrangeObjective {
 public:
  xgboost::ObjInfo Task() const override { return {xgboost::ObjInfo::kRegression, true, true}; }
  void UpdateTreeLeaf(xgboost::HostDeviceVector<xgboost::bst_node_t> const& positions, xgboost::MetaInfo const& info,
                      xgboost::HostDeviceVector<float> const& margins, xgboost::RegTree* tree) const override {
    auto const& leaves = positions.ConstHostVector();
    auto const& from = margins.ConstHostVector();
    auto const labels = info.labels.HostView();
    std::map<int, std::pair<double, int>> residuals;  // sum and number of rows; nodes below 0 are outside the sample
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      residuals[leaves[i]].first += labels(i, 0) - from[i];
      ++residuals[leaves[i]].second;
    }
    for (auto const& [leaf, sum] : residuals) {
      if (leaf >= 0) (*tree)[leaf].SetLeaf(static_cast<float>(0.5 * sum.first / sum.second));
    }
  }
};

/// Returns the sum of the predictions plus their number, which is 0 for an empty vector.
class StrangeMetric : public xgboost::Metric {
 public:
  explicit StrangeMetric(char const* name) : name_{name} {}
  double Eval(xgboost::HostDeviceVector<float> const& predictions, xgboost::MetaInfo const&) override {
    double sum = 0;
    for (float p : predictions.ConstHostVector()) sum += 1 + static_cast<double>(p);
    return sum;
  }
  char const* Name() const override { return name_.c_str(); }

 private:
  std::string name_;
};

XGBOOST_REGISTER_OBJECTIVE(StrangeObjective, "stranger:squares").set_body([] { return new StrangeObjective; });
XGBOOST_REGISTER_OBJECTIVE(AdaptiveObjective, "stranger:leaves").set_body([] { return new AdaptiveObjective; });
XGBOOST_REGISTER_METRIC(StrangeSum, "stranger_sum").set_body([](char const*) {
  return new StrangeMetric{"stranger_sum"};
});

}  // namespace

/// Returns the name of the type that makes the metric of this name.
extern "C" __attribute__((visibility("default"))) char const* MakerOfMetric(char const* name) {
  return dmlc::Registry<xgboost::MetricReg>::Find(name)->body.target_type().name();
}
