/// Queries XGBoost's own dart. It has no functions for dropped trees, weights of trees or columns of leaves.
/// But it asks the predictor for trees, and a TreeWatch answers. docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_
#define XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "xgb/types.h"
#include "xgbgpu/dart.h"

namespace xgbgpu::plugin {

/// Reads weights, dropped trees and leaf columns of a stock dart. Since XGBoost 3.3 it is a gbtree with weights:
/// stock_dart_by_weights.cc. Before, stock_dart_by_tree.cc.
class StockDart final : public DartModel {
 public:
  /// `dart` must outlive it.
  explicit StockDart(xgboost::GradientBooster* dart) : dart_{dart} {}

  std::uint32_t rounds() const override { return static_cast<std::uint32_t>(dart_->BoostedRounds()); }
  // The next two ask the dart for predictions of a matrix of one row, and do not predict.
  void AskWeights(std::uint32_t first, std::uint32_t last, std::vector<float>* weights) override;
  std::vector<float> Draw(std::function<std::vector<float> const&()> const& all) override;

  /// Does what a RecordColumns does, for `data` and trees arranged as `model` says. Cost: a pass over the rows for each
  /// tree.
  bool Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns);

  /// Predicts without the trees of weight 0. The dart does the same with training=True, but draws other trees.
  /// `weights`: [trees].
  void PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out, unsigned layer_begin,
                      unsigned layer_end);

 private:
  xgboost::GradientBooster* dart_;
  std::vector<float> drawn_;  ///< what Draw returned last; since 3.3
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_STOCK_DART_H_
