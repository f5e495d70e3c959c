/// The base of decorated boosters: GradientBooster as each series of XGBoost declares it, in neutral words.
#ifndef XGBGPU_PLUGIN_XGB_BOOSTER_H_
#define XGBGPU_PLUGIN_XGB_BOOSTER_H_

#include <xgboost/gbm.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "xgb/types.h"
#include "xgbgpu/model_view.h"

namespace xgbgpu::plugin {

/// Wraps a stock booster; XGBoost calls the wrapper. Calls with other arguments in other series of XGBoost go to a
/// virtual function of this class. All others go to the stock booster, if they are not overridden.
class XgbBooster : public xgboost::GradientBooster {
 public:
  XgbBooster(std::unique_ptr<xgboost::GradientBooster> stock, XgbContext const* ctx)
      : GradientBooster{ctx}, stock_{std::move(stock)} {}

  void LoadConfig(xgboost::Json const& in) override { stock_->LoadConfig(in); }
  void SaveConfig(xgboost::Json* out) const override { stock_->SaveConfig(out); }
  void SaveModel(xgboost::Json* out) const override { stock_->SaveModel(out); }
  std::int32_t BoostedRounds() const override { return stock_->BoostedRounds(); }
  bool ModelFitted() const override { return stock_->ModelFitted(); }
  std::vector<std::string> DumpModel(xgboost::FeatureMap const& names, bool with_stats,
                                     std::string format) const override {
    return stock_->DumpModel(names, with_stats, std::move(format));
  }
  void FeatureScore(std::string const& importance, xgboost::common::Span<std::int32_t const> trees,
                    std::vector<xgboost::bst_feature_t>* features, std::vector<float>* scores) const override {
    CheckModel();
    stock_->FeatureScore(importance, trees, features, scores);
  }

  void Configure(xgboost::Args const& args) final { SetParams(args); }
  void LoadModel(xgboost::Json const& in) final {
    BeginLoad(&in);
    stock_->LoadModel(in);
  }
  XGBGPU_BEFORE_302(void Load(dmlc::Stream* in) final {
    BeginLoad(nullptr);
    stock_->Load(in);
  })
  XGBGPU_BEFORE_302(void Save(dmlc::Stream* out) const final { stock_->Save(out); })
  void Slice(std::int32_t first, std::int32_t last, std::int32_t step, xgboost::GradientBooster* out,
             bool* out_of_bound) const final {
    auto* const decorated = dynamic_cast<XgbBooster*>(out);
    BeginSlice(first, last, step, decorated);
    stock_->Slice(first, last, step, decorated == nullptr ? out : decorated->stock_.get(), out_of_bound);
    if (decorated != nullptr) EndSlice(decorated->stock_.get());
  }
  XGBGPU_BEFORE_302(bool UseGPU() const final { return stock_->UseGPU(); })
  XGBGPU_SINCE_302(xgboost::CatContainer const* Cats() const final { return stock_->Cats(); })

  void DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
               xgboost::ObjFunction const* objective) final {
    CheckModel();
    Boost(data, gradients, cache, objective);
  }
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, XgbRound first, XgbRound last) final {
    CheckModel();
    Predict(data, out, training, ToRange(first, last));
  }
  void InplacePredict(std::shared_ptr<xgboost::DMatrix> data, float missing, XgbCache* out, XgbRound first,
                      XgbRound last) const final {
    CheckModel();
    PredictArrays(data.get(), missing, out, ToRange(first, last),
                  [&] { stock_->InplacePredict(data, missing, out, first, last); });
  }
  XGBGPU_BEFORE_300(void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out, unsigned first,
                                         unsigned last) final {
    CheckModel();
    stock_->PredictInstance(row, out, first, last);
  })
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, XgbLeafRound first,
                   XgbLeafRound last XGBGPU_SINCE_304(, bool strict_shape)) final {
    CheckModel();
    PredictLeaves(data, &out->HostVector(), ToRange(first, last), [&](xgboost::DMatrix* from) {
      stock_->PredictLeaf(from, out, first, last XGBGPU_SINCE_304(, strict_shape));
    });
  }
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, XgbRound first, XgbRound last,
                           bool approximate XGBGPU_BEFORE_300(, int condition, unsigned feature)) final {
    CheckModel();
    Contributions kind = approximate ? Contributions::kApproximate : Contributions::kExact;
    XGBGPU_BEFORE_300(if (condition != 0) kind = Contributions::kConditional;)
    Explain(data, &out->HostVector(), ToRange(first, last), kind, [&](xgboost::DMatrix* from) {
      stock_->PredictContribution(from, out, first, last, approximate XGBGPU_BEFORE_300(, condition, feature));
    });
  }
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, XgbRound first,
                                       XgbRound last, bool approximate) final {
    CheckModel();
    ExplainPairs(data, &out->HostVector(), ToRange(first, last), approximate, [&](xgboost::DMatrix* from) {
      stock_->PredictInteractionContributions(from, out, first, last, approximate);
    });
  }

 protected:
  enum class Contributions : std::uint8_t {
    kExact,
    kApproximate,
    kConditional,  ///< of one column's presence or absence
  };

  /// The stock booster.
  xgboost::GradientBooster* stock() const { return stock_.get(); }

  /// Takes newly set parameters, and configures the stock booster.
  virtual void SetParams(xgboost::Args const& args) = 0;
  /// Is called before the stock booster loads a model, saved as `in`, or, if `in` is null, in the deprecated binary
  /// format. If it throws, the model is not loaded.
  virtual void BeginLoad(xgboost::Json const* in) = 0;
  /// Throws if the model that was loaded is not one of this learner. It is called before the model is used.
  virtual void CheckModel() const = 0;
  /// Is called before a slice of the model's rounds, in Python's terms, becomes the model of `out`. `out` is null for a
  /// booster that is not decorated. If it throws, no round is copied.
  virtual void BeginSlice(std::int32_t /*first*/, std::int32_t /*last*/, std::int32_t /*step*/,
                          XgbBooster* /*out*/) const {}
  /// Is called when the stock booster `out` has the rounds.
  virtual void EndSlice(xgboost::GradientBooster* /*out*/) const {}

  /// Adds a round to the model. The objective is null if the user computes gradients.
  virtual void Boost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
                     xgboost::ObjFunction const* objective) = 0;
  /// Brings `out` to the margins after `rounds`. `training`: for the next round.
  virtual void Predict(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) = 0;

  // The rest may leave the work to the stock booster. Rounds 0, 0 are all rounds.

  /// Predicts the arrays of an in-place prediction. `data` has labels and margins; null: there are no labels or
  /// margins.
  virtual void PredictArrays(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds,
                             StockCall const& by_stock) const = 0;
  /// Writes the leaf of each row and tree.
  virtual void PredictLeaves(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                             StockCallOn const& by_stock) = 0;
  /// Writes the contribution of each column, and the bias, for each row and output.
  virtual void Explain(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, Contributions kind,
                       StockCallOn const& by_stock) = 0;
  /// Writes the contribution of each pair of columns for each row and output.
  virtual void ExplainPairs(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate,
                            StockCallOn const& by_stock) = 0;

 private:
  template <typename Round>
  static RoundRange ToRange(Round first, Round last) {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
  }

  std::unique_ptr<xgboost::GradientBooster> stock_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_BOOSTER_H_
