#include "explanation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "adapt_input.h"
#include "model_forest.h"
#include "notice.h"
#include "predict/predictor.h"
#include "prediction_policy.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Adds what every row has before the first tree to the last of the `size` values of each row and output.
void AddBase(xgboost::MetaInfo const& info, xgboost::LearnerModelParam const& model, std::size_t size,
             std::vector<float>* values) {
  auto const& given = info.base_margin_.Data()->ConstHostVector();
  float const base = model.BaseScore(xgboost::GenericParameter::kCpuId)(0);
  for (std::size_t i = 0; i < values->size() / size; ++i) {
    (*values)[i * size + size - 1] += given.empty() ? base : given[i];
  }
}

/// On the device, if that is the place and it can, else on the host.
template <typename OnDevice, typename OnHost>
void Explain(Place place, char const* what, OnDevice&& on_device, OnHost&& on_host) {
  if (place.backend == BackendKind::kCuda) {
    try {
      on_device();
      return;
    } catch (Error const& e) {  // of the device, or there is no code for it
      WarnOnce(what, std::string{what} + " are computed on the host, because the device cannot: " + e.what());
    }
  }
  on_host();
}

/// Trees of the first `layers` rounds: of all, if there are fewer, as in stock. SHAP asks for as many rounds as there
/// are trees.
std::size_t FirstTrees(PathForest const& paths, std::uint32_t rounds, std::uint32_t layers) {
  return paths.trees() / rounds * (layers == 0 ? rounds : std::min(layers, rounds));
}

}  // namespace

bool Explanation::IsForDevice(xgboost::DMatrix const& data, std::uint32_t rounds) {
  return data.Info().num_row_ * rounds >= kPredictionPolicy.device_explanations;
}

bool Explanation::AreInteractionsForDevice(xgboost::DMatrix const& data, std::uint32_t rounds) {
  xgboost::MetaInfo const& info = data.Info();
  return info.num_row_ * info.num_col_ * rounds >= kPredictionPolicy.device_interactions;
}

std::shared_ptr<PathForest const> Explanation::Paths(xgboost::GradientBooster const& gbtree, std::uint32_t rounds) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (rounds_ != rounds) {
    paths_.reset();
    rounds_ = rounds;  // a model that is not for us is read once
    try {
      paths_ = std::make_shared<PathForest const>(PathForestOf(gbtree));
    } catch (InvalidArgument const&) {
      // Trees without sums of hessians: stock code makes of them what it can.
    }
  }
  return paths_;
}

std::shared_ptr<PathForest const> Explanation::PathsFor(xgboost::GradientBooster const& gbtree, std::uint32_t rounds,
                                                        xgboost::DMatrix const& data) {
  xgboost::MetaInfo const& info = data.Info();
  if (rounds == 0 || IsBinned(data)) return nullptr;
  if (info.num_col_ > model_->num_feature || !BaseMarginFits(info, model_->num_output_group)) return nullptr;
  auto paths = Paths(gbtree, rounds);
  bool const fits = paths != nullptr && paths->trees() % rounds == 0 && paths->features() <= model_->num_feature;
  return fits ? paths : nullptr;
}

bool Explanation::Predict(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, xgboost::DMatrix* data,
                          Place place, int threads, std::uint32_t layers, bool approximate,
                          xgboost::HostDeviceVector<float>* out) {
  xgboost::MetaInfo const& info = data->Info();
  if (info.num_row_ < kPredictionPolicy.explained_rows) return false;
  auto const paths = PathsFor(gbtree, rounds, *data);
  if (paths == nullptr) return false;

  std::size_t const trees = FirstTrees(*paths, rounds, layers);
  ContributionsView view{nullptr, info.num_row_, model_->num_output_group, model_->num_feature};
  std::vector<float> values(view.rows * view.row_size());
  view.data = values.data();
  DMatrixRows const rows{data};
  Explain(
      place, "contributions",
      [&] { PredictContributionsOnDevice(rows, *paths, 0, trees, approximate, view, place.device, threads); },
      [&] { host::PredictContributions(rows, *paths, 0, trees, approximate, view, threads); });
  AddBase(info, *model_, view.columns(), &values);
  out->HostVector() = std::move(values);
  return true;
}

bool Explanation::PredictInteractions(xgboost::GradientBooster const& gbtree, std::uint32_t rounds,
                                      xgboost::DMatrix* data, Place place, int threads, std::uint32_t layers,
                                      xgboost::HostDeviceVector<float>* out) {
  xgboost::MetaInfo const& info = data->Info();
  if (info.num_row_ * model_->num_feature < kPredictionPolicy.interaction_columns) return false;
  auto const paths = PathsFor(gbtree, rounds, *data);
  if (paths == nullptr) return false;

  std::size_t const trees = FirstTrees(*paths, rounds, layers);
  InteractionsView view{nullptr, info.num_row_, model_->num_output_group, model_->num_feature};
  std::vector<float> values(view.rows * view.row_size());
  view.data = values.data();
  DMatrixRows const rows{data};
  Explain(
      place, "interactions", [&] { PredictInteractionsOnDevice(rows, *paths, 0, trees, view, place.device, threads); },
      [&] { host::PredictInteractions(rows, *paths, 0, trees, view, threads); });
  AddBase(info, *model_, view.columns() * view.columns(), &values);
  out->HostVector() = std::move(values);
  return true;
}

void Explanation::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  paths_.reset();
  rounds_ = 0;
}

}  // namespace xgbgpu::plugin
