#include "explanation.h"

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

/// Adds what every row has before the first tree to the last column.
void AddBase(xgboost::MetaInfo const& info, xgboost::LearnerModelParam const& model, ContributionsView const& view) {
  auto const& given = info.base_margin_.Data()->ConstHostVector();
  float const base = model.BaseScore(xgboost::GenericParameter::kCpuId)(0);
  std::size_t const columns = view.features + std::size_t{1};
  for (std::size_t i = 0; i < view.rows * view.outputs; ++i) {
    view.data[i * columns + view.features] += given.empty() ? base : given[i];
  }
}

}  // namespace

bool Explanation::IsForDevice(xgboost::DMatrix const& data, std::uint32_t rounds) {
  return data.Info().num_row_ * rounds >= kPredictionPolicy.device_explanations;
}

std::shared_ptr<PathForest const> Explanation::Paths(xgboost::GradientBooster const& gbtree, std::uint32_t rounds) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (rounds_ != rounds) {
    paths_.reset();
    rounds_ = rounds;  // a model that is not for us is read once
    try {
      if (auto paths = PathForestOf(gbtree)) paths_ = std::make_shared<PathForest const>(std::move(*paths));
    } catch (InvalidArgument const&) {
      // Trees without sums of hessians: stock code makes of them what it can.
    }
  }
  return paths_;
}

bool Explanation::Predict(xgboost::GradientBooster const& gbtree, std::uint32_t rounds, xgboost::DMatrix* data,
                          Place place, int threads, std::uint32_t layers, bool approximate,
                          xgboost::HostDeviceVector<float>* out) {
  xgboost::MetaInfo const& info = data->Info();
  std::uint32_t const outputs = model_->num_output_group;
  if (rounds == 0 || layers > rounds || info.num_row_ < kPredictionPolicy.explained_rows || IsBinned(*data))
    return false;
  if (info.num_col_ > model_->num_feature || !BaseMarginFits(info, outputs)) return false;
  auto const paths = Paths(gbtree, rounds);
  if (paths == nullptr || paths->trees() % rounds != 0 || paths->features() > model_->num_feature) return false;

  std::size_t const trees = paths->trees() / rounds * (layers == 0 ? rounds : layers);
  std::vector<float> values(info.num_row_ * outputs * (model_->num_feature + std::size_t{1}));
  ContributionsView const view{values.data(), info.num_row_, outputs, model_->num_feature};
  DMatrixRows const rows{data};
  bool done = false;
  if (place.backend == BackendKind::kCuda) {
    try {
      PredictContributionsOnDevice(rows, *paths, 0, trees, approximate, view, place.device, threads);
      done = true;
    } catch (Error const& e) {  // of the device, or there is no code for it
      WarnOnce("contributions",
               std::string{"contributions are computed on the host, because the device cannot: "} + e.what());
    }
  }
  if (!done) host::PredictContributions(rows, *paths, 0, trees, approximate, view, threads);
  AddBase(info, *model_, view);
  out->HostVector() = std::move(values);
  return true;
}

void Explanation::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  paths_.reset();
  rounds_ = 0;
}

}  // namespace xgbgpu::plugin
