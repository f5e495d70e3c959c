/// Predictions of a booster that no resident rows have: on a device where that is worth the way, else stock code's.
#include <new>

#include "adapt_input.h"
#include "api_call.h"
#include "array_rows.h"
#include "booster.h"
#include "boundary.h"
#include "prediction_policy.h"

namespace xgbgpu::plugin {

namespace {

/// Stock code has nothing to do for these rounds.
bool IsThere(xgboost::PredictionCacheEntry const& out, std::uint32_t first, std::uint32_t last) {
  return first == 0 && out.version == last && out.predictions.Size() != 0;
}

}  // namespace

/// Of our methods; stock's go on as in stock.
void Booster::DropOlderMargins(xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* out, bool training) {
  if (Rounds() == 0 && !training) return;            // without a round, only a training has a base score
  std::lock_guard<std::mutex> lock{margins_mutex_};  // nobody is served between the two
  if (!config_.InCharge() && !bases_.any()) return;
  float const base = model_->BaseScore(xgboost::GenericParameter::kCpuId)(0);
  if (!config_.InCharge()) {
    bases_.Leave(base, data);
  } else if (bases_.DropOlder(base, data, out)) {
    trainers_.ForgetMargins();
  }
}

void Booster::PredictAnew(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training,
                          unsigned layer_begin, unsigned layer_end) {
  std::shared_ptr<xgboost::DMatrix> values;
  auto const from = [&] { return values == nullptr ? data : values.get(); };
  bool const done = AtBoundary("predicting", [&] {
    bool const is_dart = kind_ == Kind::kDart;
    if (!is_dart && IsThere(*out, layer_begin, layer_end == 0 ? Rounds() : layer_end)) return false;
    bool const drops_trees = is_dart && training;
    // Of a gbtree the cache may have the first rounds.
    bool const has_first = !is_dart && layer_begin == 0 && out->version <= (layer_end == 0 ? Rounds() : layer_end);
    unsigned const begin = has_first ? out->version : layer_begin;
    auto const model = drops_trees ? std::nullopt : WorthADevice(&on_device_, data->Info().num_row_, begin, layer_end);
    values = ToPredictFrom(data, *out, model.has_value());
    return model && on_device_.Predict(*model, from(), {layer_begin, layer_end}, is_dart, out);
  });
  if (!done) inner_->PredictBatch(from(), out, training, layer_begin, layer_end);
}

std::shared_ptr<xgboost::DMatrix> Booster::ToPredictFrom(xgboost::DMatrix* data,
                                                         xgboost::PredictionCacheEntry const& out, bool for_device) {
  if (!(config_.InCharge() || for_device) || !IsBinned(*data) || Rounds() == 0) return nullptr;
  // Whoever evaluates it, or trains a dart on it, will want it in the next round, too.
  ApiCall const call = CurrentApiCall();
  bool const comes_again = call == ApiCall::kEvaluate || (call == ApiCall::kUpdate && kind_ == Kind::kDart);
  bool const is_worthwhile =
      !data->IsDense() || (for_device && Rounds() >= kPredictionPolicy.binned_rounds * data->Info().num_col_);
  try {
    if (comes_again) return binned_values_.Keep(OwnerOf(data, out), ctx_->Threads());
    return is_worthwhile ? ValuesOfBins(data, ctx_->Threads()) : nullptr;
  } catch (std::bad_alloc const&) {
    return nullptr;  // stock's predictor needs no memory for them
  }
}

std::optional<ModelOnDevice> Booster::WorthADevice(DevicePrediction* prediction, std::uint64_t rows,
                                                   std::uint32_t begin, std::uint32_t end) const {
  if (end == 0) end = Rounds();
  if (!config_.MayPredictOnDevice() || begin >= end || end > Rounds()) return {};
  if (!prediction->IsWorthwhile(rows, end - begin, Rounds())) return {};
  Place const place = PlaceIfThere(config_.device());
  if (place.backend != BackendKind::kCuda) return {};
  return ModelOnDevice{*inner_, Rounds(), place.device, ctx_->Threads()};
}

void Booster::InplacePredict(std::shared_ptr<xgboost::DMatrix> data, float missing, xgboost::PredictionCacheEntry* out,
                             std::uint32_t layer_begin, std::uint32_t layer_end) const {
  CheckOutputs();
  InPlaceArrays const* const arrays = CurrentInPlaceArrays();
  bool const done = AtBoundary("predicting", [&] {
    CheckDartRounds(layer_end);
    if (arrays == nullptr || data == nullptr) return false;
    auto& prediction = kind_ == Kind::kDart ? dart_in_place_ : on_device_;
    auto const model = WorthADevice(&prediction, data->Info().num_row_, layer_begin, layer_end);
    auto const rows = model ? MakeArrayRows(*arrays, missing, model->threads) : nullptr;
    return rows != nullptr && prediction.PredictInPlace(*model, *rows, data->Info(), {layer_begin, layer_end},
                                                        &out->predictions.HostVector());
  });
  if (!done) inner_->InplacePredict(data, missing, out, layer_begin, layer_end);
}

void Booster::PredictLeaf(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                          unsigned layer_end) {
  bool const done = AtBoundary("finding leaves", [&] {
    if (layer_begin != 0) return false;
    auto const model = WorthADevice(&on_device_, data->Info().num_row_, 0, layer_end);
    return model && on_device_.PredictLeaf(*model, data, {0, layer_end}, &out->HostVector());
  });
  if (!done) inner_->PredictLeaf(data, out, layer_begin, layer_end);
}

void Booster::PredictContribution(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out, unsigned layer_begin,
                                  unsigned layer_end, bool approximate, int condition, unsigned feature) {
  bool const done = AtBoundary("computing contributions", [&] {
    if (!config_.Explains() || layer_begin != 0 || condition != 0) return false;
    bool const for_device = config_.MayPredictOnDevice() && Explanation::IsForDevice(*data, Rounds());
    Place const place = for_device ? PlaceIfThere(config_.device()) : Place{};
    return explanation_.Predict(*inner_, Rounds(), data, place, ctx_->Threads(), layer_end, approximate, out);
  });
  if (!done) inner_->PredictContribution(data, out, layer_begin, layer_end, approximate, condition, feature);
}

void Booster::PredictInteractionContributions(xgboost::DMatrix* data, xgboost::HostDeviceVector<float>* out,
                                              unsigned layer_begin, unsigned layer_end, bool approximate) {
  bool const done = AtBoundary("computing interactions", [&] {
    if (!config_.Explains() || layer_begin != 0 || approximate) return false;
    bool const for_device = config_.MayPredictOnDevice() && Explanation::AreInteractionsForDevice(*data, Rounds());
    Place const place = for_device ? PlaceIfThere(config_.device()) : Place{};
    return explanation_.PredictInteractions(*inner_, Rounds(), data, place, ctx_->Threads(), layer_end, out);
  });
  if (!done) inner_->PredictInteractionContributions(data, out, layer_begin, layer_end, approximate);
}

}  // namespace xgbgpu::plugin
