/// What a thread does for a caller of XGBoost. docs/adr/0008-rounds-on-the-device.md
#ifndef XGBGPU_PLUGIN_XGB_API_CALL_H_
#define XGBGPU_PLUGIN_XGB_API_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "xgbgpu/data_key.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

class DeviceFloats;  // xgbgpu/device_rows.h
struct Place;        // xgbgpu/dataset.h

}  // namespace xgbgpu

namespace xgbgpu::plugin {

class BatchNames;       // booster/batch_names.h
class Batches;          // data/batches.h
class CurrentRound;     // booster/current_round.h
class MatricesOfCall;   // below
class LinkWatch;        // group/link_watch.h
class ProcessGroup;     // group/process_group.h
class RecordBatches;    // data/record_batches.h
class TreeWatch;        // xgb/predictor.h
class ValuesOnDevice;   // data/device_arrays.h
struct LastPrediction;  // booster/last_prediction.h

/// The function of XGBoost's that a thread runs. It is known for callers that reach XGBoost through our functions of the
/// same names (entry/), and kOther for all others. It saves work: results are the same without it.
enum class ApiCall : std::uint8_t {
  kOther,
  kUpdate,    ///< XGBoosterUpdateOneIter: its caller reads neither margins nor gradients
  kEvaluate,  ///< XGBoosterEvalOneIter: its caller reads neither margins nor predictions
};

/// The arguments of an in-place prediction, in XGBoost's array interface (JSON).
struct InPlaceArrays {
  char const* values;            ///< dense: of two dimensions; CSR: of one
  char const* indptr{nullptr};   ///< null: dense
  char const* indices{nullptr};  ///< CSR only
  std::uint64_t columns{0};      ///< CSR only
  /// The values are on a device; `values` describes room for them on the host. Null: they are on the host.
  ValuesOnDevice* on_device{nullptr};
  /// `values` is a list of arrays of one dimension, the columns. A column that has categories is a list itself.
  bool by_columns{false};
};

/// Returns the arguments of a prediction of a list of columns.
inline InPlaceArrays ByColumns(char const* columns) {
  InPlaceArrays arrays{columns};
  arrays.by_columns = true;
  return arrays;
}

/// All that one call of XGBoost's on a thread tells the next one, where XGBoost's interfaces have no argument for it.
struct CallState {
  // Members that a CallScope sets for the time of a call. Calls may be nested.

  ApiCall call{ApiCall::kOther};
  std::uint64_t evaluated_matrices{0};            ///< of XGBoosterEvalOneIter
  MatricesOfCall const* matrices{nullptr};        ///< that XGBoost was given, or null
  InPlaceArrays const* in_place_arrays{nullptr};  ///< of an in-place prediction, or null
  Batches* batches{nullptr};                      ///< of which a matrix is being made, or null
  BatchNames* batch_names{nullptr};               ///< of batches of which XGBoost makes a matrix, or null
  RecordBatches* record_batches{nullptr};         ///< of which a matrix is being made, or null
  CurrentRound* round{nullptr};                   ///< for which XGBoost asks for trees, or null
  TreeWatch* tree_watch{nullptr};                 ///< sees the trees that stock code predicts, or null

  // Members that stay from call to call.

  std::string refusal;  ///< why a request was refused that a part of ours refused last; empty: none was

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

/// The matrices that a C function of XGBoost was given, for xgb/owner.h, while it is alive.
class MatricesOfCall {
 public:
  /// `handles`: [n], of XGBoost's C interface. Null handles are passed over.
  MatricesOfCall(void* const* handles, std::size_t n)
      : handles_{handles, n}, outer_{CallState::OfThisThread().matrices}, scope_{this} {}

  Span<void* const> handles() const { return handles_; }
  /// The matrices of the call around this one; null: there is none.
  MatricesOfCall const* outer() const { return outer_; }

 private:
  Span<void* const> handles_;
  MatricesOfCall const* outer_;
  CallScope<&CallState::matrices> scope_;
};

inline ApiCall CurrentApiCall() { return CallState::OfThisThread().call; }

/// Changes MetaInfoEpoch before a call that sets labels, weights, groups or margins, and after it, so that no other
/// thread takes old labels for new ones.
class EpochScope {
 public:
  EpochScope();
  ~EpochScope();
  EpochScope(EpochScope const&) = delete;
  EpochScope& operator=(EpochScope const&) = delete;
};

/// Returns a number that changes whenever labels, weights, groups or margins of any matrix may have been set through our
/// functions; no value if this thread's caller may have reached XGBoost past our functions.
DataEpoch KnownEpoch();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_API_CALL_H_
