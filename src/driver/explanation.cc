#include "driver/explanation.h"

#include <algorithm>
#include <string>

#include "driver/prediction_policy.h"
#include "predict/predictor.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Adds what every row has before the first tree to the last of the `size` values of each row and output.
void AddBase(BaseMargins const& base, std::size_t size, std::vector<float>* values) {
  for (std::size_t i = 0; i < values->size() / size; ++i) {
    (*values)[i * size + size - 1] += base.given.empty() ? base.score : base.given[i];
  }
}

/// Returns the number of trees of the first `wanted` of a model's rounds: of all, if there are fewer, as in stock. SHAP
/// asks for as many rounds as there are trees.
std::size_t FirstTrees(PathForest const& paths, std::uint32_t rounds, std::uint32_t wanted) {
  return paths.trees() / rounds * (wanted == 0 ? rounds : std::min(wanted, rounds));
}

}  // namespace

bool Explanation::IsForDevice(RowSource const& rows, std::uint32_t rounds) {
  return rows.rows() * rounds >= kPredictionPolicy.device_explanations;
}

bool Explanation::AreInteractionsForDevice(RowSource const& rows, std::uint32_t rounds) {
  return rows.rows() * rows.features() * rounds >= kPredictionPolicy.device_interactions;
}

template <typename OnDevice, typename OnHost>
void Explanation::Explain(Place place, char const* what, OnDevice&& on_device, OnHost&& on_host) const {
  if (place.backend == BackendKind::kCuda) {
    try {
      on_device();
      return;
    } catch (Error const& e) {  // the device has failed, or there is no code for it
      warn_(what, std::string{what} + " are computed on the host, because the device cannot: " + e.what());
    }
  }
  on_host();
}

std::shared_ptr<PathForest const> Explanation::Paths(ModelView const& model) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (rounds_ != model.rounds) {
    paths_.reset();
    rounds_ = model.rounds;  // a model that is not for us is read once
    try {
      paths_ = std::make_shared<PathForest const>(model.read_paths());
    } catch (InvalidArgument const&) {
      // Trees without sums of hessians: the host makes of them what it can.
    }
  }
  return paths_;
}

std::shared_ptr<PathForest const> Explanation::PathsFor(ModelView const& model, RowSource const& rows) {
  if (model.rounds == 0 || rows.features() > model.features) return nullptr;
  auto paths = Paths(model);
  bool const fits = paths != nullptr && paths->trees() % model.rounds == 0 && paths->features() <= model.features;
  return fits ? paths : nullptr;
}

bool Explanation::Contributions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                                std::uint32_t rounds, bool approximate, std::vector<float>* out) {
  if (rows.rows() < kPredictionPolicy.explained_rows) return false;
  auto const paths = PathsFor(model, rows);
  if (paths == nullptr) return false;

  std::size_t const trees = FirstTrees(*paths, model.rounds, rounds);
  ContributionsView view{nullptr, rows.rows(), model.outputs, model.features};
  std::vector<float> values(view.rows * view.row_size());
  view.data = values.data();
  Explain(
      where.place, "contributions",
      [&] {
        PredictContributionsOnDevice(rows, *paths, 0, trees, approximate, view, where.place.device, where.threads);
      },
      [&] { host::PredictContributions(rows, *paths, 0, trees, approximate, view, where.threads); });
  AddBase(base, view.columns(), &values);
  *out = std::move(values);
  return true;
}

bool Explanation::Interactions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                               std::uint32_t rounds, std::vector<float>* out) {
  if (rows.rows() * model.features < kPredictionPolicy.interaction_columns) return false;
  auto const paths = PathsFor(model, rows);
  if (paths == nullptr) return false;

  std::size_t const trees = FirstTrees(*paths, model.rounds, rounds);
  InteractionsView view{nullptr, rows.rows(), model.outputs, model.features};
  std::vector<float> values(view.rows * view.row_size());
  view.data = values.data();
  Explain(
      where.place, "interactions",
      [&] { PredictInteractionsOnDevice(rows, *paths, 0, trees, view, where.place.device, where.threads); },
      [&] { host::PredictInteractions(rows, *paths, 0, trees, view, where.threads); });
  AddBase(base, view.columns() * view.columns(), &values);
  *out = std::move(values);
  return true;
}

void Explanation::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  paths_.reset();
  rounds_ = 0;
}

}  // namespace xgbgpu
