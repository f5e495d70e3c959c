/// Contributions of features to predictions, and interactions of features. This is faster than the host's own code, and
/// accurate for deep trees, too.
#ifndef XGBGPU_PREDICTION_EXPLANATION_H_
#define XGBGPU_PREDICTION_EXPLANATION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "predict/contributions.h"
#include "prediction/model_view.h"
#include "prediction/prediction_policy.h"
#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Explains one model by its trees' paths. The host's own code does what this cannot; values differ from the host's by
/// rounding only. Where several devices are allowed and there are many rows, these are dealt to them; every row is
/// explained by itself, so the bits are those of one. Several threads may use it.
class XGBGPU_API Explanation {
 public:
  /// policy: other than the default for tests.
  explicit Explanation(Warn warn, PredictionPolicy const& policy = kPredictionPolicy)
      : warn_{std::move(warn)}, policy_{policy} {}

  /// True if a device is faster for contributions, or interactions, of a model of so many rounds.
  static bool IsForDevice(RowSource const& rows, std::uint32_t rounds);
  static bool AreInteractionsForDevice(RowSource const& rows, std::uint32_t rounds);

  // Both explain the first `rounds` of the model's rounds (0, or more than there are: all); `base` is added to what no
  // feature contributes. They return false, and leave `out` as it was, if the host has to do it: there are few rows,
  // more columns than the model has features, or trees that cannot be explained.

  /// out  [rows × outputs × (features + 1)], as XGBoost's pred_contribs.
  bool Contributions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                     std::uint32_t rounds, bool approximate, std::vector<float>* out);
  /// out  [rows × outputs × (features + 1) × (features + 1)], as XGBoost's pred_interactions.
  bool Interactions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                    std::uint32_t rounds, std::vector<float>* out);

  /// Is called when the model has changed: it is read again.
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

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_EXPLANATION_H_
