// Decides whether a prediction reads a matrix itself, the values that it holds, or values made from its bins.
#include "booster/prediction_source.h"

#include <new>
#include <utility>

#include "call/call_state.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "matrix/value_matrix.h"
#include "xgb/owner.h"
#include "xgbgpu/device_prediction.h"

namespace xgbgpu::plugin {

bool PredictionSource::ReadsBins(xgboost::DMatrix const& data) const {
  return config_.InCharge() ? HasBinsOnly(data) : IsBinned(data);
}

std::shared_ptr<xgboost::DMatrix> PredictionSource::Choose(xgboost::DMatrix* data, XgbCache const& out,
                                                           bool for_device) {
  std::uint32_t const rounds = learner_.rounds();
  if (!(config_.InCharge() || for_device) || rounds == 0) return nullptr;
  if (!IsBinned(*data)) return ValuesOfHeldRows(data);
  if (!ReadsBins(*data)) return ValuesOf(data, AsHeldBins(data)->rows(), learner_.threads());
  // An evaluated matrix comes again in the next round, and so does the training matrix of a dart.
  ApiCall const call = CurrentApiCall();
  bool const comes_again = call == ApiCall::kEvaluate || (call == ApiCall::kUpdate && learner_.drops_trees());
  bool const is_worthwhile =
      !data->IsDense() || (for_device && DevicePrediction::IsWorthMakingValues(rounds, data->Info().num_col_));
  try {
    if (comes_again) return binned_values_.Keep(KeyOf(data, out), data, learner_.threads());
    return is_worthwhile ? ValuesOfBins(data, learner_.threads()) : nullptr;
  } catch (std::bad_alloc const&) {
    return nullptr;  // stock's predictor needs no memory for them
  }
}

/// Returns null for darts, which read all rows for each tree, and inside XGBoost's functions that update and evaluate,
/// because evaluations come again: XGBoost's page serves both better.
std::shared_ptr<xgboost::DMatrix> PredictionSource::ValuesOfHeldRows(xgboost::DMatrix* data) const {
  HeldMatrix const* const held = AsHeld(data);
  if (held == nullptr || learner_.is_dart() || CurrentApiCall() != ApiCall::kOther) return nullptr;
  auto rows = held->rows();
  return rows == nullptr ? nullptr : ValuesOf(data, std::move(rows), learner_.threads());
}

}  // namespace xgbgpu::plugin
