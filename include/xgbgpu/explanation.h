/// Contributions of features to predictions, and interactions of features.
#ifndef XGBGPU_EXPLANATION_H_
#define XGBGPU_EXPLANATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/model_view.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Explains one model by the paths of its trees, faster than XGBoost, and accurately for deep trees, too. Values differ
/// from XGBoost's by rounding only. Several devices share the rows if there are many; the bits are the same. Several
/// threads may use an object.
class XGBGPU_API Explanation {
 public:
  class Impl;

  explicit Explanation(Warn warn);
  explicit Explanation(std::unique_ptr<Impl> impl);
  ~Explanation();
  Explanation(Explanation const&) = delete;
  Explanation& operator=(Explanation const&) = delete;

  /// Returns true if a device is faster for contributions of a model of `rounds` rounds.
  static bool IsForDevice(RowSource const& rows, std::uint32_t rounds);
  /// Returns true if a device is faster for interactions of a model of `rounds` rounds.
  static bool AreInteractionsForDevice(RowSource const& rows, std::uint32_t rounds);

  /// Computes contributions of the first `rounds` rounds; 0, or more rounds than the model has: all.
  ///
  /// In      base         added to the last column, which no feature contributes
  ///         approximate  Saabas' values in place of Shapley values
  /// Out     out [rows × outputs × (features + 1)], as XGBoost's pred_contribs
  /// Returns false, and leaves `out` unchanged, if XGBoost is to do it: few rows, more columns than the model has
  ///         features, or trees that cannot be explained
  bool Contributions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                     std::uint32_t rounds, bool approximate, std::vector<float>* out);
  /// Computes interactions, as Contributions does contributions.
  ///
  /// Out     out [rows × outputs × (features + 1) × (features + 1)], as XGBoost's pred_interactions
  bool Interactions(ModelView const& model, WorkPlace where, RowSource const& rows, BaseMargins const& base,
                    std::uint32_t rounds, std::vector<float>* out);

  /// Forgets the model, because it has changed. The next call reads it again.
  void Forget();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_EXPLANATION_H_
