/// Rounds of a dart, whose margins are made anew in every round, of other trees. docs/adr/0015-dart-rounds.md
#include <xgboost/generic_parameters.h>
#include <xgboost/learner.h>

#include <utility>

#include "adapt_input.h"
#include "api_call.h"
#include "booster.h"
#include "boundary.h"
#include "core/message.h"
#include "dart_columns.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

void Booster::CheckDartRounds(unsigned layer_end) const {
  if (kind_ != Kind::kDart || layer_end <= Rounds()) return;
  Throw<InvalidArgument>("iteration_range ends at ", layer_end, "; allowed: at most ", Rounds(),
                         ", the rounds of the model");
}

void Booster::PredictDart(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training,
                          unsigned layer_begin, unsigned layer_end) {
  AtBoundary("predicting", [&] { CheckDartRounds(layer_end); });
  bool const ours = OwnsRounds();
  if (!ours && training) dart_.Forget();
  if (ours && training) AtBoundary("drawing trees to drop", [&] { dart_.Draw(); });
  bool const all_rounds = layer_begin == 0 && (layer_end == 0 || layer_end == Rounds());
  bool const served =
      ours && all_rounds && Rounds() > 0 && AtBoundary("predicting", [&] { return ServeDart(data, out, training); });
  if (served) return;
  if (!ours || !training) {
    PredictAnew(data, out, training, layer_begin, layer_end);
    return;
  }
  auto const values = AtBoundary("predicting", [&] { return ToPredictFrom(data, *out, false); });
  PredictWithout(dart_.drawn(), inner_.get(), values == nullptr ? data : values.get(), out, layer_begin, layer_end);
}

bool Booster::ServeDart(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training) {
  Resident* resident = nullptr;
  try {
    std::lock_guard<std::mutex> lock{margins_mutex_};
    resident = DartRows(data, *out);
    if (resident == nullptr || !Complete(data, *out, resident)) return false;
    resident->columns()->WeighColumns(training ? dart_.drawn() : dart_.all());
    bool const stays = training ? CurrentApiCall() == ApiCall::kUpdate && !must_fill_.exchange(false)
                                : CurrentApiCall() == ApiCall::kEvaluate && knows_objective_;
    if (resident->rows != nullptr && stays) {
      Clear(out);
      LastPrediction().resident = resident;
      return true;
    }
    auto& margins = out->predictions.HostVector();
    out->version = 0;
    margins.resize(resident->columns()->rows() * resident->columns()->outputs());
    resident->columns()->CopyMargins(margins);
    out->version = Rounds() - 1;  // as stock code leaves it
    return true;
  } catch (DeviceError const&) {
    if (resident != nullptr) resident->rounds.reset();  // margins may be half made
    if (CurrentApiCall() == ApiCall::kUpdate) throw;
    Clear(out);
    return false;
  }
}

Resident* Booster::DartRows(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& out) {
  Training* const newest = trainers_.Newest();
  if (newest == nullptr) return nullptr;
  if (Training* const training = trainers_.TrainingOf(data)) {
    // Another one may make room for a third while margins wait to be asked for.
    bool const is_there = training == newest && training->own.columns() != nullptr;
    return is_there && training->own.columns()->has_columns() ? &training->own : nullptr;
  }
  Resident* const evaluated = newest->Evaluated(data);
  if (evaluated != nullptr || CurrentApiCall() != ApiCall::kEvaluate) return evaluated;
  auto const values = ToPredictFrom(data, out, false);
  return newest->AddEvaluated(OwnerOf(data, out), IsBinned(*data) ? values.get() : data, model_->num_output_group);
}

bool Booster::Complete(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& out, Resident* resident) {
  if (resident->no_room) return false;
  DartTrees const model{inner_.get(), Rounds(), dart_.all().size(), model_->num_output_group, ctx_->Threads()};
  LeafColumns& columns = *resident->columns();
  float const score = model_->BaseScore(xgboost::GenericParameter::kCpuId)(0);
  auto const of_rounds = std::exchange(resident->rounds, std::nullopt);
  bool const anew = !columns.has_columns() || !of_rounds || *of_rounds > model.rounds ||
                    columns.columns() != *of_rounds * model.per_round() || !resident->base.IsOf(data->Info(), score);
  try {
    if (!anew && *of_rounds != model.rounds) {
      resident->rounds = of_rounds;
      trainers_.Newest()->AddKept(resident, model.rounds);
      resident->rounds.reset();
    }
    bool complete = !anew && columns.columns() == model.trees;
    if (!complete && model.IsEven()) {
      auto const values = ToPredictFrom(data, out, false);
      complete = RecordColumns(model, values == nullptr ? data : values.get(), anew ? 0 : *of_rounds, &columns);
      if (resident->rows != nullptr) binned_values_.Drop(data);  // from now on trees have columns as they are grown
    }
    if (complete) {
      if (anew) resident->base.Set(data->Info(), score);
      resident->rounds = model.rounds;
      return true;
    }
  } catch (OutOfDeviceMemory const&) {
    // As if there was no room.
  }
  resident->no_room = true;
  columns.EndColumns();
  return false;
}

bool Booster::HasColumns(Training* training, xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& cache) {
  Resident& own = training->own;
  if (own.no_room) return false;
  std::lock_guard<std::mutex> lock{margins_mutex_};
  std::uint32_t const outputs = model_->num_output_group;
  try {
    if (own.columns() == nullptr || own.columns()->outputs() != outputs) {
      training->trainer->Abandon();
      own = {};
      own.rows = training->trainer->MakeResidentRows(outputs);
      if (own.rows == nullptr) own.on_host = host::MakeLeafColumns(data->Info().num_row_, outputs, training->threads);
    }
    return Complete(data, cache, &own);
  } catch (OutOfDeviceMemory const&) {
    own.no_room = true;
    return false;
  }
}

std::optional<std::uint32_t> Booster::BeginDartRound(Training* training, xgboost::DMatrix* data,
                                                     xgboost::PredictionCacheEntry const& cache, Round* round) {
  if (kind_ != Kind::kDart || !OwnsRounds() || !HasColumns(training, data, cache)) return {};
  Resident& own = training->own;
  std::size_t const trees = Rounds() == 0 ? own.columns()->outputs() : own.columns()->columns() / Rounds();
  if (!own.columns()->ReserveColumns(trees)) {
    own.no_room = true;
    own.columns()->EndColumns();
    return {};
  }
  // Leaves that are yet to change are recorded later.
  if (!changed_on_host_) {
    round->keep_leaves = [&own, training](Span<float const> leaves, std::uint32_t output) {
      if (own.on_host == nullptr) {
        training->trainer->AddLeafValues(leaves, own.rows.get(), output);
      } else {
        training->trainer->AddLeafValues(leaves, own.on_host->NextColumn(output).data(), 1);
      }
    };
  }
  return own.rounds;
}

void Booster::EndDartRound(Training* training, std::optional<std::uint32_t> columns_of) {
  training->own.rounds = columns_of && !changed_on_host_ ? Rounds() : columns_of;
  if (OwnsRounds()) {
    dart_.RoundIsOver(Rounds());
  } else {
    dart_.Forget();
  }
}

}  // namespace xgbgpu::plugin
