/// XGBoost's predictor of the CPU, decorated. A stock dart asks it for each tree by itself, which can be watched.
#ifndef XGBGPU_PLUGIN_XGB_PREDICTOR_H_
#define XGBGPU_PLUGIN_XGB_PREDICTOR_H_

#include <xgboost/data.h>
#include <xgboost/predictor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "xgb/api_call.h"
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
  DecoratedPredictor(std::unique_ptr<xgboost::Predictor> inner, XgbContext const* ctx)
      : Predictor{ctx}, inner_{std::move(inner)} {}

  void Configure(std::vector<std::pair<std::string, std::string>> const& args) override { inner_->Configure(args); }
  void PredictBatch(xgboost::DMatrix* data, XgbCache* out, xgboost::gbm::GBTreeModel const& model,
                    std::uint32_t tree_begin, std::uint32_t tree_end) const override;
  bool InplacePredict(std::shared_ptr<xgboost::DMatrix> data, xgboost::gbm::GBTreeModel const& model, float missing,
                      XgbCache* out, std::uint32_t tree_begin, std::uint32_t tree_end) const override {
    return inner_->InplacePredict(std::move(data), model, missing, out, tree_begin, tree_end);
  }
  void PredictInstance(xgboost::SparsePage::Inst const& row, std::vector<float>* out,
                       xgboost::gbm::GBTreeModel const& model, unsigned tree_end) const override {
    inner_->PredictInstance(row, out, model, tree_end);
  }
  void PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                   xgboost::gbm::GBTreeModel const& model, unsigned tree_end) const override {
    inner_->PredictLeaf(data, out, model, tree_end);
  }
  void PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                           xgboost::gbm::GBTreeModel const& model, unsigned tree_end, std::vector<float> const* weights,
                           bool approximate, int condition, unsigned feature) const override {
    inner_->PredictContribution(data, out, model, tree_end, weights, approximate, condition, feature);
  }
  void PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                       xgboost::gbm::GBTreeModel const& model, unsigned tree_end,
                                       std::vector<float> const* weights, bool approximate) const override {
    inner_->PredictInteractionContributions(data, out, model, tree_end, weights, approximate);
  }

 private:
  std::unique_ptr<xgboost::Predictor> inner_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_PREDICTOR_H_
