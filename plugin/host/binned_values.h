/// The values that predictors see in a QuantileDMatrix.
///
/// Stock predictors take one value after the other out of the bins, by columns: several times the work of a tree for
/// every round that an evaluation set advances, and for columns that are mostly missing a search through the whole
/// column for each row. All at once and by rows they cost less than one such round, and a device can take them.
#ifndef XGBGPU_PLUGIN_BINNED_VALUES_H_
#define XGBGPU_PLUGIN_BINNED_VALUES_H_

#include <xgboost/data.h>

#include <memory>
#include <mutex>
#include <vector>

namespace xgbgpu::plugin {

/// `data`, a QuantileDMatrix (IsBinned), as a DMatrix of the values that stock predictors make of its bins: their lower
/// ends. Labels, weights and margins are those of `data`, which must outlive it. Only rows can be read from it.
///
/// Null if XGBoost does not give the values away as its predictors see them: for rows whose columns were not in order
/// (then a value is under another column), and for bins without an end (of infinite values).
///
/// Cost  8 bytes of memory for each value and row; one thread of the host, some nanoseconds a value
std::shared_ptr<xgboost::DMatrix> ValuesOfBins(xgboost::DMatrix* data, int threads);

/// One booster's matrices of this kind that are evaluated or a dart is trained on. May be used by several threads.
class BinnedValues {
 public:
  /// ValuesOfBins, of matrix `data`, made once and kept while it lives.
  std::shared_ptr<xgboost::DMatrix> Keep(std::shared_ptr<xgboost::DMatrix> const& data, int threads);
  /// What is kept of it, or null.
  std::shared_ptr<xgboost::DMatrix> Find(xgboost::DMatrix const* data);
  void Drop(xgboost::DMatrix const* data);
  /// Frees the values of matrices that are gone.
  void DropExpired();

 private:
  struct Kept {
    std::weak_ptr<xgboost::DMatrix> owner;
    std::shared_ptr<xgboost::DMatrix> values;  ///< null: there are none
  };
  Kept* FindLocked(xgboost::DMatrix const* data);

  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BINNED_VALUES_H_
