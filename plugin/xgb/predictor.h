/// XGBoost's predictor of the CPU, decorated. A stock dart asks it for one tree at a time; a TreeWatch sees the
/// requests.
#ifndef XGBGPU_PLUGIN_XGB_PREDICTOR_H_
#define XGBGPU_PLUGIN_XGB_PREDICTOR_H_

#include <xgboost/data.h>
#include <xgboost/predictor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "call/call_state.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Sees which trees stock code predicts on this thread for `data`, while it is alive.
class TreeWatch {
 public:
  explicit TreeWatch(xgboost::DMatrix const* data) : data_{data}, scope_{this} {}
  virtual ~TreeWatch() = default;
  TreeWatch(TreeWatch const&) = delete;
  TreeWatch& operator=(TreeWatch const&) = delete;

  /// Is called before tree `tree` is added to `predictions`. Returns true if it is to be added. Otherwise `predictions`
  /// stay as this call leaves them.
  virtual bool Predicts(std::uint32_t tree, xgboost::HostDeviceVector<float>* predictions) = 0;
  /// Is called after the tree was added.
  virtual void Predicted(std::uint32_t /*tree*/, xgboost::HostDeviceVector<float> const& /*predictions*/) {}

  /// Returns the watch of this thread and matrix, or null.
  static TreeWatch* Of(xgboost::DMatrix const* data);

 private:
  xgboost::DMatrix const* data_;
  CallScope<&CallState::tree_watch> scope_;
};

/// Passes everything on to the inner predictor, and tells a TreeWatch of PredictBatch.
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
