/// The values of QuantileDMatrices that a booster predicts again and again.
#ifndef XGBGPU_PLUGIN_MATRIX_BINNED_VALUES_H_
#define XGBGPU_PLUGIN_MATRIX_BINNED_VALUES_H_

#include <xgboost/data.h>

#include <memory>
#include <mutex>
#include <vector>

#include "xgbgpu/data_key.h"

namespace xgbgpu::plugin {

/// Keeps values of a booster's matrices: evaluated ones, and the training matrix of a dart. Several threads may use it.
class BinnedValues {
 public:
  /// Returns ValuesOfBins (value_matrix.h) of `data`, whose key is `key`. They are made once, and kept while it lives.
  std::shared_ptr<xgboost::DMatrix> Keep(DataKey const& key, xgboost::DMatrix* data, int threads);
  /// Returns the values kept for the matrix with this key, or null.
  std::shared_ptr<xgboost::DMatrix> Find(DataKey const& key);
  void Drop(DataKey const& key);
  /// Frees the values of matrices that are gone.
  void DropExpired();

 private:
  struct Kept {
    DataKey key;
    std::shared_ptr<xgboost::DMatrix> values;  ///< null: there are none
  };
  Kept* FindLocked(DataKey const& key);

  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_BINNED_VALUES_H_
