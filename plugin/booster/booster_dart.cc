/// Rounds of a dart, whose margins are made anew in every round, of other trees. docs/adr/0015-dart-rounds.md
#include <optional>

#include "base/message.h"
#include "booster/booster.h"
#include "errors/boundary.h"
#include "matrix/adapt_input.h"
#include "matrix/matrix_rows.h"
#include "xgb/api_call.h"
#include "xgb/objective.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

void Booster::PredictDart(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  bool const ours = OwnsRounds();
  if (!ours && training) dart_.Forget();
  if (ours && training) AtBoundary("drawing trees to drop", [&] { dart_.Draw(); });
  bool const all_rounds = rounds.first == 0 && (rounds.last == 0 || rounds.last == Rounds());
  bool const served =
      ours && all_rounds && Rounds() > 0 && AtBoundary("predicting", [&] { return ServeDart(data, out, training); });
  if (served) return;
  if (!ours || !training) {
    PredictAnew(data, out, training, rounds);
    return;
  }
  auto const values = AtBoundary("predicting", [&] { return ToPredictFrom(data, *out, false); });
  stock_dart_.PredictWithout(dart_.drawn(), values == nullptr ? data : values.get(), out, rounds.first, rounds.last);
}

bool Booster::ServeDart(xgboost::DMatrix* data, XgbCache* out, bool training) {
  KeptRows* kept = nullptr;
  try {
    std::lock_guard<std::mutex> lock{margins_mutex_};
    kept = DartRows(data, *out);
    if (kept == nullptr || kept->no_room) return false;
    DartShape const model = Shape();
    if (!CompleteColumns(model, BaseMarginsOf(data->Info(), *model_), KnownEpoch(),
                         RecorderOf(data, *out, model, *kept), trainers_.Newest(), kept)) {
      return false;
    }
    kept->columns()->WeighColumns(training ? dart_.drawn() : dart_.all());
    bool const stays = CurrentApiCall() == (training ? ApiCall::kUpdate : ApiCall::kEvaluate) && IsDecorated(ctx_);
    if (kept->rows != nullptr && stays) {
      Clear(out);
      LastPrediction().kept = kept;
      return true;
    }
    auto& margins = out->predictions.HostVector();
    out->version = 0;
    margins.resize(kept->columns()->rows() * kept->columns()->outputs());
    kept->columns()->CopyMargins(margins);
    out->version = Rounds() - 1;  // as stock code leaves it
    return true;
  } catch (DeviceError const&) {
    if (kept != nullptr) kept->rounds.reset();  // margins may be half made
    if (CurrentApiCall() == ApiCall::kUpdate) throw;
    Clear(out);
    return false;
  }
}

KeptRows* Booster::DartRows(xgboost::DMatrix* data, XgbCache const& out) {
  Training* const newest = trainers_.Newest();
  if (newest == nullptr) return nullptr;
  DataKey const key = KeyOf(data, out);
  if (Training* const training = trainers_.TrainingOf(key)) {
    // Another one may make room for a third while margins wait to be asked for.
    bool const is_there = training == newest && training->own.columns() != nullptr;
    return is_there && training->own.columns()->has_columns() ? &training->own : nullptr;
  }
  KeptRows* const evaluated = newest->Evaluated(key);
  if (evaluated != nullptr || CurrentApiCall() != ApiCall::kEvaluate) return evaluated;
  auto const of_bins = ToPredictFrom(data, out, false);
  xgboost::DMatrix* const values = ReadsBins(*data) ? of_bins.get() : data;
  std::optional<DMatrixRows> rows;
  if (values != nullptr) rows.emplace(values);
  return newest->AddEvaluated(key, rows ? &*rows : nullptr, data->Info().num_row_, model_->num_output_group);
}

DartShape Booster::Shape() { return {Rounds(), dart_.all().size(), model_->num_output_group}; }

RecordColumns Booster::RecorderOf(xgboost::DMatrix* data, XgbCache const& out, DartShape const& model,
                                  KeptRows const& kept) {
  return [this, data, &out, &model, &kept](std::uint32_t first, LeafColumns* columns) {
    auto const values = ToPredictFrom(data, out, false);
    bool const complete =
        stock_dart_.Record(model, ctx_->Threads(), values == nullptr ? data : values.get(), first, columns);
    if (kept.rows != nullptr) binned_values_.Drop(KeyOf(data, out));  // from now on trees have columns as they grow
    return complete;
  };
}

void Booster::EndDartRound(Training* training, std::optional<std::uint32_t> columns_of) {
  training->own.rounds = columns_of && !changed_on_host_ ? Rounds() : columns_of;
  if (OwnsRounds()) {
    dart_.RoundIsOver(Rounds());
  } else {
    dart_.Forget();
  }
}

bool Booster::HasColumns(Training* training, xgboost::DMatrix* data, XgbCache const& cache) {
  if (training->own.no_room) return false;
  std::lock_guard<std::mutex> lock{margins_mutex_};
  DartShape const model = Shape();
  return CompleteOwnColumns(model, BaseMarginsOf(data->Info(), *model_), KnownEpoch(),
                            RecorderOf(data, cache, model, training->own), training);
}

}  // namespace xgbgpu::plugin
