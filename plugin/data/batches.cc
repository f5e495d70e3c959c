// Reads the batches of a caller for XGBoost, and notes what each of them has.
#include "data/batches.h"

#include <xgboost/json.h>

#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "base/message.h"
#include "data/device_arrays.h"
#include "data/joined_rows.h"
#include "errors/boundary.h"
#include "xgb/json_arguments.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Throws if weights are too few. Stock code needs a weight for every row for quantiles, and ends the process without.
/// (It checks weights of groups itself. At a training it also checks too many weights, and weights of data with `ref`.)
void CheckWeightsOfBatch(xgboost::MetaInfo const& info) {
  std::uint64_t const weights = info.weights_.Size();
  if (weights == 0 || weights >= info.num_row_ || !info.group_ptr_.empty()) return;
  Throw<InvalidArgument>("The data have ", info.num_row_, " rows and ", weights,
                         " sample weights; allowed: one weight for each row, or none");
}

/// Refuses a max_bin for which stock code would ask for too much memory: its own message does not name the parameter.
void CheckMaxBin(char const* config) {
  if (config == nullptr) return;
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{config});
  auto const found = MemberOf(json, "max_bin");
  if (!found || !xgboost::IsA<xgboost::Integer>(*found)) return;
  std::int64_t const bins = xgboost::get<xgboost::Integer const>(*found);
  if (bins >= 1 && bins <= std::numeric_limits<std::int32_t>::max()) return;
  Throw<InvalidArgument>("Parameter max_bin is ", bins, "; allowed: 2 or more, for gpu_hist up to 65535");
}

}  // namespace

Batches::Batches(DataIterHandle caller, DMatrixHandle proxy, bool have_ref, DataIterResetCallback* reset,
                 XGDMatrixCallbackNext* next, char const* config)
    : caller_{caller}, proxy_{proxy}, have_ref_{have_ref}, reset_{reset}, next_{next}, config_{config}, scope_{this} {}

Batches* Batches::Of(DMatrixHandle proxy) {
  Batches* const innermost = CallState::OfThisThread().batches;
  return innermost != nullptr && innermost->proxy_ == proxy ? innermost : nullptr;
}

void Batches::Reset() {
  if (!have_ref_) AtBoundary("reading batches", [&] { CheckMaxBin(config_); });
  reset_(caller_);
}

bool Batches::Next() {
  problem_.clear();
  has_arrays_ = false;
  table_.reset();
  bool const more = next_(caller_) != 0;
  if (more && proxy_ != nullptr) {
    AtBoundary("reading batches", [&] {
      if (!problem_.empty()) throw InvalidArgument{problem_};
      if (!have_ref_) CheckWeightsOfBatch(*info());
    });
  }
  if (more && recording_ && recording_->pass == 1) RecordBatch();
  return more;
}

void Batches::RecordBatch() {
  std::unique_ptr<HeldRows> rows;
  try {
    if (has_arrays_) rows = HoldRows(arrays_, recording_->missing, recording_->threads);
  } catch (std::exception const&) {  // no memory; or XGBoost finds the same, and says what is wrong
  }
  auto& batches = recording_->batches;
  bool const fits = rows != nullptr && (batches.empty() || batches.front()->features() == rows->features());
  if (fits) {
    batches.push_back(std::move(rows));
  } else {
    recording_.reset();
  }
}

std::unique_ptr<HeldRows> Batches::TakeRecorded() {
  if (!recording_ || recording_->batches.empty()) return nullptr;
  return JoinRows(std::move(std::exchange(recording_, {})->batches));
}

void Batches::Note(std::string values, std::string indptr, std::string indices, std::uint64_t columns) {
  values_ = std::move(values);
  indptr_ = std::move(indptr);
  indices_ = std::move(indices);
  arrays_ = InPlaceArrays{values_.c_str()};
  if (!indptr_.empty()) arrays_ = {values_.c_str(), indptr_.c_str(), indices_.c_str(), columns};
  has_arrays_ = true;
}

void Batches::NoteDense(char const* values) { Note(values, {}, {}, 0); }

void Batches::NoteColumns(char const* columns) {
  Note(columns, {}, {}, 0);
  arrays_ = ByColumns(values_.c_str());
}

bool Batches::NoteDevice(char const* interfaces) {
  if (!may_stay_) return false;
  table_ = ParseDeviceTable(interfaces);
  // Types of columns and the like, which come next, are checked against both numbers.
  info()->num_row_ = table_->rows;
  info()->num_col_ = table_->columns.size();
  return true;
}

AscendingRows const* Batches::NoteCsr(InPlaceArrays const& arrays) {
  ascending_ = nullptr;
  problem_.clear();
  try {
    ascending_ = MakeAscendingRows(arrays);
  } catch (InvalidArgument const& error) {
    problem_ = error.what();
  } catch (std::exception const&) {  // XGBoost reads the same arrays next, and says what is wrong with them
  }
  if (ascending_ == nullptr) {
    Note(arrays.values, arrays.indptr, arrays.indices, arrays.columns);
  } else {
    Note(ascending_->values(), ascending_->indptr(), ascending_->indices(), arrays.columns);
  }
  return ascending_.get();
}

xgboost::MetaInfo* Batches::info() const {
  return &(*static_cast<std::shared_ptr<xgboost::DMatrix> const*>(proxy_))->Info();
}

}  // namespace xgbgpu::plugin
