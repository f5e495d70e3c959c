/// What XGBoost's own dart is asked. It tells nobody which trees it dropped and what its trees weigh, nor predicts trees
/// one by one for others; but it asks the predictor for one tree after the other, and that can be watched.
/// docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_PLUGIN_HOST_STOCK_DART_H_
#define XGBGPU_PLUGIN_HOST_STOCK_DART_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>

#include <cstdint>
#include <vector>

#include "driver/dart.h"
#include "host/host.h"

namespace xgbgpu::plugin {

class StockDart final : public DartHost {
 public:
  /// Around the stock booster, which must outlive it. Of one that is no dart, nothing must be asked.
  explicit StockDart(xgboost::GradientBooster* dart) : dart_{dart} {}

  std::uint32_t rounds() const override { return static_cast<std::uint32_t>(dart_->BoostedRounds()); }
  /// Asks the dart for predictions of a matrix of one row, in which every tree predicts 1: the prediction is then the
  /// tree's weight, and trees that are not predicted are dropped.
  void AskWeights(bool draws, std::uint32_t first, std::uint32_t last, std::vector<float>* weights) override;

  /// A RecordColumns for `data`, whose trees `model` arranges. One pass over the rows for each tree.
  bool Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns);

  /// The dart's prediction with the trees of weight 0 left out: a prediction with training=True, for trees that were
  /// drawn already. One weight for each tree.
  void PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, HostCache* out, unsigned layer_begin,
                      unsigned layer_end);

 private:
  xgboost::GradientBooster* dart_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_HOST_STOCK_DART_H_
