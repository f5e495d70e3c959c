/// Contributions of features to predictions, and interactions of features: faster than the host's own code, and exact
/// for deep trees.
#ifndef XGBGPU_DRIVER_EXPLANATION_H_
#define XGBGPU_DRIVER_EXPLANATION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "driver/base_margins.h"
#include "driver/model_view.h"
#include "predict/contributions.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// One model's trees as paths. Where it does not go, the host does; values differ from the host's by rounding only. May
/// be used by several threads.
class Explanation {
 public:
  explicit Explanation(Warn warn) : warn_{std::move(warn)} {}

  /// Whether a device is worth the way for contributions, or interactions, of a model of so many rounds.
  static bool IsForDevice(RowSource const& rows, std::uint32_t rounds);
  static bool AreInteractionsForDevice(RowSource const& rows, std::uint32_t rounds);

  // Each explains the first `rounds` of the model's rounds (0, or more than there are: all); `base` is added to what no
  // feature contributes. False, and `out` is as before, if the host has to do it: there are few rows, more columns than
  // the model has features, or trees that cannot be explained.

  /// out  [rows × outputs × (features + 1)], as XGBoost's pred_contribs.
  bool Contributions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                     std::uint32_t rounds, bool approximate, std::vector<float>* out);
  /// out  [rows × outputs × (features + 1) × (features + 1)], as XGBoost's pred_interactions.
  bool Interactions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                    std::uint32_t rounds, std::vector<float>* out);

  /// The model was changed, and is to be read again.
  void Forget();

 private:
  /// Returns null if the host has to do it.
  std::shared_ptr<PathForest const> PathsFor(ModelView const& model, RowSource const& rows);
  std::shared_ptr<PathForest const> Paths(ModelView const& model);
  /// Calls on_device() if a device is the place and can do it, else on_host().
  template <typename OnDevice, typename OnHost>
  void Explain(Place place, char const* what, OnDevice&& on_device, OnHost&& on_host) const;

  Warn warn_;
  std::mutex mutex_;
  std::shared_ptr<PathForest const> paths_;
  std::uint32_t rounds_{0};  ///< of the model in paths_
};

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_EXPLANATION_H_
