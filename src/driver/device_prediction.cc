#include "driver/device_prediction.h"

#include <optional>
#include <string>
#include <utility>

#include "driver/prediction_policy.h"
#include "objective/row_views.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

bool DevicePrediction::IsWork(ModelView const& model, std::uint64_t rows, std::uint32_t rounds, bool has_model) const {
  std::uint64_t const outputs = model.outputs;
  return kPredictionPolicy.IsForDevice(rows * rounds * outputs, has_model ? 0 : model.rounds * outputs, turned_away_,
                                       CudaIsInUse());
}

bool DevicePrediction::IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds) {
  if (!IsWork(model, rows, rounds, true)) return false;
  std::unique_lock<std::mutex> const lock{mutex_, std::try_to_lock};
  std::uint64_t const work = rows * rounds * model.outputs;
  if (!lock) return work >= kPredictionPolicy.first_use;  // what is less does not wait for whoever predicts
  bool const is_work = IsWork(model, rows, rounds, HasModel(model, device_));
  if (!is_work) turned_away_ += work;
  return is_work;
}

bool DevicePrediction::HasModel(ModelView const& model, int device) const {
  bool const same_leaves = !rounds_leaves_ || base_ == model.base_score;
  return predictor_ != nullptr && rounds_ == model.rounds && device_ == device && same_leaves;
}

bool DevicePrediction::TakeModel(ModelView const& model, WorkPlace where) {
  int const device = where.place.device;
  if (HasModel(model, device)) return true;
  predictor_.reset();
  impossible_ = true;  // a model that is not for us is read once
  base_ = model.base_score;
  auto const forest = model.read_forest(rounds_leaves_ ? std::optional<float>{base_} : std::nullopt);
  if (forest.trees() % model.rounds != 0) return false;
  impossible_ = false;
  predictor_ = MakeDevicePredictor(forest, device, where.threads);
  turned_away_ = 0;
  rounds_ = model.rounds;
  device_ = device;
  return true;
}

template <typename F>
bool DevicePrediction::OnDevice(ModelView const& model, WorkPlace where, std::uint64_t rows, RoundRange rounds,
                                F&& predict) {
  if (impossible_ || rounds.last > model.rounds || rounds.first >= rounds.last) return false;
  if (!IsWork(model, rows, rounds.last - rounds.first, HasModel(model, where.place.device))) return false;
  try {
    if (!TakeModel(model, where)) return false;
    predict(predictor_->trees() / rounds_);
    return true;
  } catch (InvalidArgument const&) {
    return false;             // rows of the user: the host has the words, or takes them as they are
  } catch (Error const& e) {  // the device is out of memory, gone in a forked process, or without code for it
    impossible_ = true;
    predictor_.reset();
    warn_("prediction", std::string{"predictions are made on the host, because the device cannot: "} + e.what());
    return false;
  }
}

bool DevicePrediction::PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                                      BaseMargins const* base, std::vector<float>* margins) {
  std::lock_guard<std::mutex> lock{mutex_};
  bool touched = false;
  bool const done = OnDevice(model, where, rows.rows(), rounds, [&](std::size_t trees) {
    touched = true;
    if (base != nullptr && base->given.empty()) {
      margins->assign(rows.rows() * model.outputs, base->score);
    } else if (base != nullptr) {
      margins->assign(base->given.begin(), base->given.end());
    }
    predictor_->PredictMargins(rows, rounds.first * trees, rounds.last * trees,
                               RowMajor(margins->data(), rows.rows(), model.outputs));
  });
  if (!done && touched) margins->clear();
  return done;
}

bool DevicePrediction::PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                                     std::vector<float>* leaves) {
  std::lock_guard<std::mutex> lock{mutex_};
  return OnDevice(model, where, rows.rows(), rounds, [&](std::size_t trees) {
    std::vector<float> made(rows.rows() * (rounds.last - rounds.first) * trees);
    predictor_->PredictLeaves(rows, rounds.first * trees, rounds.last * trees, made.data());
    *leaves = std::move(made);
  });
}

void DevicePrediction::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  predictor_.reset();
  turned_away_ = 0;
  impossible_ = false;
}

}  // namespace xgbgpu
