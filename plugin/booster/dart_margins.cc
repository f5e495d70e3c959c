// Serves the margins of a dart from leaf columns. For each round it completes the columns and sums them with weights.
#include "booster/dart_margins.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include "call/call_state.h"
#include "call/info_epoch.h"
#include "errors/boundary.h"
#include "matrix/matrix_rows.h"
#include "xgb/objective.h"
#include "xgb/owner.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Returns the numbers of the trees of weight 0, as a text.
std::string DroppedTrees(std::vector<float> const& weights) {
  std::string text;
  for (std::size_t tree = 0; tree < weights.size(); ++tree) {
    if (weights[tree] == 0.0f) text += (text.empty() ? "" : ",") + std::to_string(tree);
  }
  return text;
}

}  // namespace

void DartMargins::PredictNow(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  bool const ours = config().OwnsRounds();
  if (!ours && training) weights_.Forget();
  if (ours && training) AtBoundary("drawing trees to drop", [&] { weights_.Draw(); });
  bool const is_served = MayHaveColumns() && AreAll(rounds) && learner().rounds() > 0 &&
                         AtBoundary("predicting", [&] { return Serve(data, out, training); });
  if (is_served) return;
  if (!ours || !training) {
    prediction().PredictMargins(data, out, training, rounds);
    return;
  }
  auto const values = AtBoundary("predicting", [&] { return source().Choose(data, *out, false); });
  stock_dart_.PredictWithout(weights_.drawn(), values == nullptr ? data : values.get(), out, rounds.first, rounds.last);
}

/// Returns false for trees of vectors: a column is of one output.
bool DartMargins::MayHaveColumns() const {
  return config().OwnsRounds() && !learner().has_vector_leaves() && !learner().grows_vector_leaves();
}

/// Predicts all rounds, if `training` without the trees that were drawn last. Returns false if stock code has to.
bool DartMargins::Serve(xgboost::DMatrix* data, XgbCache* out, bool training) {
  KeptRows* kept = nullptr;
  try {
    std::lock_guard<std::mutex> lock{mutex_};
    kept = FindRows(data, *out);
    if (kept == nullptr || kept->no_room) return false;
    DartShape const model = Shape();
    if (!CompleteColumns(model, learner().BaseMarginsFor(data->Info()), KnownEpoch(),
                         MakeRecorder(data, *out, model, *kept), trainings().Newest(), kept)) {
      return false;
    }
    kept->columns()->WeighColumns(training ? weights_.drawn() : weights_.all());
    bool const stays =
        CurrentApiCall() == (training ? ApiCall::kUpdate : ApiCall::kEvaluate) && IsDecorated(learner().context());
    if (kept->rows != nullptr && stays) {
      Clear(out);
      LastPrediction::OfThisThread().kept = kept;
      return true;
    }
    auto& margins = out->predictions.HostVector();
    out->version = 0;
    margins.resize(kept->columns()->rows() * kept->columns()->outputs());
    kept->columns()->CopyMargins(margins);
    out->version = learner().CacheVersion(learner().rounds());
    return true;
  } catch (DeviceError const&) {
    if (kept != nullptr) kept->rounds.reset();  // margins may be half made
    if (CurrentApiCall() == ApiCall::kUpdate) throw;
    Clear(out);
    return false;
  }
}

/// Returns the rows whose columns serve predictions of `data`, or null. They may have no columns yet.
KeptRows* DartMargins::FindRows(xgboost::DMatrix* data, XgbCache const& out) {
  Training* const newest = trainings().Newest();
  if (newest == nullptr) return nullptr;
  DataKey const key = KeyOf(data, out);
  if (Training* const training = trainings().TrainingOf(key)) {
    // Margins may wait to be asked for while a third training takes the place of the older one.
    bool const is_there = training == newest && training->own.columns() != nullptr;
    return is_there && training->own.columns()->has_columns() ? &training->own : nullptr;
  }
  KeptRows* const evaluated = newest->Evaluated(key);
  if (evaluated != nullptr || CurrentApiCall() != ApiCall::kEvaluate) return evaluated;
  auto recoding = prediction().RecodingOf(*data);
  auto const of_bins = source().Choose(data, out, false);
  xgboost::DMatrix* const values = source().ReadsBins(*data) ? of_bins.get() : data;
  std::optional<DMatrixRows> rows;
  if (values != nullptr && recoding) rows.emplace(values, std::move(*recoding));
  return newest->AddEvaluated(key, rows ? &*rows : nullptr, data->Info().num_row_, learner().outputs());
}

/// Returns the function that records columns for the rows `kept` of `data`.
RecordColumns DartMargins::MakeRecorder(xgboost::DMatrix* data, XgbCache const& out, DartShape const& model,
                                        KeptRows const& kept) {
  return [this, data, &out, &model, &kept](std::uint32_t first, LeafColumns* columns) {
    auto const values = source().Choose(data, out, false);
    bool const complete =
        stock_dart_.Record(model, learner().threads(), values == nullptr ? data : values.get(), first, columns);
    if (kept.rows != nullptr) source().DropValues(KeyOf(data, out));  // from now on trees have columns as they grow
    return complete;
  };
}

/// Completes the columns of the training's own rows. Returns true if they are complete then.
bool DartMargins::CompleteTraining(Training* training, xgboost::DMatrix* data, XgbCache const& cache) {
  if (!MayHaveColumns() || training->own.no_room) return false;
  std::lock_guard<std::mutex> lock{mutex_};
  DartShape const model = Shape();
  return CompleteOwnColumns(model, learner().BaseMarginsFor(data->Info()), KnownEpoch(),
                            MakeRecorder(data, cache, model, training->own), training);
}

bool DartMargins::ReadyOnDevice(Training* training, LastPrediction const& last) {
  if (!last.training || !CompleteTraining(training, last.data, *last.cache)) return false;
  training->own.rows->WeighColumns(weights_.drawn());
  return true;
}

void DartMargins::BeginRound(Training* training, xgboost::DMatrix* data, XgbCache const& cache, bool host_sets_leaves,
                             RoundOrder* order) {
  Margins::BeginRound(training, data, cache, host_sets_leaves, order);
  rounds_with_columns_.reset();
  if (CompleteTraining(training, data, cache)) {
    rounds_with_columns_ = ReserveRound(training, order->iteration);
  }
  order->adds_columns = rounds_with_columns_ && !host_sets_leaves;  // leaves that are yet to change are recorded later
}

void DartMargins::EndRound(Training* training) {
  std::uint32_t const rounds = learner().rounds();
  training->own.rounds = rounds_with_columns_ && !host_sets_leaves_ ? rounds : rounds_with_columns_;
  if (config().OwnsRounds()) {
    weights_.RoundIsOver(rounds);
  } else {
    weights_.Forget();
  }
}

std::vector<Fact> DartMargins::SharedFacts() const {
  return {{"list of dropped trees", DroppedTrees(weights_.drawn())}};
}

void DartMargins::ForgetTrees() {
  Margins::ForgetTrees();
  weights_.Forget();
}

}  // namespace xgbgpu::plugin
