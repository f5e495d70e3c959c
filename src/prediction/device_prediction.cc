// Deals rows to devices that have the model, and falls back to fewer devices or to the host.
#include "xgbgpu/device_prediction.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "collective/in_process.h"
#include "predict/predictor.h"
#include "prediction/prediction_policy.h"
#include "prediction/read_model.h"
#include "prediction/with_policy.h"
#include "user_arrays/read_in_parts.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/row_views.h"

namespace xgbgpu {

class DevicePrediction::Impl {
 public:
  Impl(Warn warn, bool rounds_leaves, PredictionPolicy const& policy)
      : warn_{std::move(warn)}, rounds_leaves_{rounds_leaves}, policy_{policy} {}

  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds);
  bool PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);
  bool PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                     std::vector<float>* leaves);
  void Forget();
  int devices() const;

 private:
  /// Returns true if a device should do the work. `has_model`: the device need not read the model first.
  bool IsWork(ModelView const& model, std::uint64_t rows, std::uint32_t rounds, bool has_model) const;
  bool HasModel(ModelView const& model, int device) const;
  /// Returns how many devices are worth while for the rows.
  int DevicesFor(WorkPlace where, RowSource const& rows, std::uint64_t work) const;
  /// Reads the model, if it is another or some of the devices do not have it.
  bool TakeModel(ModelView const& model, Place const& place, int devices);
  /// Forgets the devices, because `devices` of them have failed. Later calls use one device, or the host if one failed.
  void GiveUp(int devices, Error const& why);
  /// predict(devices, trees of a round), once the model is on so many devices and the rounds are in it. If they fail,
  /// fewer are tried unless predict has set *spoilt.
  template <typename F>
  bool OnDevices(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds, bool const* spoilt,
                 F&& predict);
  /// Has each of the devices read its part of the rows: predict(predictor, part, threads of the host).
  template <typename F>
  void Deal(int devices, RowSource const& rows, int threads, F&& predict);

  Warn warn_;
  bool rounds_leaves_;
  PredictionPolicy policy_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<DevicePredictor>> predictors_;  ///< of the devices that have the model, ascending
  std::uint32_t rounds_{0};                                   ///< of the model in predictors_
  int device_{0};                                             ///< the first of them
  std::vector<float> bases_;                                  ///< to which leaves were rounded
  std::atomic<std::uint64_t> refused_work_{0};                ///< rows × rounds × outputs, since the model was read
  bool host_only_{false};                                     ///< the model is not for a device, or the device fails
  bool several_fail_{false};                                  ///< only one device can be used
};

bool DevicePrediction::Impl::IsWork(ModelView const& model, std::uint64_t rows, std::uint32_t rounds,
                                    bool has_model) const {
  std::uint64_t const outputs = model.outputs;
  return policy_.IsForDevice(rows * rounds * outputs, has_model ? 0 : model.rounds * outputs, refused_work_,
                             CudaIsInUse());
}

bool DevicePrediction::Impl::IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds) {
  if (!IsWork(model, rows, rounds, true)) return false;
  std::unique_lock<std::mutex> const lock{mutex_, std::try_to_lock};
  std::uint64_t const work = rows * rounds * model.outputs;
  if (!lock) return work >= policy_.first_use;  // what is less does not wait for whoever predicts
  bool const is_work = IsWork(model, rows, rounds, HasModel(model, device_));
  if (!is_work) refused_work_ += work;
  return is_work;
}

int DevicePrediction::Impl::devices() const {
  std::lock_guard<std::mutex> const lock{mutex_};
  return static_cast<int>(predictors_.size());
}

bool DevicePrediction::Impl::HasModel(ModelView const& model, int device) const {
  bool const same_leaves = !rounds_leaves_ || bases_ == model.base_scores;
  return !predictors_.empty() && rounds_ == model.rounds && device_ == device && same_leaves;
}

int DevicePrediction::Impl::DevicesFor(WorkPlace where, RowSource const& rows, std::uint64_t work) const {
  bool const may_deal = !several_fail_ && MayBeDealt(rows);
  return may_deal ? PredictionPolicy::Devices(where.place.devices, work, policy_.dealt_work) : 1;
}

bool DevicePrediction::Impl::TakeModel(ModelView const& model, Place const& place, int devices) {
  auto const wanted = static_cast<std::size_t>(devices);
  if (HasModel(model, place.device) && predictors_.size() >= wanted) return true;
  predictors_.clear();
  host_only_ = true;  // a model that is not for a device is read once
  bases_ = model.base_scores;
  auto const forest = ReadForest(model, rounds_leaves_ ? Span<float const>{bases_} : Span<float const>{});
  if (forest.trees() % model.rounds != 0) return false;
  host_only_ = false;
  std::vector<int> const ordinals = OrdinalsOf(place);
  std::vector<std::unique_ptr<DevicePredictor>> made(wanted);
  auto const make = [&](std::size_t i) { made[i] = DeviceBackend::Get().MakePredictor(forest, ordinals[i]); };
  ShardThreads threads{devices};
  threads.Run([&](int i) { make(static_cast<std::size_t>(i)); });
  predictors_ = std::move(made);
  refused_work_ = 0;
  rounds_ = model.rounds;
  device_ = place.device;
  return true;
}

