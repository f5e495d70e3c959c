/// Contributions of features to predictions, and interactions of features. This is faster than the host's own code, and
/// accurate for deep trees, too.
#ifndef XGBGPU_EXPLANATION_H_
#define XGBGPU_EXPLANATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/prediction_policy.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Explains one model by its trees' paths. The host's own code does what this cannot; values differ from the host's by
/// rounding only. Where several devices are allowed and there are many rows, these are dealt to them; every row is
/// explained by itself, so the bits are those of one. Several threads may use it.
class XGBGPU_API Explanation {
 public:
  /// policy: other than the default for tests.
  explicit Explanation(Warn warn, PredictionPolicy const& policy = kPredictionPolicy);

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
  ~Explanation();
  Explanation(Explanation const&) = delete;
  Explanation& operator=(Explanation const&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_EXPLANATION_H_
