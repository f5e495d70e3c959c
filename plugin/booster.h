/// The booster: a stock gbtree or dart, with gpu_hist around it.
#ifndef XGBGPU_PLUGIN_BOOSTER_H_
#define XGBGPU_PLUGIN_BOOSTER_H_

#include <xgboost/gbm.h>

#include <memory>
#include <string>
#include <vector>

#include "booster_config.h"
#include "trainer_pool.h"

namespace xgbgpu::plugin {

/// Decorates a stock booster. Four things are ours: parameters are translated on their way in (Configure, LoadConfig)
/// and back (SaveConfig); DoBoost announces the round to our updater; Slice unwraps. All else is passed on.
class Booster : public xgboost::GradientBooster {
 public:
  enum class Kind { kGBTree, kDart };

  Booster(Kind kind, std::unique_ptr<xgboost::GradientBooster> inner, xgboost::GenericParameter const* ctx);

  void Configure(xgboost::Args const& args) override;
  void LoadConfig(xgboost::Json const& in) override;
  void SaveConfig(xgboost::Json* out) const override;

  /// If it throws, the booster is as before the call.
  void DoBoost(xgboost::DMatrix* data, xgboost::HostDeviceVector<xgboost::GradientPair>* gradients,
               xgboost::PredictionCacheEntry* cache, xgboost::ObjFunction const* objective) override;
  void PredictBatch(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training, unsigned layer_begin,
                    unsigned layer_end) override;
  void Slice(std::int32_t layer_begin, std::int32_t layer_end, std::int32_t step, xgboost::GradientBooster* out,
             bool* out_of_bound) const override;

  void LoadModel(xgboost::Json const& in) override { inner_->LoadModel(in); }
  void SaveModel(xgboost::Json* out) const override { inner_->SaveModel(out); }
  void Load(dmlc::Stream* in) override { inner_->Load(in); }
  void Save(dmlc::Stream* out) const override { inner_->Save(out); }
  std::int32_t BoostedRounds() const override { return inner_->BoostedRounds(); }
  bool ModelFitted() const override { return inner_->ModelFitted(); }
  bool UseGPU() const override { return inner_->UseGPU(); }

  void InplacePredict(std::shared_ptr<xgboost::DMatrix> data, float missing, xgboost::PredictionCacheEntry* out,
                      std::uint32_t layer_begin, std::uint32_t layer_end) const override {
    inner_->InplacePredict(data, missing, out, layer_begin, layer_end);
  }
  void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out, unsigned layer_begin,
                       unsigned layer_end) override {
    inner_->PredictInstance(row, out, layer_begin, layer_end);
  }
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                   unsigned layer_end) override {
    inner_->PredictLeaf(data, out, layer_begin, layer_end);
  }
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                           unsigned layer_end, bool approximate, int condition, unsigned feature) override {
    inner_->PredictContribution(data, out, layer_begin, layer_end, approximate, condition, feature);
  }
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                       unsigned layer_begin, unsigned layer_end, bool approximate) override {
    inner_->PredictInteractionContributions(data, out, layer_begin, layer_end, approximate);
  }
  std::vector<std::string> DumpModel(xgboost::FeatureMap const& names, bool with_stats,
                                     std::string format) const override {
    return inner_->DumpModel(names, with_stats, std::move(format));
  }
  void FeatureScore(std::string const& importance, xgboost::common::Span<std::int32_t const> trees,
                    std::vector<xgboost::bst_feature_t>* features, std::vector<float>* scores) const override {
    inner_->FeatureScore(importance, trees, features, scores);
  }

 private:
  /// The part of a saved configuration that describes the gbtree.
  xgboost::Json& GBTreeSection(xgboost::Json* config) const;

  Kind kind_;
  std::unique_ptr<xgboost::GradientBooster> inner_;
  BoosterConfig config_;
  bool configure_failed_{false};
  TrainerPool trainers_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_H_
