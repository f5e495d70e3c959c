/// Record batches of Arrow that a caller hands over one by one. XGBoost makes a matrix of them.
#ifndef XGBGPU_PLUGIN_DATA_RECORD_BATCHES_H_
#define XGBGPU_PLUGIN_DATA_RECORD_BATCHES_H_

#include <xgboost/c_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "call/call_state.h"
#include "data/arrow_structs.h"
#include "data/held_rows.h"

namespace xgbgpu::plugin {

/// Stands between XGBoost and the caller's function while XGDMatrixCreateFromArrowCallback runs. It keeps the batches,
/// and makes rows of them when the caller has no more. XGBoost is then given the names of the columns alone, and makes
/// a matrix without rows.
///
/// Batches that XGBoost refuses or reads in its own way are handed on to XGBoost, after the held batches. From then on
/// XGBoost is called as without this class. A batch is released once, here or by XGBoost, after its rows were read.
class RecordBatches {
 public:
  /// `missing` and `threads`: what rows are made with.
  RecordBatches(XGDMatrixCallbackNext* next, float missing, int threads);
  ~RecordBatches();
  RecordBatches(RecordBatches const&) = delete;
  RecordBatches& operator=(RecordBatches const&) = delete;

  /// XGBoost calls this in place of the caller's function, on the thread on which the newest object was made.
  static int NextForXGBoost(DataIterHandle importer);
  /// Returns the newest object of this thread if XGBoost's importer of its batches is this one, else null.
  static RecordBatches* Of(DataIterHandle importer);

  /// Does what XGImportArrowRecordBatch does. The structure of a batch must stay where it is until the matrix is made.
  int Import(arrow::Array* batch, arrow::Schema* schema);

  /// The rows; null where XGBoost has the batches.
  std::unique_ptr<HeldRows> TakeRows() { return std::move(rows_); }
  /// Returns the error of the batches, if stock code would end the process on them; else an empty text.
  std::string const& problem() const { return problem_; }

  /// A column of a schema.
  struct Column {
    std::string name;
    std::array<char, 2> format;  ///< one letter
  };

 private:
  int Next(DataIterHandle importer);
  bool MayHold(arrow::Schema const* schema) const;
  void PassOn();
  int ImportToXGBoost(arrow::Array* batch, arrow::Schema* schema);
  void MakeRows();
  void Release();

  XGDMatrixCallbackNext* next_;
  float missing_;
  int threads_;
  CallScope<&CallState::record_batches> scope_;
  DataIterHandle importer_{nullptr};
  std::vector<Column> columns_;         ///< empty: no schema has come
  std::vector<arrow::Array*> batches_;  ///< held
  std::size_t imports_{0};              ///< calls of Import that kept something
  bool is_first_call_{true};            ///< true until the caller's function has returned once
  bool is_passed_on_{false};            ///< true: XGBoost gets each batch
  bool is_at_end_{false};
  std::unique_ptr<HeldRows> rows_;
  std::string problem_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_RECORD_BATCHES_H_
