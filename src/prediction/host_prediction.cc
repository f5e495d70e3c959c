// Predicts with symmetric trees on the host, once their number of rows is worth reading the model.
#include "xgbgpu/host_prediction.h"

#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "predict/level_forest.h"
#include "prediction/prediction_policy.h"
#include "prediction/read_model.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Null if trees are not symmetric, or only stock code takes them.
std::shared_ptr<LevelForest const> Read(ModelView const& model) {
  try {
    Forest const forest = ReadForest(model);
    if (forest.trees() % model.rounds != 0) return nullptr;
    auto levels = LevelForest::Of(forest);
    return levels ? std::make_shared<LevelForest const>(std::move(*levels)) : nullptr;
  } catch (InvalidArgument const&) {
    return nullptr;
  }
}

}  // namespace

class HostPrediction::Impl {
 public:
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads);
  bool PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);
  void Forget();

 private:
  /// Forgets what is known of a model of other rounds. mutex_ is held.
  void LookAt(ModelView const& model);
  /// The model, which is read if it was not; or null.
  std::shared_ptr<LevelForest const> TakeModel(ModelView const& model);

  std::mutex reading_;  ///< is held by whoever reads the model
  std::mutex mutex_;    ///< guards all below, and is never held for long
  std::uint32_t rounds_{0};
  std::shared_ptr<LevelForest const> forest_;  ///< these rounds; null: they were not read
  /// What trees were found when the model was read, perhaps with fewer rounds. One that is not symmetric settles it.
  enum class Trees { kUnknown, kSymmetric, kOther } trees_{Trees::kUnknown};
  std::uint64_t refused_work_{0};  ///< rows × rounds that stock code has predicted with the model
};

void HostPrediction::Impl::LookAt(ModelView const& model) {
  if (rounds_ == model.rounds) return;
  if (rounds_ > model.rounds) trees_ = Trees::kUnknown;
  rounds_ = model.rounds;
  forest_.reset();
  refused_work_ = 0;
}

bool HostPrediction::Impl::IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads) {
  if (rows < kPredictionPolicy.symmetric_rows || rounds.last > model.rounds || rounds.first >= rounds.last)
    return false;
  std::lock_guard<std::mutex> const lock{mutex_};
  LookAt(model);
  if (forest_ != nullptr || trees_ == Trees::kOther) return forest_ != nullptr;
  std::uint64_t const work = rows * (rounds.last - rounds.first);
  // All rounds of the model are read, however few of them are wanted.
  std::uint64_t const per_thread =
      trees_ == Trees::kSymmetric ? kPredictionPolicy.read_rows : kPredictionPolicy.look_rows;
  std::uint64_t const wanted = per_thread * static_cast<std::uint64_t>(threads) * model.rounds;
  if (work + refused_work_ >= wanted) return true;
  refused_work_ += work;
  return false;
}

std::shared_ptr<LevelForest const> HostPrediction::Impl::TakeModel(ModelView const& model) {
  auto const known = [&] {
    std::lock_guard<std::mutex> const lock{mutex_};
    LookAt(model);
    return std::pair{forest_, forest_ != nullptr || trees_ == Trees::kOther};
  };
  if (auto const [forest, is_known] = known(); is_known) return forest;
  std::unique_lock<std::mutex> const reading{reading_, std::try_to_lock};
  if (!reading) return nullptr;
  if (auto const [forest, is_known] = known(); is_known) return forest;  // another has just read it
  auto forest = Read(model);
  std::lock_guard<std::mutex> const lock{mutex_};
  trees_ = forest == nullptr ? Trees::kOther : Trees::kSymmetric;
  forest_ = forest;
  return forest;
}

bool HostPrediction::Impl::PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                                          BaseMargins const* base, std::vector<float>* margins) {
  bool touched = false;
  try {
    auto const forest = TakeModel(model);
    if (forest == nullptr) return false;
    touched = true;
    if (base != nullptr) base->AssignTo(rows.rows(), model.outputs, margins);
    std::size_t const trees = forest->trees() / model.rounds;
    forest->PredictMargins(rows, rounds.first * trees, rounds.last * trees,
                           RowMajor(margins->data(), rows.rows(), model.outputs), threads);
    return true;
  } catch (std::bad_alloc const&) {  // stock code needs less memory
    if (touched) margins->clear();
    std::lock_guard<std::mutex> const lock{mutex_};
    refused_work_ = 0;  // smaller calls look again when as much has been predicted
    return false;
  }
}

void HostPrediction::Impl::Forget() {
  std::lock_guard<std::mutex> const lock{mutex_};
  forest_.reset();
  trees_ = Trees::kUnknown;
  refused_work_ = 0;
}

HostPrediction::HostPrediction() : impl_{std::make_unique<Impl>()} {}

HostPrediction::~HostPrediction() = default;

bool HostPrediction::IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads) {
  return impl_->IsWorthwhile(model, rows, rounds, threads);
}

bool HostPrediction::PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                                    BaseMargins const* base, std::vector<float>* margins) {
  return impl_->PredictMargins(model, threads, rows, rounds, base, margins);
}

void HostPrediction::Forget() { impl_->Forget(); }

}  // namespace xgbgpu
