// Predicts margins, keeps XGBoost's caches honest, and brings margins to the host when they are read there.
#include "booster/margins.h"

#include <cstddef>
#include <utility>

#include "call/info_epoch.h"
#include "errors/boundary.h"
#include "matrix/adapt_input.h"
#include "matrix/held_bins.h"
#include "xgb/owner.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

void Margins::Predict(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  HostSpan span{training ? "margins" : "predict"};
  parts_.trace->AttachThread(training);
  AtBoundary("predicting", [&] { prediction().CheckRounds(rounds); });
  LastPrediction& last = LastPrediction::OfThisThread();
  last = {by_, data, out, &out->predictions, nullptr, nullptr, {}, training, false, last.number + 1, {}};
  DropStale(data, out, training);
  PredictNow(data, out, training, rounds);
}

/// Drops margins of `data` that began with other base margins than the model has now. With stock methods they stay, as
/// in stock code.
void Margins::DropStale(xgboost::DMatrix* data, XgbCache* out, bool training) {
  std::lock_guard<std::mutex> lock{mutex_};  // no margins are served between the look and the drop
  if (!HasOwner(data, *out) || (!config().InCharge() && !bases_.any())) return;
  if (learner().rounds() == 0 && !training) {  // without a round, only a training has a base score to compare with
    if (config().InCharge()) Clear(out);
    return;
  }
  DataKey const key = KeyOf(data, *out);
  BaseMargins const base = learner().BaseMarginsFor(data->Info());
  if (!config().InCharge()) {
    if (AsHeldBins(data) != nullptr) {
      bases_.Forget(key);  // a stock method predicts these rows from their bins, and gpu_hist from their values
    } else {
      bases_.LeaveToXGBoost(key, base, KnownEpoch());
    }
    return;
  }
  auto const stale = bases_.Begin(key, base, KnownEpoch(), out);
  if (stale.cached) Clear(out);
  if (stale.kept) trainings().ForgetMargins();
}

void Margins::FillLast() {
  LastPrediction& last = LastPrediction::OfThisThread();
  if (std::exchange(last.is_base, false)) {
    prediction().PredictMargins(last.data, last.cache, last.training, {0, 0});
    return;
  }
  if (KeptRows const* const kept = RowsOf(last)) Copy(*kept, last.cache);
}

void Margins::Copy(KeptRows const& kept, XgbCache* out) {
  std::lock_guard<std::mutex> lock{mutex_};
  auto& margins = out->predictions.HostVector();
  std::size_t const size = kept.rows->rows() * kept.rows->outputs();
  if (!learner().drops_trees() && out->version == kept.rounds && margins.size() == size) return;
  out->version = 0;
  margins.resize(size);
  kept.rows->CopyMargins(margins);
  out->version = learner().CacheVersion(*kept.rounds);
}

Span<float const> Margins::OnHost(xgboost::DMatrix* data, XgbCache* cache) {
  DropStale(data, cache, true);
  bool const are_missing = cache->predictions.Size() == 0 && data->Info().num_row_ != 0;
  // A dart's cache lacks the trees that were dropped, and has no version.
  if (are_missing || (!learner().drops_trees() && cache->version != learner().rounds()))
    Predict(data, cache, false, {0, 0});
  return cache->predictions.ConstHostVector();
}

void Margins::BeginRound(Training* training, xgboost::DMatrix* /*data*/, XgbCache const& /*cache*/,
                         bool host_sets_leaves, RoundOrder* order) {
  host_sets_leaves_ = host_sets_leaves;
  order->keeps_trees = config().OwnsRounds() && !host_sets_leaves && training->EvaluatesOnDevice();
}

void Margins::ForgetTrees() {
  trainings().ForgetMargins();
  prediction().Forget();
}

void Margins::ForgetModel() {
  ForgetTrees();
  bases_.Forget();
}

}  // namespace xgbgpu::plugin
