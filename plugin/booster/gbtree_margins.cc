// Serves the margins of a gbtree from rows whose margins advance on a device.
#include "booster/gbtree_margins.h"

#include <mutex>
#include <utility>

#include "call/call_state.h"
#include "errors/boundary.h"
#include "matrix/matrix_rows.h"
#include "xgb/objective.h"
#include "xgb/owner.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

void GBTreeMargins::PredictNow(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  bool const is_served =
      AreAll(rounds) && config().OwnsRounds() && AtBoundary("predicting", [&] {
        return (training && DeferBase(*data, *out)) || ServeTraining(data, out) || ServeEvaluation(data, out);
      });
  if (!is_served) prediction().PredictMargins(data, out, training, rounds);
}

bool GBTreeMargins::ReadyOnDevice(Training* training, LastPrediction const& /*last*/) {
  return AreCurrent(training->own);
}

KeptRows const* GBTreeMargins::RowsOf(LastPrediction const& last) {
  Training const* const training = trainings().FindMargins(KeyOf(last.data, *last.cache), learner().rounds());
  return training == nullptr ? nullptr : &training->own;
}

/// True if the margins of `kept` are the model's. Before the first round XGBoost takes margins from the matrix, each
/// time anew: they may have been set.
bool GBTreeMargins::AreCurrent(KeptRows const& kept) const {
  return kept.rows != nullptr && kept.rounds == learner().rounds() && learner().rounds() > 0;
}

/// Returns true before the first round if all margins are the base score and are computed later, if the objective asks
/// for them. XGBoost's cache stays empty until then.
bool GBTreeMargins::DeferBase(xgboost::DMatrix const& data, XgbCache const& out) const {
  bool const defers = learner().rounds() == 0 && CurrentApiCall() == ApiCall::kUpdate && out.predictions.Size() == 0 &&
                      data.Info().base_margin_.Size() == 0 && IsDecorated(learner().context());
  LastPrediction::OfThisThread().is_base = defers;
  return defers;
}

/// Returns true if a training's own rows have the margins of `data`. They come to `out` if XGBoost's caller may look
/// there.
bool GBTreeMargins::ServeTraining(xgboost::DMatrix* data, XgbCache* out) {
  Training* const training = trainings().FindMargins(KeyOf(data, *out), learner().rounds());
  if (training == nullptr || !AreCurrent(training->own)) return false;
  {
    // After the first round of a forest, XGBoost's first prediction begins with the matrix's own margins, which may
    // have been set.
    std::lock_guard<std::mutex> lock{mutex_};
    bool const is_first = std::exchange(training->own.of_forest, false) && learner().rounds() == 1;
    if (is_first && data->Info().base_margin_.Size() != 0) {
      training->own.rounds.reset();
      return false;
    }
  }
  ApiCall const call = CurrentApiCall();
  if (call == ApiCall::kEvaluate && IsDecorated(learner().context())) {
    LastPrediction::OfThisThread().kept = &training->own;
    return true;
  }
  if (call == ApiCall::kUpdate && IsDecorated(learner().context())) return true;
  try {
    Copy(training->own, out);
    return true;
  } catch (DeviceError const&) {
    if (call == ApiCall::kUpdate) throw;
    training->own.rounds.reset();  // in a process forked from this one, for instance: the host can predict anew
    Clear(out);
    return false;
  }
}

/// Does the same for a matrix that is evaluated beside the training. One that comes for the first time is predicted
/// anew, and its rows go to the device for the next rounds.
bool GBTreeMargins::ServeEvaluation(xgboost::DMatrix* data, XgbCache* out) {
  Training* const training = trainings().Newest();
  bool const evaluates = CurrentApiCall() == ApiCall::kEvaluate;
  std::uint32_t const rounds = learner().rounds();
  if (training == nullptr || rounds == 0 || host_sets_leaves_) return false;
  DataKey const key = KeyOf(data, *out);
  // A training matrix whose margins are not on a device (the user's objective) has them in XGBoost's cache.
  if (trainings().TrainingOf(key) != nullptr) return false;
  KeptRows* kept = nullptr;
  {
    std::lock_guard<std::mutex> lock{mutex_};
    kept = training->Advance(key, rounds);
  }
  if (kept != nullptr && evaluates && IsDecorated(learner().context())) {
    Clear(out);
    LastPrediction::OfThisThread().kept = kept;
    return true;
  }
  if (kept != nullptr) {
    Copy(*kept, out);
    return true;
  }
  if (!evaluates) return false;
  prediction().PredictMargins(data, out, false, {0, 0});
  auto const of_bins = source().FindValues(key);
  xgboost::DMatrix* const values = source().ReadsBins(*data) ? of_bins.get() : data;
  if (values == nullptr) return true;  // there are no values to keep on the device
  auto recoding = prediction().RecodingOf(*data);
  if (!recoding) return true;
  bool const is_admitted = training->Admit(key, DMatrixRows{values, std::move(*recoding)},
                                           out->predictions.ConstHostVector(), learner().outputs(), rounds);
  if (is_admitted) source().DropValues(key);
  return true;
}

}  // namespace xgbgpu::plugin
