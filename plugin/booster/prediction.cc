// Predicts margins, leaves and contributions for rows that no training keeps.
#include "booster/prediction.h"

#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/buffer.h"
#include "base/host_memory.h"
#include "base/message.h"
#include "booster/category_names.h"
#include "data/array_rows.h"
#include "data/device_arrays.h"
#include "errors/boundary.h"
#include "errors/notice.h"
#include "group/process_group.h"
#include "matrix/adapt_input.h"
#include "matrix/coded_matrices.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "matrix/value_matrix.h"
#include "xgb/pages.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

Prediction::Prediction(LearnerView const& learner, BoosterConfig const& config, PredictionSource* source)
    : learner_{learner},
      config_{config},
      source_{*source},
      on_device_{WarnOnce},
      dart_in_place_{WarnOnce, true},
      explanation_{WarnOnce} {}

void Prediction::Forget() {
  on_host_.Forget();
  on_device_.Forget();
  dart_in_place_.Forget();
  explanation_.Forget();
}

void Prediction::CheckRounds(RoundRange rounds) const {
  std::uint32_t const all = learner_.rounds();
  if (!learner_.is_dart() && (!config_.InCharge() || all == 0)) return;
  // XGBoost takes a negative number of the caller's for a large one.
  auto const first = static_cast<std::int32_t>(rounds.first), last = static_cast<std::int32_t>(rounds.last);
  if (rounds.last > all) {
    Throw<InvalidArgument>("iteration_range ends at ", last, "; allowed: at most ", all, ", the rounds of the model");
  }
  if (!config_.InCharge() || rounds.first <= (rounds.last == 0 ? all : rounds.last)) return;
  Throw<InvalidArgument>("iteration_range begins at ", first, " and ends at ", last,
                         "; allowed: 0 <= begin <= end <= ", all, ", where 0 as the end means all rounds of the model");
}

std::optional<Recoding> Prediction::RecodingOf(xgboost::DMatrix const& data) const {
  auto const of_data = CategoryNames::Of(data);
  if (of_data.none()) return Recoding{};
  try {
    CheckNotMixed(data);
    auto const of_model = CategoryNames::Of(learner_);
    if (of_model.none()) return Recoding{};
    Recoding recoding = of_data.To(of_model);
    if (!recoding.empty() && IsCoded(data)) of_data.CheckGoesOn(of_model);
    return recoding;
  } catch (InvalidArgument const&) {
    if (config_.InCharge()) throw;
    return {};
  }
}

/// Throws InvalidArgument if a column of an in-place prediction has a category that the training did not have.
void Prediction::CheckNames(InPlaceArrays const& arrays) const {
  if (!config_.InCharge() || !arrays.by_columns || arrays.on_device != nullptr) return;
  auto const of_model = CategoryNames::Of(learner_);
  if (of_model.none()) return;
  auto const of_data = CategoryNames::OfColumns(arrays.values);
  if (!of_data.none()) of_data.To(of_model);
}

/// Does what CheckRounds does for a `result` that is defined for the first rounds only. A stock dart would return the
/// result of all rounds up to the last. The range may end behind the last round: SHAP counts its end in trees.
void Prediction::CheckFirstRounds(RoundRange rounds, char const* result) const {
  if (!config_.InCharge()) return;
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  bool const may_be_cut = rounds.last > learner_.rounds() && rounds.last <= kMost;
  CheckRounds({rounds.first, may_be_cut ? 0 : rounds.last});
  if (rounds.first == 0) return;
  Throw<InvalidArgument>("iteration_range begins at ", rounds.first, "; for ", result,
                         " XGBoost supports only iteration end: allowed: (0, end), or predictions of the slice "
                         "booster[begin:end]");
}

void Prediction::CheckHasValues(xgboost::DMatrix const& data, char const* what) const {
  if (!config_.InCharge() || !HasBinsOnly(data)) return;
  Throw<Unsupported>(what,
                     " needs the values of the rows, and the data are a QuantileDMatrix that holds bins alone, as ",
                     "those of batches, of infinite values and of frames with categories do; allowed: a DMatrix, or a ",
                     "QuantileDMatrix of one array");
}

/// Throws InvalidArgument if the model lacks columns of `data`. XGBoost 1.7 has no message for it. 3.0 to 3.3 do not
/// check. Newer versions have refused the data already.
void Prediction::CheckColumns(xgboost::DMatrix const& data, char const* result) const {
  std::uint64_t const columns = data.Info().num_col_;
  if (!config_.InCharge() || columns <= learner_.features()) return;
  Throw<InvalidArgument>("The data have ", columns, " columns, and the model has ", learner_.features(),
                         "; allowed for ", result, ": at most as many columns as the model has");
}

