// Explains predictions by the paths of a model's trees, on devices or on the host.
#include "xgbgpu/explanation.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "predict/contributions.h"
#include "predict/predictor.h"
#include "prediction/prediction_policy.h"
#include "prediction/read_model.h"
#include "prediction/with_policy.h"
#include "user_arrays/read_in_parts.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Adds what every row has before the first tree to the last of the `size` values of each row and output.
void AddBase(BaseMargins const& base, std::size_t size, std::vector<float>* values) {
  for (std::size_t i = 0; i < values->size() / size; ++i) {
    (*values)[i * size + size - 1] += base.given.empty() ? base.scores[i % base.scores.size()] : base.given[i];
  }
}

/// Returns the number of trees of the first `wanted` of a model's rounds: of all, if there are fewer, as in stock. SHAP
/// asks for as many rounds as there are trees.
std::size_t FirstTrees(PathForest const& paths, std::uint32_t rounds, std::uint32_t wanted) {
  return paths.trees() / rounds * (wanted == 0 ? rounds : std::min(wanted, rounds));
}

/// The size of a call, as the policy counts it.
std::uint64_t ContributionWork(RowSource const& rows, std::uint32_t rounds) { return rows.rows() * rounds; }
std::uint64_t InteractionWork(RowSource const& rows, std::uint32_t rounds) {
  return rows.rows() * rows.features() * rounds;
}

}  // namespace

class Explanation::Impl {
 public:
  Impl(Warn warn, PredictionPolicy const& policy) : warn_{std::move(warn)}, policy_{policy} {}

  bool Contributions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                     std::uint32_t rounds, bool approximate, std::vector<float>* out);
  bool Interactions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                    std::uint32_t rounds, std::vector<float>* out);
  void Forget();

 private:
  /// Returns null if the host has to do it.
  std::shared_ptr<PathForest const> PathsFor(ModelView const& model, RowSource const& rows);
  std::shared_ptr<PathForest const> Paths(ModelView const& model);
  /// Has devices explain the rows, if they are the place and can do it: on_device(part of the rows, device, threads of
  /// the host), on several if there is work for them. Else calls on_host().
  template <typename OnDevice, typename OnHost>
  void Explain(WorkPlace where, char const* what, RowSource const& rows, std::uint64_t work, OnDevice&& on_device,
               OnHost&& on_host) const;

  Warn warn_;
  PredictionPolicy policy_;
  std::mutex mutex_;
  std::shared_ptr<PathForest const> paths_;
  std::uint32_t rounds_{0};  ///< rounds of the model in paths_
  mutable std::atomic<bool> several_fail_{false};
};

bool Explanation::IsForDevice(RowSource const& rows, std::uint32_t rounds) {
  return ContributionWork(rows, rounds) >= kPredictionPolicy.device_explanations;
}

bool Explanation::AreInteractionsForDevice(RowSource const& rows, std::uint32_t rounds) {
  return InteractionWork(rows, rounds) >= kPredictionPolicy.device_interactions;
}

template <typename OnDevice, typename OnHost>
void Explanation::Impl::Explain(WorkPlace where, char const* what, RowSource const& rows, std::uint64_t work,
                                OnDevice&& on_device, OnHost&& on_host) const {
  if (where.place.backend == BackendKind::kCuda) {
    std::vector<int> const ordinals = OrdinalsOf(where.place);
    int devices = 1;
    if (!several_fail_ && MayBeDealt(rows)) {
      devices = PredictionPolicy::Devices(where.place.devices, work, policy_.dealt_explanations);
    }
    for (;; devices = 1) {
      try {
        ReadInParts(rows, devices, [&](int i, RowSource const& part) {
          on_device(part, ordinals[static_cast<std::size_t>(i)], std::max(1, where.threads / devices));
        });
        return;
      } catch (Error const& e) {  // a device has failed, or there is no code for it
        std::string const instead =
            devices > 1 ? "one GPU, because several cannot: " : "the host, because the device cannot: ";
        warn_(devices > 1 ? std::string{what} + " on several GPUs" : what,
              std::string{what} + " are computed on " + instead + e.what());
        if (devices == 1) break;
        several_fail_ = true;
      }
    }
  }
  on_host();
}

