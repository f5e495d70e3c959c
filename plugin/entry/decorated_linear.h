/// The booster gblinear: the stock booster, with a check of loaded weights before use. It also takes the name of
/// XGBoost's updater on a GPU.
#ifndef XGBGPU_PLUGIN_ENTRY_DECORATED_LINEAR_H_
#define XGBGPU_PLUGIN_ENTRY_DECORATED_LINEAR_H_

#include <xgboost/learner.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errors/boundary.h"
#include "errors/notice.h"
#include "models/model_check.h"
#include "xgb/booster.h"
#include "xgb/listing.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Passes every call on to the stock booster. XGBoost's gblinear loads weights without counting them, and reads one for
/// each feature and output of the learner. The needed number is known only when the model is used.
class DecoratedLinear final : public XgbBooster {
 public:
  DecoratedLinear(std::unique_ptr<xgboost::GradientBooster> stock, xgboost::LearnerModelParam const* model,
                  XgbContext const* ctx)
      : XgbBooster{std::move(stock), ctx}, model_{model}, context_{ctx} {}

  /// Returns true if the learner with this context has a gblinear.
  static bool IsOf(XgbContext const* ctx) {
    return Listing<DecoratedLinear>::Any([&](DecoratedLinear const& linear) { return linear.context_ == ctx; });
  }

  std::vector<std::string> DumpModel(xgboost::FeatureMap const& names, bool with_stats,
                                     std::string format) const override {
    CheckModel();
    return XgbBooster::DumpModel(names, with_stats, std::move(format));
  }
  void FeatureScore(std::string const& importance, xgboost::common::Span<std::int32_t const> trees,
                    std::vector<xgboost::bst_feature_t>* features, std::vector<float>* scores) const override {
    CheckModel();
    XgbBooster::FeatureScore(importance, trees, features, scores);
  }

 private:
  void SetParams(xgboost::Args const& args) override {
    xgboost::Args in_stock_words = args;
    for (auto& [name, value] : in_stock_words) {
      if (name == "updater") value = ForStock(value);
    }
    stock()->Configure(in_stock_words);
  }
  void BeginLoad(xgboost::Json const* in) override {
    if (in == nullptr) {
      loaded_.Forget();
    } else {
      AtBoundary("loading a model", [&] { loaded_.CheckWeights(*in); });
    }
  }
  void CheckModel() const override {
    AtBoundary("using a model", [&] { loaded_.CheckWeightsFor(model_->num_feature, model_->num_output_group); });
  }

  void Boost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
             xgboost::ObjFunction const* objective) override {
    stock()->DoBoost(data, gradients, cache, objective);
  }
  void Predict(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) override {
    stock()->PredictBatch(data, out, training, rounds.first, rounds.last);
  }
  void PredictArrays(xgboost::DMatrix*, float, XgbCache*, RoundRange, StockCall const& by_stock) const override {
    by_stock();
  }
  void PredictLeaves(xgboost::DMatrix* data, std::vector<float>*, RoundRange, StockCallOn const& by_stock) override {
    by_stock(data);
  }
  void Explain(xgboost::DMatrix* data, std::vector<float>*, RoundRange, Contributions,
               StockCallOn const& by_stock) override {
    by_stock(data);
  }
  void ExplainPairs(xgboost::DMatrix* data, std::vector<float>*, RoundRange, bool,
                    StockCallOn const& by_stock) override {
    by_stock(data);
  }

  /// Returns the updater's name in an XGBoost without CUDA: both updaters descend coordinate by coordinate, with the
  /// same selectors and penalties.
  static std::string ForStock(std::string const& updater) {
    if (updater != "gpu_coord_descent") return updater;
    WarnGroupOnce("updater",
                  "parameter updater=gpu_coord_descent: a gblinear is trained on the CPU, by coord_descent.");
    return "coord_descent";
  }

  xgboost::LearnerModelParam const* model_;
  XgbContext const* context_;
  LoadedModel loaded_;
  Listing<DecoratedLinear> listing_{this};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_DECORATED_LINEAR_H_