void Prediction::PredictByStock(std::uint64_t rows, std::uint64_t values, std::function<void()> const& predict) const {
  try {
    predict();
  } catch (std::bad_alloc const&) {
    if (!config_.InCharge()) throw;
    std::uint64_t const bytes = rows * learner_.outputs() * values * sizeof(float);
    Throw<dmlc::Error>("xgboost-gpu: out of memory while predicting ", rows, " rows: XGBoost needs at least ", bytes,
                       " bytes for the predictions");
  }
}

void Prediction::ExplainByStock(xgboost::DMatrix* data, std::uint64_t values, StockCallOn const& explain) const {
  HeldBins const* const held = config_.InCharge() ? AsHeldBins(data) : nullptr;
  auto const values_of = held == nullptr ? nullptr : ValuesOf(data, held->rows(), learner_.threads());
  PredictByStock(data->Info().num_row_, values, [&] { explain(values_of == nullptr ? data : values_of.get()); });
}

void Prediction::PredictMargins(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  std::shared_ptr<xgboost::DMatrix> values;
  bool const drops_trees = training && learner_.drops_trees();
  bool const done =
      AtBoundary("predicting", [&] { return PredictMarginsByEngine(data, rounds, drops_trees, out, &values); });
  if (!done) {
    xgboost::DMatrix* const from = values == nullptr ? data : values.get();
    auto const wide = AtBoundary("predicting", [&] { return WithAbsentColumns(from); });
    PredictByStock(data->Info().num_row_, 1, [&] {
      learner_.stock()->PredictBatch(wide == nullptr ? from : wide.get(), out, training, rounds.first, rounds.last);
    });
  }
  if (!config_.InCharge() || CurrentApiCall() == ApiCall::kUpdate) return;
  // XGBoost copies the predictions next. Without room its whole message is "std::bad_alloc".
  AtBoundary("predicting", [&] {
    WithMemoryFor("a copy of the predictions", [&] { Buffer<float> const room{out->predictions.Size()}; });
  });
}

/// Returns `data` as a matrix of all columns of the model, if it has fewer columns and no value is missing in them;
/// null: read `data`. Stock predictors of XGBoost 3.1 and newer treat such rows as complete. At a split by an absent
/// column they send the rows right, whatever side the model has for missing values.
std::shared_ptr<xgboost::DMatrix> Prediction::WithAbsentColumns(xgboost::DMatrix* data) const {
  xgboost::MetaInfo const& info = std::as_const(*data).Info();
  constexpr bool kTakesThemForComplete = kSeries >= 301;
  bool const is_narrow = info.num_col_ < learner_.features() && data->IsDense() && info.num_row_ != 0;
  if (!kTakesThemForComplete || !is_narrow || !config_.InCharge() || learner_.rounds() == 0) return nullptr;
  if (HasPages(*data, PageKind::kRows)) return WithColumns(data, learner_.features());
  Throw<InvalidArgument>(
      "The data have ", info.num_col_, " columns, and the model has ", learner_.features(),
      "; allowed: as many columns as the model has. A DMatrix, or a QuantileDMatrix of one array, may "
      "have fewer");
}

/// Returns false if stock code has to predict. It then reads `*values`, or `data` if that is null.
bool Prediction::PredictMarginsByEngine(xgboost::DMatrix* data, RoundRange rounds, bool drops_trees, XgbCache* out,
                                        std::shared_ptr<xgboost::DMatrix>* values) {
  std::uint32_t const all = learner_.rounds();
  std::uint32_t const last = rounds.last == 0 ? all : rounds.last;
  bool const uses_cache = !learner_.drops_trees() && rounds.first == 0;
  bool const is_cached = uses_cache && out->version == last && out->predictions.Size() != 0;
  if (is_cached) return true;  // stock code of 3.3 and newer predicts a model with weights of trees anew
  if (all == 0) {              // stock code has no tree for the rows, and need not make its page of them
    if (!source_.ReadsBins(*data)) *values = WithoutRows(data);
    return false;
  }
  auto recoding = RecodingOf(*data);
  if (HasExternalBins(*data)) return false;
  if (!recoding || !ReadsTrees()) {
    *values = source_.Choose(data, *out, false);
    return false;
  }
  std::uint32_t const first = uses_cache && out->version <= last ? out->version : rounds.first;
  std::uint64_t const rows = data->Info().num_row_;
  ModelView const model = learner_.Model();
  std::optional<WorkPlace> device;
  if (!drops_trees) device = ChooseDevice(&on_device_, model, rows, {first, rounds.last});
  *values = source_.Choose(data, *out, device.has_value());
  // The engine reads the values that a matrix holds where they lie.
  xgboost::DMatrix* const from = source_.ReadsBins(*data) && *values != nullptr ? values->get() : data;
  if (device) {
    return AddMargins(model, from, std::move(*recoding), rounds, out,
                      [&](auto const&... how) { return on_device_.PredictMargins(model, *device, how...); });
  }
  if (drops_trees || !IsWorthwhileOnHost(model, rows, {first, last})) return false;
  return AddMargins(model, from, std::move(*recoding), rounds, out,
                    [&](auto const&... how) { return on_host_.PredictMargins(model, learner_.threads(), how...); });
}

