#include "device_prediction.h"

#include <algorithm>
#include <optional>
#include <string>

#include "adapt_input.h"
#include "model_forest.h"
#include "notice.h"
#include "prediction_policy.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// What every row has before the first tree. False if XGBoost has something to say about it.
bool FillBase(xgboost::MetaInfo const& info, xgboost::LearnerModelParam const& model, std::vector<float>* margins) {
  std::size_t const size = info.num_row_ * model.num_output_group;
  auto const& given = info.base_margin_.Data()->ConstHostVector();
  if (!BaseMarginFits(info, model.num_output_group)) return false;
  if (given.empty()) {
    margins->assign(size, model.BaseScore(xgboost::GenericParameter::kCpuId)(0));
  } else {
    *margins = given;
  }
  return true;
}

}  // namespace

bool DevicePrediction::IsWork(std::uint64_t rows, std::uint32_t layers, std::uint32_t rounds, bool has_model) const {
  std::uint64_t const outputs = model_->num_output_group;
  return kPredictionPolicy.IsForDevice(rows * layers * outputs, has_model ? 0 : rounds * outputs, turned_away_,
                                       CudaIsInUse());
}

bool DevicePrediction::IsWorthwhile(std::uint64_t rows, std::uint32_t layers, std::uint32_t rounds) {
  if (!IsWork(rows, layers, rounds, true)) return false;
  std::unique_lock<std::mutex> const lock{mutex_, std::try_to_lock};
  std::uint64_t const work = rows * layers * model_->num_output_group;
  if (!lock) return work >= kPredictionPolicy.first_use;  // what is less does not wait for whoever predicts
  bool const is_work = IsWork(rows, layers, rounds, HasModel(rounds, device_));
  if (!is_work) turned_away_ += work;
  return is_work;
}

bool DevicePrediction::HasModel(std::uint32_t rounds, int device) const {
  bool const same_leaves = !rounds_leaves_ || base_ == Base();
  return predictor_ != nullptr && rounds_ == rounds && device_ == device && same_leaves;
}

bool DevicePrediction::TakeModel(ModelOnDevice const& model) {
  if (HasModel(model.rounds, model.device)) return true;
  predictor_.reset();
  impossible_ = true;  // a model that is not for us is read once
  base_ = Base();
  auto const forest = ForestOf(model.booster, rounds_leaves_ ? std::optional<float>{base_} : std::nullopt);
  if (forest.trees() % model.rounds != 0) return false;
  impossible_ = false;
  predictor_ = MakeDevicePredictor(forest, model.device, model.threads);
  turned_away_ = 0;
  rounds_ = model.rounds;
  device_ = model.device;
  return true;
}

template <typename F>
bool DevicePrediction::OnDevice(ModelOnDevice const& model, std::uint64_t rows, Layers layers, F&& f) {
  if (impossible_ || layers.last > model.rounds || layers.first >= layers.last) return false;
  if (!IsWork(rows, layers.last - layers.first, model.rounds, HasModel(model.rounds, model.device))) return false;
  try {
    return TakeModel(model) && f(predictor_->trees() / rounds_);
  } catch (InvalidArgument const&) {
    return false;             // rows of the user: stock code has the words, or takes them as they are
  } catch (Error const& e) {  // of the device: out of memory, gone in a forked process, without code for it
    impossible_ = true;
    predictor_.reset();
    WarnOnce("prediction", std::string{"predictions are made on the host, because the device cannot: "} + e.what());
    return false;
  }
}

bool DevicePrediction::Predict(ModelOnDevice const& model, xgboost::DMatrix* data, Layers layers, bool is_dart,
                               xgboost::PredictionCacheEntry* out) {
  if (IsBinned(*data)) return false;  // its values were not to be had
  std::lock_guard<std::mutex> lock{mutex_};
  if (layers.last == 0) layers.last = model.rounds;
  bool const from_start = layers.first == 0;
  bool const from_cache = !is_dart && from_start && out->version <= layers.last;
  if (from_cache) layers.first = out->version;
  xgboost::MetaInfo const& info = data->Info();
  bool touched = false;
  bool const done = OnDevice(model, info.num_row_, layers, [&](std::size_t trees) {
    touched = true;
    auto& margins = out->predictions.HostVector();
    bool const has_base = from_cache && layers.first != 0;
    out->version = 0;
    if (!has_base && !FillBase(info, *model_, &margins)) return false;
    predictor_->PredictMargins(DMatrixRows{data}, layers.first * trees, layers.last * trees,
                               RowMajor(margins.data(), info.num_row_, model_->num_output_group));
    return true;
  });
  if (done) {
    // A dart has its last round there, as stock code: its cached margins never count.
    out->version = is_dart ? layers.last - 1 : from_start ? layers.last : 0;
  } else if (touched) {
    out->predictions.HostVector().clear();
    out->version = 0;
  }
  return done;
}

bool DevicePrediction::PredictInPlace(ModelOnDevice const& model, RowSource const& rows, xgboost::MetaInfo const& info,
                                      Layers layers, std::vector<float>* out) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (layers.last == 0) layers.last = model.rounds;
  if (rows.rows() != info.num_row_ || rows.features() != model_->num_feature) return false;
  if (rounds_leaves_ && info.base_margin_.Size() != 0) return false;
  return OnDevice(model, rows.rows(), layers, [&](std::size_t trees) {
    if (!FillBase(info, *model_, out)) return false;
    predictor_->PredictMargins(rows, layers.first * trees, layers.last * trees,
                               RowMajor(out->data(), rows.rows(), model_->num_output_group));
    return true;
  });
}

bool DevicePrediction::PredictLeaf(ModelOnDevice const& model, xgboost::DMatrix* data, Layers layers,
                                   std::vector<float>* out) {
  if (IsBinned(*data)) return false;
  std::lock_guard<std::mutex> lock{mutex_};
  if (layers.last == 0) layers.last = model.rounds;
  std::uint64_t const rows = data->Info().num_row_;
  return OnDevice(model, rows, layers, [&](std::size_t trees) {
    std::vector<float> leaves(rows * (layers.last - layers.first) * trees);
    predictor_->PredictLeaves(DMatrixRows{data}, layers.first * trees, layers.last * trees, leaves.data());
    *out = std::move(leaves);
    return true;
  });
}

void DevicePrediction::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  predictor_.reset();
  turned_away_ = 0;
  impossible_ = false;
}

}  // namespace xgbgpu::plugin
