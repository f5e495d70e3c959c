// Has a TreeWatch answer what stock code asks the predictor.
#include "xgb/predictor.h"

namespace xgbgpu::plugin {

TreeWatch* TreeWatch::Of(xgboost::DMatrix const* data) {
  TreeWatch* const innermost = CallState::OfThisThread().tree_watch;
  return innermost != nullptr && innermost->data_ == data ? innermost : nullptr;
}

void DecoratedPredictor::PredictBatch(xgboost::DMatrix* data, XgbCache* out, xgboost::gbm::GBTreeModel const& model,
                                      XgbTree tree_begin,
                                      XgbTree tree_end XGBGPU_SINCE_303(, std::vector<float> const* weights)) const {
  auto const predict = [&](TreeRequest const& request) {
    inner_->PredictBatch(data, request.out, model, static_cast<XgbTree>(request.first),
                         static_cast<XgbTree>(request.last) XGBGPU_SINCE_303(, request.weights));
  };
  XGBGPU_BEFORE_303(std::vector<float> const* const weights = nullptr;)
  TreeRequest const request{static_cast<std::uint32_t>(tree_begin), static_cast<std::uint32_t>(tree_end), weights, out};
  if (TreeWatch* const watch = TreeWatch::Of(data)) return watch->Answer(request, predict);
  predict(request);
}

}  // namespace xgbgpu::plugin
