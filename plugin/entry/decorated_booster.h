/// The booster that XGBoost calls: a stock gbtree or dart, with gpu_hist around it.
#ifndef XGBGPU_PLUGIN_ENTRY_DECORATED_BOOSTER_H_
#define XGBGPU_PLUGIN_ENTRY_DECORATED_BOOSTER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "booster/booster.h"
#include "xgb/booster.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Hands XGBoost's calls to a Booster. What a Booster does not do, the stock booster does.
class DecoratedBooster final : public XgbBooster {
 public:
  DecoratedBooster(Booster::Kind kind, std::unique_ptr<xgboost::GradientBooster> stock,
                   xgboost::LearnerModelParam const* model, XgbContext const* ctx)
      : XgbBooster{std::move(stock), ctx}, ours_{kind, this->stock(), model, ctx} {}

  void LoadConfig(xgboost::Json const& in) override { ours_.LoadConfig(in); }
  void SaveConfig(xgboost::Json* out) const override { ours_.SaveConfig(out); }
  std::int32_t BoostedRounds() const override {
    ours_.CheckModel();
    return stock()->BoostedRounds();
  }

 private:
  void SetParams(xgboost::Args const& args) override { ours_.Configure(args); }
  void BeginLoad(xgboost::Json const* in) override { ours_.BeginLoad(in); }
  void CheckModel() const override { ours_.CheckModel(); }
  void BeginSlice(std::int32_t first, std::int32_t last, std::int32_t step, XgbBooster* out) const override {
    ours_.CheckModel();
    ours_.CheckSlice(first, last, step);
    if (auto* const decorated = dynamic_cast<DecoratedBooster*>(out)) ours_.BeginSlice(&decorated->ours_);
  }
  void EndSlice(xgboost::GradientBooster* out) const override { ours_.EndSlice(out); }

  void Boost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
             xgboost::ObjFunction const* objective) override {
    ours_.DoBoost(data, gradients, cache, objective);
  }
  void Predict(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) override {
    ours_.PredictBatch(data, out, training, rounds);
  }
  void PredictArrays(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds,
                     StockCall const& by_stock) const override {
    if (ours_.InplacePredict(data, missing, out, rounds)) return;
    ours_.PredictByStock(data == nullptr ? 0 : data->Info().num_row_, 1, by_stock);
  }
  void PredictLeaves(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                     StockCallOn const& by_stock) override {
    if (ours_.PredictLeaf(data, out, rounds)) return;
    auto const last = rounds.last == 0 ? static_cast<std::uint64_t>(stock()->BoostedRounds()) : rounds.last;
    ours_.ExplainByStock(data, last - rounds.first, by_stock);
  }
  void Explain(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, Contributions kind,
               StockCallOn const& by_stock) override {
    bool const is_ours = kind != Contributions::kConditional &&
                         ours_.PredictContribution(data, out, rounds, kind == Contributions::kApproximate);
    if (!is_ours) ours_.ExplainByStock(data, data->Info().num_col_ + 1, by_stock);
  }
  void ExplainPairs(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate,
                    StockCallOn const& by_stock) override {
    if (ours_.PredictInteractions(data, out, rounds, approximate)) return;
    std::uint64_t const columns = data->Info().num_col_ + 1;
    ours_.ExplainByStock(data, columns * columns, by_stock);
  }

  Booster ours_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_DECORATED_BOOSTER_H_
