/// Which trees a stock dart has dropped, and what its trees weigh: it tells nobody, but its predictions show it.
#ifndef XGBGPU_PLUGIN_DART_WEIGHTS_H_
#define XGBGPU_PLUGIN_DART_WEIGHTS_H_

#include <xgboost/gbm.h>

#include <cstdint>
#include <vector>

namespace xgbgpu::plugin {

/// Asks the stock dart for predictions of a matrix of one row, in which every tree's prediction is 1 (predictor.h): the
/// prediction is then the tree's weight, and trees that are not predicted are dropped. docs/adr/0015-dart-rounds.md
class DartWeights {
 public:
  /// Of a booster that is no dart: calls nothing.
  explicit DartWeights(xgboost::GradientBooster* dart) : dart_{dart} {}

  /// Has the dart draw the trees that it drops, once, as it would for a prediction with training=True.
  void Draw();
  /// Of every tree in order, as drawn last; 0: dropped.
  std::vector<float> const& drawn() const { return drawn_; }
  /// Of every tree in order.
  std::vector<float> const& all();

  /// A round has been added, `rounds` in all, after the last Draw.
  void RoundIsOver(std::uint32_t rounds);
  /// The dart has drawn or changed without us.
  void Forget();

 private:
  xgboost::GradientBooster* dart_;
  std::vector<float> all_, drawn_;
  bool knows_all_{false};
  bool drew_none_{false};  ///< no tree was dropped: the next round changes no weight
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DART_WEIGHTS_H_
