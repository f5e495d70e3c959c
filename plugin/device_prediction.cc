#include "device_prediction.h"

#include <algorithm>
#include <vector>

#include "adapt_input.h"
#include "model_forest.h"
#include "notice.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Rows times rounds from which a device is worth the way: the model is read through JSON, and rows are packed.
constexpr std::uint64_t kWorthwhile = std::uint64_t{1} << 24;

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

bool DevicePrediction::IsWorthwhile(xgboost::DMatrix const& data, std::uint32_t rounds) {
  return data.Info().num_row_ * rounds >= kWorthwhile && !IsBinned(data);
}

bool DevicePrediction::HasModel(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, int device, int threads) {
  if (predictor_ != nullptr && rounds_ == rounds && device_ == device) return true;
  predictor_.reset();
  auto const forest = ForestOf(gbtree);
  impossible_ = !forest || forest->trees() % rounds != 0;
  if (impossible_) return false;
  predictor_ = MakeDevicePredictor(*forest, device, threads);
  rounds_ = rounds;
  device_ = device;
  return true;
}

bool DevicePrediction::Predict(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, xgboost::DMatrix* data,
                               int device, int threads, std::uint32_t layer_begin, std::uint32_t layer_end,
                               xgboost::PredictionCacheEntry* out) {
  std::lock_guard<std::mutex> lock{mutex_};
  std::uint32_t const end = layer_end == 0 ? rounds : layer_end;
  bool const from_cache = layer_begin == 0 && out->version <= end;
  std::uint32_t const begin = from_cache ? out->version : layer_begin;
  if (impossible_ || end > rounds || begin >= end || !IsWorthwhile(*data, end - begin)) return false;
  xgboost::MetaInfo const& info = data->Info();
  try {
    if (!HasModel(gbtree, rounds, device, threads)) return false;
    auto& margins = out->predictions.HostVector();
    if (!from_cache || begin == 0) {
      out->version = 0;
      if (!FillBase(info, *model_, &margins)) return false;
    }
    out->version = 0;
    std::size_t const trees = predictor_->trees() / rounds;
    predictor_->PredictMargins(DMatrixRows{data}, begin * trees, end * trees,
                               RowMajor(margins.data(), info.num_row_, model_->num_output_group));
    out->version = layer_begin == 0 ? end : 0;
    return true;
  } catch (Error const& e) {  // of the device: out of memory, gone in a forked process, without code for it
    impossible_ = true;
    predictor_.reset();
    out->predictions.HostVector().clear();
    out->version = 0;
    WarnOnce("prediction", std::string{"predictions are made on the host, because the device cannot: "} + e.what());
    return false;
  }
}

void DevicePrediction::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  predictor_.reset();
  impossible_ = false;
}

}  // namespace xgbgpu::plugin
