/// The base of decorated objectives: ObjFunction as each series of XGBoost declares it, in neutral words.
#ifndef XGBGPU_PLUGIN_XGB_OBJECTIVE_H_
#define XGBGPU_PLUGIN_XGB_OBJECTIVE_H_

#include <xgboost/objective.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "xgb/listing.h"
#include "xgb/types.h"
#include "xgb/version.h"
#include "xgbgpu/boosting_round.h"

namespace xgbgpu::plugin {

/// Wraps a stock objective; XGBoost calls the wrapper. Calls that may be ours go to a virtual function of this class.
/// All others go to the stock objective.
class XgbObjective : public xgboost::ObjFunction {
 public:
  explicit XgbObjective(std::unique_ptr<xgboost::ObjFunction> stock);
  XgbObjective(XgbObjective const&) = delete;
  XgbObjective& operator=(XgbObjective const&) = delete;

  void Configure(xgboost::Args const& args) final;
  void LoadConfig(xgboost::Json const& in) final;
  void SaveConfig(xgboost::Json* out) const final;
  void GetGradient(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info, int iteration,
                   XgbGradientMatrix* out) final {
    ComputeGradients(margins, info, out,
                     [&](xgboost::HostDeviceVector<float> const& of, xgboost::MetaInfo const& labels,
                         XgbGradientMatrix* to) { stock()->GetGradient(of, labels, iteration, to); });
  }
  char const* DefaultEvalMetric() const final { return stock()->DefaultEvalMetric(); }
  void PredTransform(xgboost::HostDeviceVector<float>* predictions) const final { stock()->PredTransform(predictions); }
  void EvalTransform(xgboost::HostDeviceVector<float>* predictions) final {
    TransformForMetrics(predictions, [&] { stock()->EvalTransform(predictions); });
  }
  XGBGPU_BEFORE_302(float ProbToMargin(float base_score) const final { return stock()->ProbToMargin(base_score); })
  XGBGPU_SINCE_302(void ProbToMargin(xgboost::linalg::Vector<float>* base_score)
                       const final { stock()->ProbToMargin(base_score); })
  XGBGPU_SINCE_300(xgboost::Json DefaultMetricConfig() const final { return stock()->DefaultMetricConfig(); })
  void InitEstimation(xgboost::MetaInfo const& info, xgboost::linalg::Tensor<float, 1>* base_score) const final {
    EstimateBaseScore(info,
                      [&](xgboost::MetaInfo const& labels, int threads) { EstimateBy(threads, labels, base_score); });
  }
  xgboost::ObjInfo Task() const final;
  std::uint32_t Targets(xgboost::MetaInfo const& info) const final { return stock()->Targets(info); }
  XGBGPU_BEFORE_300(void UpdateTreeLeaf(XgbPositions const& positions, xgboost::MetaInfo const& info,
                                        xgboost::HostDeviceVector<float> const& margins,
                                        xgboost::RegTree* tree) const final {
    SetLeaves({positions, info, margins},
              [&](LeafRows const& rows) { stock()->UpdateTreeLeaf(rows.positions, rows.info, rows.margins, tree); });
  })
  XGBGPU_SINCE_300(XGBGPU_BEFORE_304(void UpdateTreeLeaf(XgbPositions const& positions, xgboost::MetaInfo const& info,
                                                         float learning_rate,
                                                         xgboost::HostDeviceVector<float> const& margins,
                                                         XgbGroup group, xgboost::RegTree* tree) const final {
    SetLeaves({positions, info, margins}, [&](LeafRows const& rows) {
      stock()->UpdateTreeLeaf(rows.positions, rows.info, learning_rate, rows.margins, group, tree);
    });
  }))

  /// The learner's context, as it was when XGBoost configured the objective last; null before. Any thread may ask.
  XgbContext const* configured_context() const { return configured_context_; }
  /// Returns how the engine sets leaves of an objective that sets them; kCaller if it does not have the objective.
  virtual LeafRule leaf_rule() const = 0;
  /// Returns [outputs] the quantiles that leaves become by LeafRule::kQuantiles.
  virtual std::vector<float> leaf_alphas() const = 0;

 protected:
  /// Has the stock objective compute gradients of margins, for labels and weights.
  using StockGradients =
      std::function<void(xgboost::HostDeviceVector<float> const&, xgboost::MetaInfo const&, XgbGradientMatrix*)>;
  /// Has the stock objective estimate the base score from labels and weights, with a number of threads; 0: the
  /// learner's.
  using StockEstimate = std::function<void(xgboost::MetaInfo const&, int threads)>;

  /// Inputs for setting leaves: leaf, label and margins of each row.
  struct LeafRows {
    XgbPositions const& positions;
    xgboost::MetaInfo const& info;
    xgboost::HostDeviceVector<float> const& margins;
  };
  /// Has the stock objective set the leaves of a tree.
  using StockLeaves = std::function<void(LeafRows const&)>;

  /// The learner's context; null before XGBoost has set it.
  XgbContext const* context() const { return ctx_; }

  /// Is called before newly set parameters are taken. If it throws, they are not taken.
  virtual void CheckParams(xgboost::Args const& args) const = 0;
  /// Is called after parameters were set.
  virtual void ParamsChanged(xgboost::Args const& args) = 0;
  /// Is called after a saved configuration was loaded.
  virtual void ConfigLoaded(xgboost::Json const& config) = 0;
  /// Adds to a configuration of the stock objective that is to be saved.
  virtual void AddToConfig(xgboost::Json* config) const = 0;
  /// Writes the gradients of `margins`.
  virtual void ComputeGradients(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info,
                                XgbGradientMatrix* out, StockGradients const& by_stock) = 0;
  /// Transforms margins in place into the predictions that metrics read.
  virtual void TransformForMetrics(xgboost::HostDeviceVector<float>* predictions, StockCall const& by_stock) = 0;
  /// Estimates the base score of data with labels and weights `info`.
  virtual void EstimateBaseScore(xgboost::MetaInfo const& info, StockEstimate const& by_stock) const = 0;
  /// Sets the leaves of a tree from the rows in them.
  virtual void SetLeaves(LeafRows const& rows, StockLeaves const& by_stock) const = 0;
  /// Returns true while stock code must not set the leaves of the trees in the making.
  virtual bool LeavesAreDone() const = 0;

 private:
  /// Returns the stock objective with XGBoost's context. XGBoost sets the context of the wrapper only, after its
  /// construction.
  xgboost::ObjFunction* stock() const;
  void EstimateBy(int threads, xgboost::MetaInfo const& labels, xgboost::linalg::Tensor<float, 1>* base_score) const;

  std::unique_ptr<xgboost::ObjFunction> stock_;
  std::atomic<XgbContext const*> configured_context_{nullptr};
  Listing<XgbObjective> listing_{this};
};

/// True if objectives of this series estimate base scores from labels. In earlier ones medians alone do.
constexpr bool kEstimatesFromLabels = kSeries >= 200;

/// Returns true if the learner with this context has a decorated objective. It asks for the margins and predictions
/// that it needs. An objective registered after this library was loaded may not be decorated: it looks for margins and
/// predictions on the host.
bool IsDecorated(XgbContext const* ctx);

/// Returns what sets the leaves of trees for `objective`, which is null if the user computes gradients. Medians and
/// quantiles are known of a decorated objective.
LeafRule LeafRuleOf(xgboost::ObjFunction const* objective);
/// Returns [outputs] the quantiles that leaves become by LeafRule::kQuantiles.
std::vector<float> LeafAlphasOf(xgboost::ObjFunction const* objective);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_OBJECTIVE_H_
