/// Queries XGBoost's own dart. It has no functions for dropped trees, weights of trees or columns of leaves.
/// But it asks the predictor for one tree after the other, and a TreeWatch sees that. docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_
#define XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>

#include <cstdint>
#include <vector>

#include "xgb/types.h"
#include "xgbgpu/dart.h"

namespace xgbgpu::plugin {

/// Reads weights, dropped trees and leaf columns of a stock dart.
class StockDart final : public DartModel {
 public:
  /// `dart` must outlive it.
  explicit StockDart(xgboost::GradientBooster* dart) : dart_{dart} {}

  std::uint32_t rounds() const override { return static_cast<std::uint32_t>(dart_->BoostedRounds()); }
  /// Asks the dart for predictions of a matrix of one row, in which every tree predicts 1. The prediction is then the
  /// weight of the tree. Trees that are not predicted are dropped.
  void AskWeights(bool draws, std::uint32_t first, std::uint32_t last, std::vector<float>* weights) override;

  /// Does what a RecordColumns does, for `data` and trees arranged as `model` says. Cost: a pass over the rows for each
  /// tree.
  bool Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns);

  /// Predicts without the trees of weight 0. The dart does the same with training=True, but draws other trees.
  /// `weights`: [trees].
  void PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out, unsigned layer_begin,
                      unsigned layer_end);

 private:
  xgboost::GradientBooster* dart_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_
