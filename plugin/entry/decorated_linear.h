/// The booster gblinear: the stock one, whose weights are checked before they are used. It also takes the name of
/// upstream's updater on a GPU.
#ifndef XGBGPU_PLUGIN_ENTRY_DECORATED_LINEAR_H_
#define XGBGPU_PLUGIN_ENTRY_DECORATED_LINEAR_H_

#include <xgboost/gbm.h>
#include <xgboost/learner.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errors/boundary.h"
#include "errors/notice.h"
#include "models/model_check.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Passes everything on. XGBoost's booster takes as many weights as a model has, and reads as many as the learner has
/// features and outputs, which is known when it is used.
class DecoratedLinear final : public xgboost::GradientBooster {
 public:
  DecoratedLinear(std::unique_ptr<xgboost::GradientBooster> stock, xgboost::LearnerModelParam const* model,
                  XgbContext const* ctx)
      : GradientBooster{ctx}, stock_{std::move(stock)}, model_{model} {}

  void LoadModel(xgboost::Json const& in) override {
    AtBoundary("loading a model", [&] { loaded_.CheckWeights(in); });
    stock_->LoadModel(in);
  }
  void Load(dmlc::Stream* in) override {
    loaded_.Forget();
    stock_->Load(in);
  }
  void DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
               xgboost::ObjFunction const* objective) override {
    Checked()->DoBoost(data, gradients, cache, objective);
  }
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, unsigned layer_begin,
                    unsigned layer_end) override {
    Checked()->PredictBatch(data, out, training, layer_begin, layer_end);
  }
  void InplacePredict(std::shared_ptr<xgboost::DMatrix> data, float missing, XgbCache* out, std::uint32_t layer_begin,
                      std::uint32_t layer_end) const override {
    Checked()->InplacePredict(data, missing, out, layer_begin, layer_end);
  }
  void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out, unsigned layer_begin,
                       unsigned layer_end) override {
    Checked()->PredictInstance(row, out, layer_begin, layer_end);
  }
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                   unsigned layer_end) override {
    Checked()->PredictLeaf(data, out, layer_begin, layer_end);
  }
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                           unsigned layer_end, bool approximate, int condition, unsigned feature) override {
    Checked()->PredictContribution(data, out, layer_begin, layer_end, approximate, condition, feature);
  }
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                       unsigned layer_begin, unsigned layer_end, bool approximate) override {
    Checked()->PredictInteractionContributions(data, out, layer_begin, layer_end, approximate);
  }
  std::vector<std::string> DumpModel(xgboost::FeatureMap const& names, bool with_stats,
                                     std::string format) const override {
    return Checked()->DumpModel(names, with_stats, std::move(format));
  }
  void FeatureScore(std::string const& importance, xgboost::common::Span<std::int32_t const> trees,
                    std::vector<xgboost::bst_feature_t>* features, std::vector<float>* scores) const override {
    Checked()->FeatureScore(importance, trees, features, scores);
  }

  void Configure(xgboost::Args const& args) override {
    xgboost::Args in_stock_words = args;
    for (auto& [name, value] : in_stock_words) {
      if (name == "updater") value = ForStock(value);
    }
    stock_->Configure(in_stock_words);
  }
  void LoadConfig(xgboost::Json const& in) override { stock_->LoadConfig(in); }
  void SaveConfig(xgboost::Json* out) const override { stock_->SaveConfig(out); }
  void SaveModel(xgboost::Json* out) const override { stock_->SaveModel(out); }
  void Save(dmlc::Stream* out) const override { stock_->Save(out); }
  void Slice(std::int32_t layer_begin, std::int32_t layer_end, std::int32_t step, xgboost::GradientBooster* out,
             bool* out_of_bound) const override {
    stock_->Slice(layer_begin, layer_end, step, out, out_of_bound);
  }
  std::int32_t BoostedRounds() const override { return stock_->BoostedRounds(); }
  bool ModelFitted() const override { return stock_->ModelFitted(); }
  bool UseGPU() const override { return stock_->UseGPU(); }

 private:
  /// The stock booster, if its weights are those of the learner.
  xgboost::GradientBooster* Checked() const {
    AtBoundary("using a model", [&] { loaded_.CheckWeightsFor(model_->num_feature, model_->num_output_group); });
    return stock_.get();
  }

  /// Returns the updater's name in an XGBoost without CUDA: both updaters descend coordinate by coordinate, with the
  /// same selectors and penalties.
  static std::string ForStock(std::string const& updater) {
    if (updater != "gpu_coord_descent") return updater;
    WarnGroupOnce("updater",
                  "parameter updater=gpu_coord_descent: a gblinear is trained on the CPU, by coord_descent.");
    return "coord_descent";
  }

  std::unique_ptr<xgboost::GradientBooster> stock_;
  xgboost::LearnerModelParam const* model_;
  LoadedModel loaded_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_DECORATED_LINEAR_H_
