/// The booster that XGBoost calls: a stock gbtree or dart, with gpu_hist around it.
#ifndef XGBGPU_PLUGIN_ENTRY_DECORATED_BOOSTER_H_
#define XGBGPU_PLUGIN_ENTRY_DECORATED_BOOSTER_H_

#include <xgboost/gbm.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "booster/booster.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Says what GradientBooster's functions are in this version of XGBoost; what they do is in
/// Booster. What a Booster does not do, the stock booster does.
class DecoratedBooster final : public xgboost::GradientBooster {
 public:
  DecoratedBooster(Booster::Kind kind, std::unique_ptr<xgboost::GradientBooster> stock,
                   xgboost::LearnerModelParam const* model, XgbContext const* ctx)
      : GradientBooster{ctx}, stock_{std::move(stock)}, ours_{kind, stock_.get(), model, ctx} {}

  void Configure(xgboost::Args const& args) override { ours_.Configure(args); }
  void LoadConfig(xgboost::Json const& in) override { ours_.LoadConfig(in); }
  void SaveConfig(xgboost::Json* out) const override { ours_.SaveConfig(out); }

  void DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
               xgboost::ObjFunction const* objective) override {
    ours_.DoBoost(data, gradients, cache, objective);
  }
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, unsigned layer_begin,
                    unsigned layer_end) override {
    ours_.CheckOutputs();
    ours_.PredictBatch(data, out, training, {layer_begin, layer_end});
  }
  void InplacePredict(std::shared_ptr<xgboost::DMatrix> data, float missing, XgbCache* out, std::uint32_t layer_begin,
                      std::uint32_t layer_end) const override {
    ours_.CheckOutputs();
    if (ours_.InplacePredict(data.get(), missing, out, {layer_begin, layer_end})) return;
    std::uint64_t const rows = data == nullptr ? 0 : data->Info().num_row_;
    ours_.PredictByStock(rows, 1, [&] { stock_->InplacePredict(data, missing, out, layer_begin, layer_end); });
  }
  void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out, unsigned layer_begin,
                       unsigned layer_end) override {
    ours_.CheckOutputs();
    stock_->PredictInstance(row, out, layer_begin, layer_end);
  }
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                   unsigned layer_end) override {
    if (ours_.PredictLeaf(data, &out->HostVector(), {layer_begin, layer_end})) return;
    auto const rounds = layer_end == 0 ? static_cast<std::uint64_t>(stock_->BoostedRounds()) : layer_end;
    ours_.PredictByStock(data->Info().num_row_, rounds - layer_begin,
                         [&] { stock_->PredictLeaf(data, out, layer_begin, layer_end); });
  }
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                           unsigned layer_end, bool approximate, int condition, unsigned feature) override {
    RoundRange const rounds{layer_begin, layer_end};
    if (condition == 0 && ours_.PredictContribution(data, &out->HostVector(), rounds, approximate)) return;
    ours_.PredictByStock(data->Info().num_row_, data->Info().num_col_ + 1, [&] {
      stock_->PredictContribution(data, out, layer_begin, layer_end, approximate, condition, feature);
    });
  }
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                       unsigned layer_begin, unsigned layer_end, bool approximate) override {
    if (ours_.PredictInteractions(data, &out->HostVector(), {layer_begin, layer_end}, approximate)) return;
    std::uint64_t const columns = data->Info().num_col_ + 1;
    ours_.PredictByStock(data->Info().num_row_, columns * columns, [&] {
      stock_->PredictInteractionContributions(data, out, layer_begin, layer_end, approximate);
    });
  }

  void Slice(std::int32_t layer_begin, std::int32_t layer_end, std::int32_t step, xgboost::GradientBooster* out,
             bool* out_of_bound) const override {
    ours_.CheckOutputs();
    ours_.CheckSlice(layer_begin, layer_end, step);
    auto* const decorated = dynamic_cast<DecoratedBooster*>(out);
    if (decorated != nullptr) decorated->ours_.ForgetModel();
    stock_->Slice(layer_begin, layer_end, step, decorated == nullptr ? out : decorated->stock_.get(), out_of_bound);
  }
  void LoadModel(xgboost::Json const& in) override {
    ours_.BeginLoad(&in);
    stock_->LoadModel(in);
  }
  void SaveModel(xgboost::Json* out) const override { stock_->SaveModel(out); }
  void Load(dmlc::Stream* in) override {
    ours_.BeginLoad(nullptr);
    stock_->Load(in);
  }
  void Save(dmlc::Stream* out) const override { stock_->Save(out); }
  std::int32_t BoostedRounds() const override {
    ours_.CheckOutputs();
    return stock_->BoostedRounds();
  }
  bool ModelFitted() const override { return stock_->ModelFitted(); }
  bool UseGPU() const override { return stock_->UseGPU(); }
  std::vector<std::string> DumpModel(xgboost::FeatureMap const& names, bool with_stats,
                                     std::string format) const override {
    return stock_->DumpModel(names, with_stats, std::move(format));
  }
  void FeatureScore(std::string const& importance, xgboost::common::Span<std::int32_t const> trees,
                    std::vector<xgboost::bst_feature_t>* features, std::vector<float>* scores) const override {
    stock_->FeatureScore(importance, trees, features, scores);
  }

 private:
  std::unique_ptr<xgboost::GradientBooster> stock_;
  Booster ours_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_DECORATED_BOOSTER_H_
