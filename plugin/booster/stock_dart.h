/// What XGBoost's own dart is asked. It tells nobody which trees it dropped and what its trees weigh, nor predicts
/// trees one by one for others; but it asks the predictor for one tree after the other, and that can be watched.
/// docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_
#define XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>

#include <cstdint>
#include <vector>

#include "xgb/types.h"
#include "xgbgpu/dart.h"

namespace xgbgpu::plugin {

class StockDart final : public DartHost {
 public:
  /// `dart`, the stock booster, must outlive it. If that is no dart, nothing may be asked.
  explicit StockDart(xgboost::GradientBooster* dart) : dart_{dart} {}

  std::uint32_t rounds() const override { return static_cast<std::uint32_t>(dart_->BoostedRounds()); }
  /// Asks the dart for predictions of a matrix of one row, in which every tree predicts 1: the prediction is then the
  /// tree's weight, and trees that are not predicted are dropped.
  void AskWeights(bool draws, std::uint32_t first, std::uint32_t last, std::vector<float>* weights) override;

  /// Does what a RecordColumns does, for `data` and trees arranged as `model` says. Cost: one pass over the rows for
  /// each tree.
  bool Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns);

  /// Predicts without the trees of weight 0, as the dart does with training=True, but with trees that were drawn
  /// already. `weights` has one number for each tree.
  void PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out, unsigned layer_begin,
                      unsigned layer_end);

 private:
  xgboost::GradientBooster* dart_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_
