/// Large predictions of symmetric trees on the host, which the engine makes faster than stock code.
#ifndef XGBGPU_PREDICTION_HOST_PREDICTION_H_
#define XGBGPU_PREDICTION_HOST_PREDICTION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "predict/level_forest.h"
#include "prediction/model_view.h"
#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// One model, if its trees are symmetric. A shortcut only: where it does not go, stock code does, with the same bits.
/// May be used by several threads, which predict at the same time. None waits while another reads the model.
class XGBGPU_API HostPrediction {
 public:
  /// Whether the engine is to predict these rounds for `rows` rows with `threads` threads, as far as that is known
  /// without a look at the model's trees. If not, that counts as work that stock code does with this model.
  bool IsWorthwhile(ModelView const& model, std::uint64_t rows, RoundRange rounds, int threads);

  /// Does what DevicePrediction::PredictMargins does, for what is worthwhile. False, with margins as before or empty,
  /// if stock code has to do it: a tree is not symmetric, another thread is reading the model, or there is no memory.
  bool PredictMargins(ModelView const& model, int threads, RowSource const& rows, RoundRange rounds,
                      BaseMargins const* base, std::vector<float>* margins);

  /// The model was changed, by more than new rounds at its end, and is to be read again.
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
  std::uint64_t turned_away_{0};  ///< rows × rounds that stock code has predicted with the model
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_HOST_PREDICTION_H_