std::shared_ptr<PathForest const> Explanation::Impl::Paths(ModelView const& model) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (rounds_ != model.rounds) {
    paths_.reset();
    rounds_ = model.rounds;  // a model that is not for us is read once
    try {
      paths_ = std::make_shared<PathForest const>(ReadPaths(model));
    } catch (InvalidArgument const&) {
      // Trees without sums of hessians: the host makes of them what it can.
    }
  }
  return paths_;
}

std::shared_ptr<PathForest const> Explanation::Impl::PathsFor(ModelView const& model, RowSource const& rows) {
  if (model.rounds == 0 || rows.features() > model.features) return nullptr;
  auto paths = Paths(model);
  bool const fits = paths != nullptr && paths->trees() % model.rounds == 0 && paths->features() <= model.features;
  return fits ? paths : nullptr;
}

bool Explanation::Impl::Contributions(ModelView const& model, WorkPlace where, RowSource const& rows,
                                      BaseMargins const& base, std::uint32_t rounds, bool approximate,
                                      std::vector<float>* out) {
  if (rows.rows() < policy_.explained_rows) return false;
  auto const paths = PathsFor(model, rows);
  if (paths == nullptr) return false;

  std::size_t const trees = FirstTrees(*paths, model.rounds, rounds);
  ContributionsView view{nullptr, rows.rows(), model.outputs, model.features};
  std::vector<float> values(view.rows * view.row_size());
  view.data = values.data();
  Explain(
      where, "contributions", rows, ContributionWork(rows, model.rounds),
      [&](RowSource const& part, int device, int threads) {
        DeviceBackend::Get().PredictContributions(part, *paths, 0, trees, approximate, view, device, threads);
      },
      [&] { host::PredictContributions(rows, *paths, 0, trees, approximate, view, where.threads); });
  AddBase(base, view.columns(), &values);
  *out = std::move(values);
  return true;
}

bool Explanation::Impl::Interactions(ModelView const& model, WorkPlace where, RowSource const& rows,
                                     BaseMargins const& base, std::uint32_t rounds, std::vector<float>* out) {
  if (rows.rows() * model.features < policy_.interaction_columns) return false;
  auto const paths = PathsFor(model, rows);
  if (paths == nullptr) return false;

  std::size_t const trees = FirstTrees(*paths, model.rounds, rounds);
  InteractionsView view{nullptr, rows.rows(), model.outputs, model.features};
  std::vector<float> values(view.rows * view.row_size());
  view.data = values.data();
  Explain(
      where, "interactions", rows, InteractionWork(rows, model.rounds),
      [&](RowSource const& part, int device, int threads) {
        DeviceBackend::Get().PredictInteractions(part, *paths, 0, trees, view, device, threads);
      },
      [&] { host::PredictInteractions(rows, *paths, 0, trees, view, where.threads); });
  AddBase(base, view.columns() * view.columns(), &values);
  *out = std::move(values);
  return true;
}

void Explanation::Impl::Forget() {
  std::lock_guard<std::mutex> lock{mutex_};
  paths_.reset();
  rounds_ = 0;
  several_fail_ = false;
}

Explanation::Explanation(Warn warn) : impl_{std::make_unique<Impl>(std::move(warn), kPredictionPolicy)} {}

Explanation::Explanation(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

Explanation MakeExplanation(Warn warn, PredictionPolicy const& policy) {
  return Explanation{std::make_unique<Explanation::Impl>(std::move(warn), policy)};
}

Explanation::~Explanation() = default;

bool Explanation::Contributions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                                std::uint32_t rounds, bool approximate, std::vector<float>* out) {
  return impl_->Contributions(model, where, rows, base, rounds, approximate, out);
}

bool Explanation::Interactions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                               std::uint32_t rounds, std::vector<float>* out) {
  return impl_->Interactions(model, where, rows, base, rounds, out);
}

void Explanation::Forget() { impl_->Forget(); }

}  // namespace xgbgpu
