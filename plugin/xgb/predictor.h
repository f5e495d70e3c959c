/// XGBoost's predictor of the CPU, decorated. Stock boosters ask it for trees; a TreeWatch answers the requests.
#ifndef XGBGPU_PLUGIN_XGB_PREDICTOR_H_
#define XGBGPU_PLUGIN_XGB_PREDICTOR_H_

#include <xgboost/data.h>
#include <xgboost/predictor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "call/call_state.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// A request to add trees first … last - 1 to the predictions in `out`.
struct TreeRequest {
  std::uint32_t first, last;
  std::vector<float> const* weights;  ///< [last] or more; null: the model's own, before 3.3 always
  XgbCache* out;
};

/// Answers what stock code asks the predictor for `data` on this thread, while it is alive.
class TreeWatch {
 public:
  explicit TreeWatch(xgboost::DMatrix const* data) : data_{data}, scope_{this} {}
  virtual ~TreeWatch() = default;
  TreeWatch(TreeWatch const&) = delete;
  TreeWatch& operator=(TreeWatch const&) = delete;

  using Predict = std::function<void(TreeRequest const&)>;
  /// Is called in place of a request. predict(request) has stock code do what a request asks for.
  virtual void Answer(TreeRequest const& request, Predict const& predict) = 0;

  /// Returns the watch of this thread and matrix, or null.
  static TreeWatch* Of(xgboost::DMatrix const* data);

 private:
  xgboost::DMatrix const* data_;
  CallScope<&CallState::tree_watch> scope_;
};

/// Passes everything on to the inner predictor, but PredictBatch to a TreeWatch.
class DecoratedPredictor : public xgboost::Predictor {
 public:
  /// The type of numbers of trees.
  XGBGPU_BEFORE_300(using XgbTree = std::uint32_t;)
  XGBGPU_SINCE_300(using XgbTree = xgboost::bst_tree_t;)

  DecoratedPredictor(std::unique_ptr<xgboost::Predictor> inner, XgbContext const* ctx)
      : Predictor{ctx}, inner_{std::move(inner)} {}

  void Configure(xgboost::Args const& args) override { inner_->Configure(args); }
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, xgboost::gbm::GBTreeModel const& model, XgbTree tree_begin,
                    XgbTree tree_end XGBGPU_SINCE_303(, std::vector<float> const* weights)) const override;
  bool InplacePredict(std::shared_ptr<xgboost::DMatrix> data, xgboost::gbm::GBTreeModel const& model, float missing,
                      XgbCache* out, XgbTree tree_begin,
                      XgbTree tree_end
                          XGBGPU_SINCE_303(XGBGPU_BEFORE_304(, std::vector<float> const* weights))) const override {
    return inner_->InplacePredict(std::move(data), model, missing, out, tree_begin,
                                  tree_end XGBGPU_SINCE_303(XGBGPU_BEFORE_304(, weights)));
  }
  XGBGPU_BEFORE_300(void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out,
                                         xgboost::gbm::GBTreeModel const& model, unsigned tree_end)
                        const override { inner_->PredictInstance(row, out, model, tree_end); })
  XGBGPU_SINCE_300(void InitOutPredictions(xgboost::MetaInfo const& info, xgboost::HostDeviceVector<float>* out,
                                           xgboost::gbm::GBTreeModel const& model)
                       const override { inner_->InitOutPredictions(info, out, model); })
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                   xgboost::gbm::GBTreeModel const& model, XgbTree tree_end) const override {
    inner_->PredictLeaf(data, out, model, tree_end);
  }
  XGBGPU_SINCE_304(void PredictFromLeafIds(
      xgboost::common::Span<xgboost::HostDeviceVector<xgboost::bst_node_t> const> leaves,
      xgboost::common::Span<xgboost::RegTree const*> trees, xgboost::linalg::MatrixView<float> out)
                       const override { inner_->PredictFromLeafIds(leaves, trees, out); })
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                           xgboost::gbm::GBTreeModel const& model,
                           XgbTree tree_end XGBGPU_BEFORE_304(, std::vector<float> const* weights), bool approximate,
                           int condition, unsigned feature) const override {
    inner_->PredictContribution(data, out, model, tree_end XGBGPU_BEFORE_304(, weights), approximate, condition,
                                feature);
  }
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                       xgboost::gbm::GBTreeModel const& model,
                                       XgbTree tree_end XGBGPU_BEFORE_304(, std::vector<float> const* weights),
                                       bool approximate) const override {
    inner_->PredictInteractionContributions(data, out, model, tree_end XGBGPU_BEFORE_304(, weights), approximate);
  }

 private:
  std::unique_ptr<xgboost::Predictor> inner_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_PREDICTOR_H_