/// Calls predict(rows, rounds, base, margins), an engine's PredictMargins, for the rounds that `out` does not have.
/// Returns false if stock code has to predict.
template <typename Predict>
bool Prediction::AddMargins(ModelView const& model, xgboost::DMatrix* data, Recoding recoding, RoundRange rounds,
                            XgbCache* out, Predict&& predict) {
  xgboost::MetaInfo const& info = data->Info();
  if (source_.ReadsBins(*data)) return false;  // XGBoost did not give its values away
  if (rounds.last == 0) rounds.last = model.rounds;
  bool const from_start = rounds.first == 0;
  bool const from_cache = !learner_.drops_trees() && from_start && out->version <= rounds.last;
  if (from_cache) rounds.first = out->version;
  bool const has_first = from_cache && rounds.first != 0;
  if (!has_first && !BaseMarginFits(info, model.outputs)) return false;  // XGBoost has something to say about it
  BaseMargins const base = learner_.BaseMarginsFor(info);
  auto& margins = out->predictions.HostVector();
  auto const version = std::exchange(out->version, 0);
  if (predict(DMatrixRows{data, std::move(recoding)}, rounds, has_first ? nullptr : &base, &margins)) {
    bool const is_known = learner_.is_dart() || (from_start && !learner_.drops_trees());
    out->version = is_known ? learner_.CacheVersion(rounds.last) : 0;
    return true;
  }
  if (!margins.empty()) out->version = version;  // nothing was added to them
  return false;
}

/// Returns true if the engine is to predict these rounds on the host, provided that the trees are symmetric.
bool Prediction::IsWorthwhileOnHost(ModelView const& model, std::uint64_t rows, RoundRange rounds) const {
  // Stock code finds the leaf of a row once for all outputs of a tree of vectors.
  bool const may_serve = config_.InCharge() && !learner_.has_vector_leaves();
  return may_serve && on_host_.IsWorthwhile(model, rows, rounds, learner_.threads());
}

/// Returns the place of large predictions. A worker of a process group has one device.
Place Prediction::DevicePlace() const {
  Place place = PlaceIfThere(config_.device());
  if (ProcessGroup::OfThisThread() == nullptr || place.backend != BackendKind::kCuda) return place;
  place.devices = 1;
  place.device = worker_device_.value_or(place.device);
  return place;
}

/// Returns the device if there is one that is faster for this number of rows and these rounds (last 0: to the end).
std::optional<WorkPlace> Prediction::ChooseDevice(DevicePrediction* prediction, ModelView const& model,
                                                  std::uint64_t rows, RoundRange rounds) const {
  if (rounds.last == 0) rounds.last = model.rounds;
  if (!config_.MayPredictOnDevice() || rounds.first >= rounds.last || rounds.last > model.rounds) return {};
  if (!prediction->IsWorthwhile(model, rows, rounds.last - rounds.first)) return {};
  Place const place = DevicePlace();
  if (place.backend != BackendKind::kCuda) return {};
  return WorkPlace{place, learner_.threads()};
}

bool Prediction::PredictInPlace(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds) const {
  InPlaceArrays const* const arrays = CallState::OfThisThread().in_place_arrays;
  return AtBoundary("predicting", [&] {
    CheckRounds(rounds);
    if (arrays == nullptr) return false;
    CheckNames(*arrays);
    bool const is_predicted = data != nullptr && ReadsTrees() && PredictArrays(*arrays, *data, missing, out, rounds);
    if (arrays->on_device != nullptr) arrays->on_device->Settle(is_predicted);
    return is_predicted;
  });
}

