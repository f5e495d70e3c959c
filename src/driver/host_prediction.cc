#include "driver/host_prediction.h"

#include "driver/prediction_policy.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

bool HostPrediction::IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads,
                                  bool likely) {
  if (rounds.last > model.rounds || rounds.first >= rounds.last) return false;
  std::lock_guard<std::mutex> const lock{mutex_};
  if (rounds_ == model.rounds) return model_.has_value() && rows >= kPredictionPolicy.known_rows;
  std::uint64_t const per_thread = likely ? kPredictionPolicy.symmetric_rows : kPredictionPolicy.unknown_rows;
  // All rounds of the model are read, however few of them are wanted.
  return rows * (rounds.last - rounds.first) >= per_thread * static_cast<std::uint64_t>(threads) * model.rounds;
}

bool HostPrediction::TakeModel(ModelView const& model) {
  if (rounds_ != model.rounds) {
    model_.reset();
    rounds_ = model.rounds;
    Forest const forest = model.read_forest({});
    if (forest.trees() % model.rounds == 0) model_ = LevelForest::Of(forest);
  }
  return model_.has_value();
}

bool HostPrediction::PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                                    BaseMargins const* base, std::vector<float>* margins) {
  std::lock_guard<std::mutex> const lock{mutex_};
  try {
    if (!TakeModel(model)) return false;
  } catch (InvalidArgument const&) {
    return false;  // trees that only stock code takes
  }
  if (base != nullptr && base->given.empty()) {
    margins->assign(rows.rows() * model.outputs, base->score);
  } else if (base != nullptr) {
    margins->assign(base->given.begin(), base->given.end());
  }
  std::size_t const trees = model_->trees() / rounds_;
  model_->PredictMargins(rows, rounds.first * trees, rounds.last * trees,
                         RowMajor(margins->data(), rows.rows(), model.outputs), threads);
  return true;
}

void HostPrediction::Forget() {
  std::lock_guard<std::mutex> const lock{mutex_};
  rounds_ = 0;
  model_.reset();
}

}  // namespace xgbgpu
