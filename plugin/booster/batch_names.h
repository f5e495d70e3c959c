/// Names of categories in the batches of a matrix. XGBoost takes the names of the first batch, and the
/// codes of all batches.
#ifndef XGBGPU_PLUGIN_BOOSTER_BATCH_NAMES_H_
#define XGBGPU_PLUGIN_BOOSTER_BATCH_NAMES_H_

#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <cstdint>
#include <string>

#include "booster/category_names.h"
#include "call/call_state.h"

namespace xgbgpu::plugin {

/// Compares the names of each batch with the names of the first one while XGBoost makes a matrix of them.
class BatchNames {
 public:
  explicit BatchNames(DMatrixHandle proxy) : proxy_{proxy}, scope_{this} {}
  BatchNames(BatchNames const&) = delete;
  BatchNames& operator=(BatchNames const&) = delete;

  /// Returns the newest object of this thread if `proxy` belongs to it, else null.
  static BatchNames* Of(DMatrixHandle proxy);

  /// The caller has set the next batch, a table of columns (JSON) that XGBoost has read. XGBoost passes over all
  /// batches from the first one on, once or more.
  void Add(char const* columns);
  /// Notes the findings in `made`, the matrix that was made of the batches (matrix/coded_matrices.h).
  void NoteIn(xgboost::DMatrix const& made) const;

 private:
  DMatrixHandle proxy_;
  std::uint64_t batches_{0};
  CategoryNames first_;
  bool first_has_reference_{false};
  std::string why_mixed_;  ///< empty: no batch was unlike the first one
  CallScope<&CallState::batch_names> scope_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_BATCH_NAMES_H_
