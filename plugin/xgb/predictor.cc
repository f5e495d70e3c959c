// Tells a TreeWatch which trees stock code predicts.
#include "xgb/predictor.h"

namespace xgbgpu::plugin {

TreeWatch* TreeWatch::Of(xgboost::DMatrix const* data) {
  TreeWatch* const innermost = CallState::OfThisThread().tree_watch;
  return innermost != nullptr && innermost->data_ == data ? innermost : nullptr;
}

void DecoratedPredictor::PredictBatch(xgboost::DMatrix* data, XgbCache* out, xgboost::gbm::GBTreeModel const& model,
                                      XgbTree tree_begin,
                                      XgbTree tree_end XGBGPU_SINCE_303(, std::vector<float> const* weights)) const {
  TreeWatch* const watch = TreeWatch::Of(data);
  if (watch != nullptr && !watch->Predicts(static_cast<std::uint32_t>(tree_begin), &out->predictions)) return;
  inner_->PredictBatch(data, out, model, tree_begin, tree_end XGBGPU_SINCE_303(, weights));
  if (watch != nullptr) watch->Predicted(static_cast<std::uint32_t>(tree_begin), out->predictions);
}

}  // namespace xgbgpu::plugin