void DevicePrediction::Impl::GiveUp(int devices, Error const& why) {
  predictors_.clear();
  if (devices > 1) {
    several_fail_ = true;
    warn_("prediction on several GPUs",
          "predictions are made on one GPU at most, because " + std::to_string(devices) + " cannot: " + why.what());
    return;
  }
  host_only_ = true;
  warn_("prediction", std::string{"predictions are made on the host, because the device cannot: "} + why.what());
}

template <typename F>
bool DevicePrediction::Impl::OnDevices(ModelView const& model, WorkPlace where, RowSource const& rows,
                                       RoundRange rounds, bool const* spoilt, F&& predict) {
  if (rounds.last > model.rounds || rounds.first >= rounds.last) return false;
  std::uint32_t const n_rounds = rounds.last - rounds.first;
  if (!IsWork(model, rows.rows(), n_rounds, HasModel(model, where.place.device))) return false;
  while (!host_only_ && !*spoilt) {
    int const devices = DevicesFor(where, rows, rows.rows() * n_rounds * model.outputs);
    try {
      if (!TakeModel(model, where.place, devices)) return false;
      predict(devices, predictors_[0]->trees() / rounds_);
      return true;
    } catch (InvalidArgument const&) {
      return false;             // rows of the user: the host has the words, or takes them as they are
    } catch (Error const& e) {  // a device is out of memory, gone in a forked process, or without code for it
      GiveUp(devices, e);
    }
  }
  return false;
}

template <typename F>
void DevicePrediction::Impl::Deal(int devices, RowSource const& rows, int threads, F&& predict) {
  ReadInParts(rows, devices, [&](int i, RowSource const& part) {
    predict(predictors_[static_cast<std::size_t>(i)].get(), part, std::max(1, threads / devices));
  });
}

bool DevicePrediction::Impl::PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows,
                                            RoundRange rounds, BaseMargins const* base, std::vector<float>* margins) {
  std::lock_guard<std::mutex> const lock{mutex_};
  bool touched = false, spoilt = false;
  bool const done = OnDevices(model, where, rows, rounds, &spoilt, [&](int devices, std::size_t trees) {
    touched = true;
    spoilt = base == nullptr;  // the margins that were there have trees added
    if (base != nullptr) base->AssignTo(rows.rows(), model.outputs, margins);
    auto const view = RowMajor(margins->data(), rows.rows(), model.outputs);
    Deal(devices, rows, where.threads, [&](DevicePredictor* predictor, RowSource const& part, int threads) {
      predictor->PredictMargins(part, rounds.first * trees, rounds.last * trees, view, threads);
    });
  });
  if (!done && touched) margins->clear();
  return done;
}

bool DevicePrediction::Impl::PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows,
                                           RoundRange rounds, std::vector<float>* leaves) {
  std::lock_guard<std::mutex> const lock{mutex_};
  bool const spoilt = false;
  return OnDevices(model, where, rows, rounds, &spoilt, [&](int devices, std::size_t trees) {
    std::vector<float> made(rows.rows() * (rounds.last - rounds.first) * trees);
    Deal(devices, rows, where.threads, [&](DevicePredictor* predictor, RowSource const& part, int threads) {
      predictor->PredictLeaves(part, rounds.first * trees, rounds.last * trees, made.data(), threads);
    });
    *leaves = std::move(made);
  });
}

void DevicePrediction::Impl::Forget() {
  std::lock_guard<std::mutex> const lock{mutex_};
  predictors_.clear();
  refused_work_ = 0;
  host_only_ = false;
  several_fail_ = false;
}

DevicePrediction::DevicePrediction(Warn warn, bool rounds_leaves)
    : impl_{std::make_unique<Impl>(std::move(warn), rounds_leaves, kPredictionPolicy)} {}

DevicePrediction::DevicePrediction(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

DevicePrediction MakeDevicePrediction(Warn warn, bool rounds_leaves, PredictionPolicy const& policy) {
  return DevicePrediction{std::make_unique<DevicePrediction::Impl>(std::move(warn), rounds_leaves, policy)};
}

DevicePrediction::~DevicePrediction() = default;

bool DevicePrediction::IsWorthMakingValues(std::uint32_t rounds, std::uint64_t columns) {
  return rounds >= kPredictionPolicy.binned_rounds * columns;
}

bool DevicePrediction::IsWorthwhile(ModelView const& model, std::uint64_t rows, std::uint32_t rounds) {
  return impl_->IsWorthwhile(model, rows, rounds);
}

bool DevicePrediction::PredictMargins(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                                      BaseMargins const* base, std::vector<float>* margins) {
  return impl_->PredictMargins(model, where, rows, rounds, base, margins);
}

bool DevicePrediction::PredictLeaves(ModelView const& model, WorkPlace where, RowSource const& rows, RoundRange rounds,
                                     std::vector<float>* leaves) {
  return impl_->PredictLeaves(model, where, rows, rounds, leaves);
}

void DevicePrediction::Forget() { impl_->Forget(); }

int DevicePrediction::devices() const { return impl_->devices(); }

}  // namespace xgbgpu
