/// The matrix that stands for another one in a prediction.
#ifndef XGBGPU_PLUGIN_BOOSTER_PREDICTION_SOURCE_H_
#define XGBGPU_PLUGIN_BOOSTER_PREDICTION_SOURCE_H_

#include <xgboost/data.h>

#include <memory>

#include "booster/learner_view.h"
#include "matrix/binned_values.h"
#include "params/booster_config.h"
#include "xgb/types.h"
#include "xgbgpu/data_key.h"

namespace xgbgpu::plugin {

/// Chooses the matrix that a prediction reads. Several threads may use it.
class PredictionSource {
 public:
  PredictionSource(LearnerView const& learner, BoosterConfig const& config) : learner_{learner}, config_{config} {}

  /// True if a prediction of `data` reads bins: a QuantileDMatrix without values of its own. Stock methods read the
  /// bins of every QuantileDMatrix, as without this library.
  bool ReadsBins(xgboost::DMatrix const& data) const;
  /// Returns the matrix of values to read in the place of `data`; null: read `data`. There is one for a QuantileDMatrix
  /// that holds values, or if making values saves time (`for_device`: a device reads them). There is one for a matrix
  /// that holds rows and is read once: XGBoost then keeps no page of its own.
  std::shared_ptr<xgboost::DMatrix> Choose(xgboost::DMatrix* data, XgbCache const& out, bool for_device);

  /// Returns the values that are kept for the QuantileDMatrix `key`, or null.
  std::shared_ptr<xgboost::DMatrix> FindValues(DataKey const& key) { return binned_values_.Find(key); }
  /// Frees the values that are kept for the QuantileDMatrix `key`.
  void DropValues(DataKey const& key) { binned_values_.Drop(key); }
  /// Frees the values of matrices that are gone.
  void DropExpired() { binned_values_.DropExpired(); }

 private:
  std::shared_ptr<xgboost::DMatrix> ValuesOfHeldRows(xgboost::DMatrix* data) const;

  LearnerView const& learner_;
  BoosterConfig const& config_;
  BinnedValues binned_values_;  ///< of QuantileDMatrices that are evaluated and have no rows on a device
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_PREDICTION_SOURCE_H_