bool Prediction::PredictArrays(InPlaceArrays const& arrays, xgboost::DMatrix const& data, float missing, XgbCache* out,
                               RoundRange rounds) const {
  bool const is_dart = learner_.is_dart();
  auto& prediction = is_dart ? dart_in_place_ : on_device_;
  ModelView const model = learner_.Model();
  xgboost::MetaInfo const& info = data.Info();
  int const threads = learner_.threads();
  auto const device = ChooseDevice(&prediction, model, info.num_row_, rounds);
  if (rounds.last == 0) rounds.last = model.rounds;
  bool const on_host =
      !device && !is_dart && arrays.on_device == nullptr && IsWorthwhileOnHost(model, info.num_row_, rounds);
  if (!device && !on_host) return false;
  auto const rows =
      arrays.on_device != nullptr ? arrays.on_device->Rows(missing) : MakeArrayRows(arrays, missing, threads);
  if (rows == nullptr || rows->rows() != info.num_row_ || rows->features() != model.features) return false;
  if (is_dart && info.base_margin_.Size() != 0) return false;  // a stock dart adds them once for each tree
  if (!BaseMarginFits(info, model.outputs)) return false;
  BaseMargins const base = learner_.BaseMarginsFor(info);
  auto* const margins = &out->predictions.HostVector();
  return on_host ? on_host_.PredictMargins(model, threads, *rows, rounds, &base, margins)
                 : prediction.PredictMargins(model, *device, *rows, rounds, &base, margins);
}

bool Prediction::PredictLeaves(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds) {
  return AtBoundary("finding leaves", [&] {
    if (config_.InCharge()) CheckRounds(rounds);
    CheckFirstRounds(rounds, "leaves (pred_leaf)");
    constexpr bool kStockCountsColumns = kSeries < 200;
    if (!kStockCountsColumns) CheckColumns(*data, "leaves (pred_leaf)");
    CheckHasValues(*data, "pred_leaf");
    auto recoding = RecodingOf(*data);
    if (!recoding || rounds.first != 0 || source_.ReadsBins(*data) || learner_.has_vector_leaves()) return false;
    ModelView const model = learner_.Model();
    auto const device = ChooseDevice(&on_device_, model, data->Info().num_row_, rounds);
    if (rounds.last == 0) rounds.last = model.rounds;
    return device && on_device_.PredictLeaves(model, *device, DMatrixRows{data, std::move(*recoding)}, rounds, out);
  });
}

bool Prediction::MayExplain(xgboost::DMatrix* data, RoundRange rounds, bool approximate) const {
  // XGBoost 3.2 refuses to explain trees of vectors, and newer ones to do it approximately.
  bool const is_served = !learner_.has_vector_leaves() || (kSeries >= 303 && !approximate);
  return config_.Explains() && rounds.first == 0 && is_served && !source_.ReadsBins(*data) &&
         BaseMarginFits(data->Info(), learner_.outputs());
}

WorkPlace Prediction::ExplanationPlace(bool for_device) const {
  return {for_device && config_.MayPredictOnDevice() ? DevicePlace() : Place{}, learner_.threads()};
}

bool Prediction::PredictContributions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                                      bool approximate) {
  return AtBoundary("computing contributions", [&] {
    CheckFirstRounds(rounds, "contributions (pred_contribs)");
    CheckColumns(*data, "contributions (pred_contribs)");
    CheckHasValues(*data, "pred_contribs");
    auto recoding = RecodingOf(*data);
    if (!recoding || !MayExplain(data, rounds, approximate)) return false;
    DMatrixRows const rows{data, std::move(*recoding)};
    WorkPlace const where = ExplanationPlace(Explanation::IsForDevice(rows, learner_.rounds()));
    return explanation_.Contributions(learner_.Model(), where, rows, learner_.BaseMarginsFor(data->Info()), rounds.last,
                                      approximate, out);
  });
}

bool Prediction::PredictInteractions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                                     bool approximate) {
  return AtBoundary("computing interactions", [&] {
    CheckFirstRounds(rounds, "interactions (pred_interactions)");
    CheckColumns(*data, "interactions (pred_interactions)");
    CheckHasValues(*data, "pred_interactions");
    auto recoding = RecodingOf(*data);
    if (!recoding || approximate || !MayExplain(data, rounds, approximate)) return false;
    DMatrixRows const rows{data, std::move(*recoding)};
    WorkPlace const where = ExplanationPlace(Explanation::AreInteractionsForDevice(rows, learner_.rounds()));
    return explanation_.Interactions(learner_.Model(), where, rows, learner_.BaseMarginsFor(data->Info()), rounds.last,
                                     out);
  });
}

}  // namespace xgbgpu::plugin
