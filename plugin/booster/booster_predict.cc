/// Predictions of a booster for rows that are not kept. They are made on a device where that is worth the way, else by
/// stock code.
#include <limits>
#include <new>
#include <utility>

#include "base/buffer.h"
#include "base/host_memory.h"
#include "base/message.h"
#include "booster/booster.h"
#include "data/array_rows.h"
#include "data/device_arrays.h"
#include "errors/boundary.h"
#include "matrix/adapt_input.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "matrix/matrix_rows.h"
#include "matrix/value_matrix.h"
#include "xgb/api_call.h"

namespace xgbgpu::plugin {

namespace {

/// True if the cache has these rounds already, so that stock code has nothing to do.
bool IsThere(XgbCache const& out, std::uint32_t first, std::uint32_t last) {
  return first == 0 && out.version == last && out.predictions.Size() != 0;
}

}  // namespace

void Booster::CheckRounds(RoundRange rounds) const {
  std::uint32_t const all = Rounds();
  if (kind_ != Kind::kDart && (!config_.InCharge() || all == 0)) return;
  // XGBoost takes a negative number of the caller's for a large one.
  auto const first = static_cast<std::int32_t>(rounds.first), last = static_cast<std::int32_t>(rounds.last);
  if (rounds.last > all) {
    Throw<InvalidArgument>("iteration_range ends at ", last, "; allowed: at most ", all, ", the rounds of the model");
  }
  if (!config_.InCharge() || rounds.first <= (rounds.last == 0 ? all : rounds.last)) return;
  Throw<InvalidArgument>("iteration_range begins at ", first, " and ends at ", last,
                         "; allowed: 0 <= begin <= end <= ", all, ", where 0 as the end means all rounds of the model");
}

void Booster::CheckFirstRounds(RoundRange rounds, char const* result) const {
  if (!config_.InCharge()) return;
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  bool const may_be_cut = rounds.last > Rounds() && rounds.last <= kMost;
  CheckRounds({rounds.first, may_be_cut ? 0 : rounds.last});
  if (rounds.first == 0) return;
  Throw<InvalidArgument>("iteration_range begins at ", rounds.first, "; for ", result,
                         " XGBoost supports only iteration end: allowed: (0, end), or predictions of the slice "
                         "booster[begin:end]");
}

void Booster::CheckHasValues(xgboost::DMatrix const& data, char const* what) const {
  if (!config_.InCharge() || !HasBinsOnly(data)) return;
  Throw<Unsupported>(what,
                     " needs the values of the rows, and the data are a QuantileDMatrix that holds bins alone, as ",
                     "those of batches, of infinite values and of process groups do; allowed: a DMatrix, or a ",
                     "QuantileDMatrix of one array");
}

/// Drops margins for our methods only: with stock methods they go on as in stock code.
void Booster::DropOlderMargins(xgboost::DMatrix* data, XgbCache* out, bool training) {
  if (Rounds() == 0 && !training) return;            // without a round, only a training has a base score
  std::lock_guard<std::mutex> lock{margins_mutex_};  // nobody is served between the two
  if (!HasOwner(*out) || (!config_.InCharge() && !bases_.any())) return;
  DataKey const key = KeyOf(data, *out);
  BaseMargins const base = BaseMarginsOf(data->Info(), *model_);
  if (!config_.InCharge()) {
    bases_.Leave(key, base, KnownEpoch());
    return;
  }
  auto const stale = bases_.Look(key, base, KnownEpoch(), out);
  if (stale.cached) Clear(out);
  if (stale.kept) trainers_.ForgetMargins();
}

void Booster::ByStock(std::uint64_t rows, std::uint64_t values, std::function<void()> const& predict) const {
  try {
    predict();
  } catch (std::bad_alloc const&) {
    if (!config_.InCharge()) throw;
    std::uint64_t const bytes = rows * model_->num_output_group * values * sizeof(float);
    Throw<dmlc::Error>("xgboost-gpu: out of memory while predicting ", rows, " rows: XGBoost needs at least ", bytes,
                       " bytes for the predictions");
  }
}

void Booster::PredictAnew(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  std::shared_ptr<xgboost::DMatrix> values;
  auto const from = [&] { return values == nullptr ? data : values.get(); };
  bool const done = AtBoundary("predicting", [&] {
    bool const is_dart = kind_ == Kind::kDart;
    std::uint32_t const last = rounds.last == 0 ? Rounds() : rounds.last;
    bool const is_there = !is_dart && IsThere(*out, rounds.first, last);
    if (is_there || Rounds() == 0) {  // stock code has no tree for the rows, and need not make its page of them
      if (!ReadsBins(*data)) values = WithoutRows(data);
      return false;
    }
    bool const drops_trees = is_dart && training;
    // The cache of a gbtree may have the first rounds.
    bool const has_first = !is_dart && rounds.first == 0 && out->version <= last;
    ModelView const model = Model();
    std::optional<WorkPlace> device;
    if (!drops_trees) {
      device = WorthADevice(&on_device_, model, data->Info().num_row_,
                            {has_first ? out->version : rounds.first, rounds.last});
    }
    values = ToPredictFrom(data, *out, device.has_value());
    // The engine reads the values that a matrix holds where they lie.
    xgboost::DMatrix* const to_read = ReadsBins(*data) ? from() : data;
    if (device) {
      return PredictByEngine(model, to_read, rounds, out,
                             [&](auto const&... how) { return on_device_.PredictMargins(model, *device, how...); });
    }
    RoundRange const wanted{has_first ? out->version : rounds.first, last};
    if (drops_trees || !WorthTheEngine(model, data->Info().num_row_, wanted)) return false;
    return PredictByEngine(model, to_read, rounds, out,
                           [&](auto const&... how) { return on_host_.PredictMargins(model, ctx_->Threads(), how...); });
  });
  if (!done) {
    ByStock(data->Info().num_row_, 1, [&] { stock_->PredictBatch(from(), out, training, rounds.first, rounds.last); });
  }
  if (!config_.InCharge() || CurrentApiCall() == ApiCall::kUpdate) return;
  // XGBoost copies them next, and all that it says where there is no room is "std::bad_alloc".
  AtBoundary("predicting", [&] {
    WithMemoryFor("a copy of the predictions", [&] { Buffer<float> const room{out->predictions.Size()}; });
  });
}

template <typename Predict>
bool Booster::PredictByEngine(ModelView const& model, xgboost::DMatrix* data, RoundRange rounds, XgbCache* out,
                              Predict&& predict) {
  xgboost::MetaInfo const& info = data->Info();
  if (ReadsBins(*data)) return false;  // XGBoost did not give its values away
  bool const is_dart = kind_ == Kind::kDart;
  if (rounds.last == 0) rounds.last = model.rounds;
  bool const from_start = rounds.first == 0;
  bool const from_cache = !is_dart && from_start && out->version <= rounds.last;
  if (from_cache) rounds.first = out->version;
  bool const has_first = from_cache && rounds.first != 0;
  if (!has_first && !BaseMarginFits(info, model.outputs)) return false;  // XGBoost has something to say about it
  BaseMargins const base = BaseMarginsOf(info, *model_);
  auto& margins = out->predictions.HostVector();
  auto const version = std::exchange(out->version, 0);
  if (predict(DMatrixRows{data}, rounds, has_first ? nullptr : &base, &margins)) {
    // The version of a dart is its last round, as in stock code: its cached margins never count.
    out->version = is_dart ? rounds.last - 1 : from_start ? rounds.last : 0;
    return true;
  }
  if (!margins.empty()) out->version = version;  // nothing was added to them
  return false;
}

bool Booster::ReadsBins(xgboost::DMatrix const& data) const {
  return config_.InCharge() ? HasBinsOnly(data) : IsBinned(data);
}

std::shared_ptr<xgboost::DMatrix> Booster::ToPredictFrom(xgboost::DMatrix* data, XgbCache const& out, bool for_device) {
  if (!(config_.InCharge() || for_device) || Rounds() == 0) return nullptr;
  if (!IsBinned(*data)) return InsteadOfPage(data);
  if (!ReadsBins(*data)) return ValuesOf(data, AsHeldBins(data)->rows(), ctx_->Threads());
  // Whoever evaluates it, or trains a dart on it, will want it in the next round, too.
  ApiCall const call = CurrentApiCall();
  bool const comes_again = call == ApiCall::kEvaluate || (call == ApiCall::kUpdate && kind_ == Kind::kDart);
  bool const is_worthwhile =
      !data->IsDense() || (for_device && DevicePrediction::IsWorthMakingValues(Rounds(), data->Info().num_col_));
  try {
    if (comes_again) return binned_values_.Keep(KeyOf(data, out), data, ctx_->Threads());
    return is_worthwhile ? ValuesOfBins(data, ctx_->Threads()) : nullptr;
  } catch (std::bad_alloc const&) {
    return nullptr;  // stock's predictor needs no memory for them
  }
}

std::shared_ptr<xgboost::DMatrix> Booster::InsteadOfPage(xgboost::DMatrix* data) const {
  HeldMatrix const* const held = AsHeld(data);
  // XGBoost's dart reads all rows for each tree, and whoever evaluates comes again: a page that stays serves them
  // better.
  if (held == nullptr || kind_ == Kind::kDart || CurrentApiCall() != ApiCall::kOther) return nullptr;
  auto rows = held->rows();
  return rows == nullptr ? nullptr : ValuesOf(data, std::move(rows), ctx_->Threads());
}

bool Booster::WorthTheEngine(ModelView const& model, std::uint64_t rows, RoundRange rounds) const {
  if (!config_.InCharge()) return false;
  return on_host_.IsWorthwhile(model, rows, rounds, ctx_->Threads());
}

Place Booster::PlaceOfPredictions() const {
  Place place = PlaceIfThere(config_.device());
  if (ProcessGroup::OfThisThread() == nullptr || place.backend != BackendKind::kCuda) return place;
  place.devices = 1;
  place.device = group_device_.value_or(place.device);
  return place;
}

std::optional<WorkPlace> Booster::WorthADevice(DevicePrediction* prediction, ModelView const& model, std::uint64_t rows,
                                               RoundRange rounds) const {
  if (rounds.last == 0) rounds.last = model.rounds;
  if (!config_.MayPredictOnDevice() || rounds.first >= rounds.last || rounds.last > model.rounds) return {};
  if (!prediction->IsWorthwhile(model, rows, rounds.last - rounds.first)) return {};
  Place const place = PlaceOfPredictions();
  if (place.backend != BackendKind::kCuda) return {};
  return WorkPlace{place, ctx_->Threads()};
}

bool Booster::InplacePredict(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds) const {
  InPlaceArrays const* const arrays = CurrentInPlaceArrays();
  return AtBoundary("predicting", [&] {
    CheckRounds(rounds);
    if (arrays == nullptr) return false;
    bool const is_predicted = data != nullptr && PredictArrays(*arrays, *data, missing, out, rounds);
    if (arrays->on_device != nullptr) arrays->on_device->Settle(is_predicted);
    return is_predicted;
  });
}

bool Booster::PredictArrays(InPlaceArrays const& arrays, xgboost::DMatrix const& data, float missing, XgbCache* out,
                            RoundRange rounds) const {
  bool const is_dart = kind_ == Kind::kDart;
  auto& prediction = is_dart ? dart_in_place_ : on_device_;
  ModelView const model = Model();
  xgboost::MetaInfo const& info = data.Info();
  auto const device = WorthADevice(&prediction, model, info.num_row_, rounds);
  if (rounds.last == 0) rounds.last = model.rounds;
  bool const on_host =
      !device && !is_dart && arrays.on_device == nullptr && WorthTheEngine(model, info.num_row_, rounds);
  if (!device && !on_host) return false;
  auto const rows =
      arrays.on_device != nullptr ? arrays.on_device->Rows(missing) : MakeArrayRows(arrays, missing, ctx_->Threads());
  if (rows == nullptr || rows->rows() != info.num_row_ || rows->features() != model.features) return false;
  if (is_dart && info.base_margin_.Size() != 0) return false;  // a stock dart adds them once for each tree
  if (!BaseMarginFits(info, model.outputs)) return false;
  BaseMargins const base = BaseMarginsOf(info, *model_);
  auto* const margins = &out->predictions.HostVector();
  return on_host ? on_host_.PredictMargins(model, ctx_->Threads(), *rows, rounds, &base, margins)
                 : prediction.PredictMargins(model, *device, *rows, rounds, &base, margins);
}

bool Booster::PredictLeaf(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds) {
  return AtBoundary("finding leaves", [&] {
    if (config_.InCharge()) CheckRounds(rounds);
    CheckFirstRounds(rounds, "leaves (pred_leaf)");
    CheckHasValues(*data, "pred_leaf");
    if (rounds.first != 0 || ReadsBins(*data)) return false;
    ModelView const model = Model();
    auto const device = WorthADevice(&on_device_, model, data->Info().num_row_, rounds);
    if (rounds.last == 0) rounds.last = model.rounds;
    return device && on_device_.PredictLeaves(model, *device, DMatrixRows{data}, rounds, out);
  });
}

bool Booster::Explains(xgboost::DMatrix* data, RoundRange rounds) const {
  return config_.Explains() && rounds.first == 0 && !ReadsBins(*data) &&
         BaseMarginFits(data->Info(), model_->num_output_group);
}

bool Booster::PredictContribution(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                                  bool approximate) {
  return AtBoundary("computing contributions", [&] {
    CheckFirstRounds(rounds, "contributions (pred_contribs)");
    CheckHasValues(*data, "pred_contribs");
    if (!Explains(data, rounds)) return false;
    DMatrixRows const rows{data};
    bool const for_device = config_.MayPredictOnDevice() && Explanation::IsForDevice(rows, Rounds());
    Place const place = for_device ? PlaceOfPredictions() : Place{};
    return explanation_.Contributions(Model(), {place, ctx_->Threads()}, rows, BaseMarginsOf(data->Info(), *model_),
                                      rounds.last, approximate, out);
  });
}

bool Booster::PredictInteractions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                                  bool approximate) {
  return AtBoundary("computing interactions", [&] {
    CheckFirstRounds(rounds, "interactions (pred_interactions)");
    CheckHasValues(*data, "pred_interactions");
    if (approximate || !Explains(data, rounds)) return false;
    DMatrixRows const rows{data};
    bool const for_device = config_.MayPredictOnDevice() && Explanation::AreInteractionsForDevice(rows, Rounds());
    Place const place = for_device ? PlaceOfPredictions() : Place{};
    return explanation_.Interactions(Model(), {place, ctx_->Threads()}, rows, BaseMarginsOf(data->Info(), *model_),
                                     rounds.last, out);
  });
}

}  // namespace xgbgpu::plugin
