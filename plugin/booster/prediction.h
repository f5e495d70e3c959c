/// Predictions and explanations of rows that no training keeps.
#ifndef XGBGPU_PLUGIN_BOOSTER_PREDICTION_H_
#define XGBGPU_PLUGIN_BOOSTER_PREDICTION_H_

#include <xgboost/data.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "booster/learner_view.h"
#include "booster/prediction_source.h"
#include "data/in_place_arrays.h"
#include "matrix/matrix_rows.h"
#include "params/booster_config.h"
#include "xgb/json_values.h"
#include "xgb/types.h"
#include "xgbgpu/device_prediction.h"
#include "xgbgpu/explanation.h"
#include "xgbgpu/host_prediction.h"
#include "xgbgpu/model_view.h"

namespace xgbgpu::plugin {

/// Predicts on a device, by the engine on the host, or by stock code, whichever is fastest. Margins and leaves have the
/// same bits in all three places; contributions and interactions differ by rounding. Several threads may use it.
///
/// `rounds` are those of the model to predict with; {0, 0}: all.
class Prediction {
 public:
  Prediction(LearnerView const& learner, BoosterConfig const& config, PredictionSource* source);

  /// Predicts the margins of `data` into `out`, on top of the rounds that it has. `training`: a dart drops trees.
  void PredictMargins(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds);

  // The next four return false if the stock booster has to do the work.

  /// Predicts the margins of the arrays that this thread's C call was given. `data` describes the rows.
  bool PredictInPlace(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds) const;
  /// out: [rows, trees of the rounds].
  bool PredictLeaves(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds);
  /// out: [rows, outputs, features + 1].
  bool PredictContributions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate);
  /// out: [rows, outputs, features + 1, features + 1].
  bool PredictInteractions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds, bool approximate);

  /// Calls predict(), XGBoost's own. It writes `values` numbers for each of the `rows` and each output. XGBoost does
  /// not say how much memory it lacks. While gpu_hist is in charge, an allocation that fails becomes an error with the
  /// size.
  void PredictByStock(std::uint64_t rows, std::uint64_t values, std::function<void()> const& predict) const;
  /// Does the same with explain(matrix), XGBoost's own for leaves, contributions or interactions. While gpu_hist is in
  /// charge, the matrix has the values of a QuantileDMatrix: stock code of 3.0 and newer would read the bins.
  void ExplainByStock(xgboost::DMatrix* data, std::uint64_t values, StockCallOn const& explain) const;

  /// Throws InvalidArgument unless the model has all `rounds`. Stock methods keep their own messages and results. A
  /// stock dart alone would read past its last round.
  void CheckRounds(RoundRange rounds) const;
  /// Throws Unsupported if stock code has to read rows for `what`, and the data hold bins alone.
  void CheckHasValues(xgboost::DMatrix const& data, char const* what) const;

  /// Returns the model's codes for the category codes of `data`. Nothing: stock code has to predict, and reports what
  /// is wrong with the categories. While gpu_hist is in charge, this throws InvalidArgument instead: stock code of
  /// XGBoost 3.1 and 3.2 takes a name that the training did not have for another name.
  std::optional<Recoding> RecodingOf(xgboost::DMatrix const& data) const;

  /// Notes the device on which this worker of a process group trains. Its predictions use no other device.
  void SetWorkerDevice(int device) { worker_device_ = device; }
  /// Must be called after a change of the model that is more than new rounds.
  void Forget();

 private:
  /// Returns true if the engine reads the model's trees. Before XGBoost 3.2 vectors in leaves cannot be read from
  /// outside.
  bool ReadsTrees() const { return !learner_.has_vector_leaves() || kLeafVectors == LeafVectors::kOfLeaves; }
  std::shared_ptr<xgboost::DMatrix> WithAbsentColumns(xgboost::DMatrix* data) const;
  bool PredictMarginsByEngine(xgboost::DMatrix* data, RoundRange rounds, bool drops_trees, XgbCache* out,
                              std::shared_ptr<xgboost::DMatrix>* values);
  template <typename Predict>
  bool AddMargins(ModelView const& model, xgboost::DMatrix* data, Recoding recoding, RoundRange rounds, XgbCache* out,
                  Predict&& predict);
  void CheckNames(InPlaceArrays const& arrays) const;
  bool PredictArrays(InPlaceArrays const& arrays, xgboost::DMatrix const& data, float missing, XgbCache* out,
                     RoundRange rounds) const;
  void CheckFirstRounds(RoundRange rounds, char const* result) const;
  void CheckColumns(xgboost::DMatrix const& data, char const* result) const;
  bool IsWorthwhileOnHost(ModelView const& model, std::uint64_t rows, RoundRange rounds) const;
  std::optional<WorkPlace> ChooseDevice(DevicePrediction* prediction, ModelView const& model, std::uint64_t rows,
                                        RoundRange rounds) const;
  Place DevicePlace() const;
  bool MayExplain(xgboost::DMatrix* data, RoundRange rounds, bool approximate) const;
  WorkPlace ExplanationPlace(bool for_device) const;

  LearnerView const& learner_;
  BoosterConfig const& config_;
  PredictionSource& source_;
  std::optional<int> worker_device_;
  mutable HostPrediction on_host_;
  mutable DevicePrediction on_device_;
  mutable DevicePrediction dart_in_place_;
  Explanation explanation_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_PREDICTION_H_
