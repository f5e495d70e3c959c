/// State that XGBoost's calls on one thread share. docs/adr/0008-rounds-on-the-device.md
#ifndef XGBGPU_PLUGIN_CALL_CALL_STATE_H_
#define XGBGPU_PLUGIN_CALL_CALL_STATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace xgbgpu {

class DeviceFloats;  // xgbgpu/device_rows.h
struct Place;        // xgbgpu/dataset.h

}  // namespace xgbgpu

namespace xgbgpu::plugin {

class BatchNames;       // booster/batch_names.h
class Batches;          // data/batches.h
class CurrentRound;     // booster/current_round.h
class MatricesOfCall;   // call/matrices_of_call.h
class LinkWatch;        // group/link_watch.h
class ProcessGroup;     // group/process_group.h
class RecordBatches;    // data/record_batches.h
class TreeWatch;        // xgb/predictor.h
struct InPlaceArrays;   // data/in_place_arrays.h
struct LastPrediction;  // booster/last_prediction.h

/// The XGBoost function that a thread runs. It is known if the caller reached XGBoost through our functions of the same
/// names (entry/), else kOther. It saves work: results are the same without it.
enum class ApiCall : std::uint8_t {
  kOther,
  kUpdate,    ///< XGBoosterUpdateOneIter: its caller reads neither margins nor gradients
  kEvaluate,  ///< XGBoosterEvalOneIter: its caller reads neither margins nor predictions
};

/// State that XGBoost's calls on one thread share. XGBoost's interfaces have no argument for it.
struct CallState {
  // Members that a CallScope sets for the time of a call. Calls may be nested.

  ApiCall call{ApiCall::kOther};
  std::uint64_t evaluated_matrices{0};            ///< of XGBoosterEvalOneIter
  MatricesOfCall const* matrices{nullptr};        ///< that XGBoost was given, or null
  InPlaceArrays const* in_place_arrays{nullptr};  ///< of an in-place prediction, or null
  Batches* batches{nullptr};                      ///< the source of the matrix in the making, or null
  BatchNames* batch_names{nullptr};               ///< of the batches of the matrix in the making, or null
  RecordBatches* record_batches{nullptr};         ///< the source of the matrix in the making, or null
  CurrentRound* round{nullptr};                   ///< for which XGBoost asks for trees, or null
  TreeWatch* tree_watch{nullptr};                 ///< answers what stock code asks the predictor, or null

  // Members that stay from call to call.

  std::string refusal;  ///< the reason of the last refused request; empty: none

  std::shared_ptr<LastPrediction> last_prediction;  ///< null: the thread has predicted nothing
  ProcessGroup* group{nullptr};                     ///< that the thread has entered, or null
  bool has_entered_group{false};                    ///< the thread has, also a group of one worker
  std::shared_ptr<LinkWatch> link_watch;            ///< of the group's connections, or null
  /// Where a QuantileDMatrix is binned when it is made, without a copy of its values; null: a copy is made.
  std::shared_ptr<Place const> bins_at_once;

  // Results that the caller reads until its next call.

  std::string memory_report;
  std::shared_ptr<DeviceFloats> device_predictions;

  static CallState& OfThisThread();
};

/// Gives a member of this thread's CallState another value while it is alive.
template <auto kMember>
class CallScope {
 public:
  using Value = std::remove_reference_t<decltype(std::declval<CallState&>().*kMember)>;

  explicit CallScope(Value value) : outer_{std::exchange(CallState::OfThisThread().*kMember, value)} {}
  ~CallScope() { CallState::OfThisThread().*kMember = outer_; }
  CallScope(CallScope const&) = delete;
  CallScope& operator=(CallScope const&) = delete;

 private:
  Value outer_;
};

inline ApiCall CurrentApiCall() { return CallState::OfThisThread().call; }

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_CALL_CALL_STATE_H_
