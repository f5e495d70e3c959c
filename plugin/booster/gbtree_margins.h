/// Margins of a gbtree.
#ifndef XGBGPU_PLUGIN_BOOSTER_GBTREE_MARGINS_H_
#define XGBGPU_PLUGIN_BOOSTER_GBTREE_MARGINS_H_

#include <memory>
#include <utility>

#include "booster/margins.h"

namespace xgbgpu::plugin {

/// Advances margins by the trees of each round, on the device where they lie.
class GBTreeMargins final : public Margins {
 public:
  GBTreeMargins(std::weak_ptr<Booster*> by, MarginParts const& parts) : Margins{std::move(by), parts} {}

  bool ReadyOnDevice(Training* training, LastPrediction const& last) override;

 private:
  void PredictNow(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) override;
  KeptRows const* RowsOf(LastPrediction const& last) override;

  bool AreCurrent(KeptRows const& kept) const;
  bool DeferBase(xgboost::DMatrix const& data, XgbCache const& out) const;
  bool ServeTraining(xgboost::DMatrix* data, XgbCache* out);
  bool ServeEvaluation(xgboost::DMatrix* data, XgbCache* out);
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_GBTREE_MARGINS_H_
