/// Batches that a caller hands over one by one, through a proxy. XGBoost makes a matrix of them.
#ifndef XGBGPU_PLUGIN_DATA_BATCHES_H_
#define XGBGPU_PLUGIN_DATA_BATCHES_H_

#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call/call_state.h"
#include "data/array_rows.h"
#include "data/held_rows.h"
#include "data/in_place_arrays.h"
#include "xgbgpu/device_rows.h"

namespace xgbgpu::plugin {

/// Stands between XGBoost and the caller's iterator while a QuantileDMatrix is made. It notes the arrays of each batch.
/// It refuses batches on which stock code would end the process.
class Batches {
 public:
  /// `proxy` may be null: XGBoost finds that error. have_ref: bins are shared with other data. config: the JSON text
  /// for the matrix. It may be null, and must outlive this object.
  Batches(DataIterHandle caller, DMatrixHandle proxy, bool have_ref, DataIterResetCallback* reset,
          XGDMatrixCallbackNext* next, char const* config);
  Batches(Batches const&) = delete;
  Batches& operator=(Batches const&) = delete;

  /// Returns the newest object of this thread if `proxy` belongs to it, else null.
  static Batches* Of(DMatrixHandle proxy);

  /// Goes back before the first batch. Throws dmlc::Error for a max_bin that cannot be.
  void Reset();
  /// Goes to the next batch; returns false after the last one. Throws dmlc::Error for columns that do not exist, and
  /// weights that are too few.
  bool Next();
  /// XGBoost calls the next two in place of the caller's functions, with this object as handle.
  static void ResetForXGBoost(DataIterHandle batches) {
    static_cast<Batches*>(batches)->may_stay_ = false;
    if (auto& recording = static_cast<Batches*>(batches)->recording_) ++recording->pass;
    static_cast<Batches*>(batches)->Reset();
  }
  static int NextForXGBoost(DataIterHandle batches) { return static_cast<Batches*>(batches)->Next() ? 1 : 0; }

  /// The caller sets a dense array as values of the batch.
  void NoteDense(char const* values);
  /// The caller sets a list of arrays, the columns.
  void NoteColumns(char const* columns);
  /// The caller sets CSR arrays. Returns the arrays for XGBoost to read instead; null: the caller's. XGBoost assumes
  /// that columns ascend in a row: it searches the column of a bin from the column of the bin before. Otherwise a
  /// QuantileDMatrix cannot be read again.
  AscendingRows const* NoteCsr(InPlaceArrays const& arrays);
  /// The caller sets an array on a GPU. Returns false if XGBoost reads this batch, so that it needs a copy on the host.
  /// Throws InvalidArgument, as ParseDeviceTable does.
  bool NoteDevice(char const* interfaces);
  /// Returns the array on a GPU of this batch, or null.
  DeviceTable const* table() const { return table_ ? &*table_ : nullptr; }

  /// Returns the arrays of this batch as XGBoost reads them; null if they were set past our functions, or are on a GPU.
  InPlaceArrays const* arrays() const { return has_arrays_ ? &arrays_ : nullptr; }

  /// From now on copies the values of the batches of XGBoost's first pass.
  void Record(float missing, int threads) { recording_ = Recording{missing, threads, 0, {}}; }
  /// Returns the rows that were copied; null if there were none, or a batch could not be copied (HoldRows).
  std::unique_ptr<HeldRows> TakeRecorded();

  /// Returns the proxy's labels, weights and all else but its values.
  xgboost::MetaInfo* info() const;
  /// Moves info() out of the proxy.
  xgboost::MetaInfo TakeInfo() const { return std::exchange(*info(), {}); }

 private:
  struct Recording {
    float missing;
    int threads;
    int pass;
    std::vector<std::unique_ptr<HeldRows>> batches;
  };
  void RecordBatch();
  void Note(std::string values, std::string indptr, std::string indices, std::uint64_t columns);

  DataIterHandle caller_;
  DMatrixHandle proxy_;
  bool have_ref_;
  DataIterResetCallback* reset_;
  XGDMatrixCallbackNext* next_;
  char const* config_;
  CallScope<&CallState::batches> scope_;
  bool may_stay_{true};  ///< true: batches on a GPU stay there, because XGBoost does not read them in this pass
  std::optional<DeviceTable> table_;
  std::unique_ptr<AscendingRows> ascending_;
  std::string problem_;  ///< an error of the batch on which XGBoost would end the process
  std::string values_, indptr_, indices_;
  InPlaceArrays arrays_{};  ///< points to the texts above
  bool has_arrays_{false};
  std::optional<Recording> recording_;  ///< nothing: not asked for, or given up
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_BATCHES_H_
