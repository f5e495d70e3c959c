/// XGBoost's C functions that make or save a matrix, with ours in front: they hold a copy of the user's values, and
/// make XGBoost's pages only if stock code asks for them. docs/adr/0019-the-users-array.md
#include <xgboost/c_api.h>
#include <xgboost/data.h>
#include <xgboost/json.h>
#include <xgboost/logging.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/message.h"
#include "data/array_rows.h"
#include "data/array_view.h"
#include "data/batches.h"
#include "data/datatable_columns.h"
#include "data/held_rows.h"
#include "data/per_proxy.h"
#include "data/plain_array.h"
#include "data/record_batches.h"
#include "errors/fail.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "matrix/hold_batches.h"
#include "xgb/api_call.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Makes a matrix of ours of what hold() copies, or calls stock() where it is for XGBoost to make it, or to say what is
/// wrong.
template <typename Hold, typename Stock>
int HoldOr(Hold&& hold, int nthread, DMatrixHandle* out, Stock&& stock) {
  if (!WhyNotRegistered().empty() || out == nullptr) return stock();
  std::unique_ptr<HeldRows> rows;
  try {
    HostSpan span{"hold values"};
    rows = hold();
  } catch (InvalidArgument const& error) {  // stock code would read what is not of the arrays, or ask for too much
    Fail(error.what());
    return -1;
  } catch (std::exception const&) {  // no array interface, or no memory: stock code finds the same
  }
  if (rows == nullptr) return stock();
  DMatrixHandle const held = MakeHeldMatrix(std::move(rows), nthread);
  if (held == nullptr) return stock();
  *out = held;
  return 0;
}

/// Does the same for array interfaces.
template <typename Stock>
int HoldOr(InPlaceArrays const& arrays, float missing, int nthread, DMatrixHandle* out, Stock&& stock) {
  auto const hold = [&] { return HoldRows(arrays, missing, ThreadsOfMatrix(nthread)); };
  return HoldOr(hold, nthread, out, std::forward<Stock>(stock));
}

/// Does the same for a caller who passes missing and nthread as JSON.
template <typename Stock>
int HoldOr(InPlaceArrays const& arrays, char const* config, DMatrixHandle* out, Stock&& stock) {
  MatrixConfig read{};
  try {
    read = ReadMatrixConfig(config);
  } catch (std::exception const&) {
    return stock();
  }
  return HoldOr(arrays, read.missing, read.nthread, out, stock);
}

/// XGBoost's functions without a number of threads make a matrix with one.
constexpr int kThreadsOfOldFunctions = 1;

/// stock() is XGBoost's function, which is given `batches`.
template <typename F>
int MakeFromBatches(Batches* batches, std::optional<BinsConfig> config, DMatrixHandle ref, DMatrixHandle* out,
                    F&& stock) {
  if (!config || out == nullptr) return stock();
  std::shared_ptr<xgboost::DMatrix> shared;
  if (ref != nullptr) shared = *static_cast<std::shared_ptr<xgboost::DMatrix> const*>(ref);
  if (ref != nullptr && shared == nullptr) return stock();
  DMatrixHandle held = nullptr;
  auto const hold = [&] { held = HoldBatches(batches, std::move(*config), std::move(shared)); };
  if (!Passes("making a QuantileDMatrix", hold)) return -1;
  if (held == nullptr) return stock();
  *out = held;
  return 0;
}

/// Has set(the arrays for stock code) make them the batch of a proxy. XGBoost reads a copy later: it is kept.
template <typename Set>
int SetPlainBatch(DMatrixHandle proxy, InPlaceArrays const& given, Set&& set) {
  if (!WhyNotRegistered().empty()) return set(given);
  std::optional<PlainArrays> plain;
  if (!Passes("copying an array", [&] { plain.emplace(given); })) return -1;
  int const status = set(plain->arrays());
  auto& kept = PerProxy<PlainArrays>::Instance();
  if (plain->has_copy()) {
    kept.Keep(proxy, std::move(*plain));
  } else {
    kept.Drop(proxy);
  }
  return status;
}

/// The text with a number of threads that the system starts.
std::string WithThreads(char const* config, int nthread) {
  if (LimitThreads(nthread) == nthread) return config;
  xgboost::Json limited = xgboost::Json::Load(xgboost::StringView{config});
  limited["nthread"] = xgboost::Integer{LimitThreads(nthread)};
  std::string text;
  xgboost::Json::Dump(limited, &text);
  return text;
}

/// Makes a matrix of record batches. stock(next, config, out) is XGBoost's function.
template <typename Stock>
int MakeFromRecordBatches(XGDMatrixCallbackNext* next, char const* config, DMatrixHandle* out, Stock&& stock) {
  MatrixConfig read{};
  try {
    read = ReadMatrixConfig(config);
  } catch (std::exception const&) {
    return stock(next, config, out);
  }
  RecordBatches batches{next, read.missing, ThreadsOfMatrix(read.nthread)};
  DMatrixHandle made = nullptr;
  std::string const limited = WithThreads(config, read.nthread);
  int const status = stock(RecordBatches::NextForXGBoost, limited.c_str(), &made);
  if (status != 0) return status;
  if (!batches.problem().empty()) {
    XGDMatrixFree(made);
    Fail(batches.problem());
    return -1;
  }
  auto rows = batches.TakeRows();
  if (rows != nullptr && !HoldIn(made, std::move(rows))) return -1;
  *out = made;
  return 0;
}

}  // namespace

}  // namespace xgbgpu::plugin

using xgbgpu::plugin::ArrayText;
using xgbgpu::plugin::AsHeld;
using xgbgpu::plugin::AsHeldBins;
using xgbgpu::plugin::Batches;
using xgbgpu::plugin::CscArrays;
using xgbgpu::plugin::DatatableColumns;
using xgbgpu::plugin::HoldOr;
using xgbgpu::plugin::HoldRows;
using xgbgpu::plugin::InPlaceArrays;
using xgbgpu::plugin::kThreadsOfOldFunctions;
using xgbgpu::plugin::MakeBinsConfig;
using xgbgpu::plugin::MakeFromBatches;
using xgbgpu::plugin::MakeFromRecordBatches;
using xgbgpu::plugin::NextFunction;
using xgbgpu::plugin::ReadBinsConfig;
using xgbgpu::plugin::RecordBatches;
using xgbgpu::plugin::SetPlainBatch;
using xgbgpu::plugin::ThreadsOfMatrix;
using xgbgpu::plugin::WithPlainArrays;

extern "C" {

XGBGPU_EXPORT int XGDMatrixCreateFromDense(char const* values, char const* config, DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromDense)>("XGDMatrixCreateFromDense");
  if (values == nullptr || config == nullptr) return kNext(values, config, out);
  return WithPlainArrays({values}, [&](InPlaceArrays const& arrays) {
    return HoldOr(arrays, config, out, [&] { return kNext(arrays.values, config, out); });
  });
}

XGBGPU_EXPORT int XGDMatrixCreateFromMat_omp(float const* data, bst_ulong rows, bst_ulong columns, float missing,
                                             DMatrixHandle* out, int nthread) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromMat_omp)>("XGDMatrixCreateFromMat_omp");
  std::string const values = ArrayText(data, {rows, columns});
  return HoldOr(InPlaceArrays{values.c_str()}, missing, nthread, out,
                [&] { return kNext(data, rows, columns, missing, out, nthread); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromMat(float const* data, bst_ulong rows, bst_ulong columns, float missing,
                                         DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromMat)>("XGDMatrixCreateFromMat");
  std::string const values = ArrayText(data, {rows, columns});
  return HoldOr(InPlaceArrays{values.c_str()}, missing, kThreadsOfOldFunctions, out,
                [&] { return kNext(data, rows, columns, missing, out); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromCSR(char const* indptr, char const* indices, char const* values, bst_ulong columns,
                                         char const* config, DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromCSR)>("XGDMatrixCreateFromCSR");
  if (indptr == nullptr || indices == nullptr || values == nullptr || config == nullptr) {
    return kNext(indptr, indices, values, columns, config, out);
  }
  return WithPlainArrays({values, indptr, indices, columns}, [&](InPlaceArrays const& arrays) {
    return HoldOr(arrays, config, out,
                  [&] { return kNext(arrays.indptr, arrays.indices, arrays.values, columns, config, out); });
  });
}

XGBGPU_EXPORT int XGDMatrixCreateFromCSREx(std::size_t const* indptr, unsigned const* indices, float const* values,
                                           std::size_t indptr_size, std::size_t stored, std::size_t columns,
                                           DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromCSREx)>("XGDMatrixCreateFromCSREx");
  auto const stock = [&] { return kNext(indptr, indices, values, indptr_size, stored, columns, out); };
  if (columns == 0) return stock();  // XGBoost counts the columns
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  std::string const value_text = ArrayText(values, {stored}), index_text = ArrayText(indices, {stored});
  std::string const offset_text = ArrayText(reinterpret_cast<std::uint64_t const*>(indptr), {indptr_size});
  return HoldOr({value_text.c_str(), offset_text.c_str(), index_text.c_str(), columns},
                std::numeric_limits<float>::quiet_NaN(), kThreadsOfOldFunctions, out, stock);
}

XGBGPU_EXPORT int XGDMatrixCreateFromCSCEx(std::size_t const* col_ptr, unsigned const* indices, float const* values,
                                           std::size_t col_ptr_size, std::size_t stored, std::size_t rows,
                                           DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromCSCEx)>("XGDMatrixCreateFromCSCEx");
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  auto const hold = [&] {
    if (col_ptr_size == 0) {
      xgbgpu::Throw<xgbgpu::InvalidArgument>("nindptr is 0; allowed: the number of columns and one");
    }
    auto const* const offsets = reinterpret_cast<std::uint64_t const*>(col_ptr);
    return HoldRows(CscArrays{offsets, indices, values, col_ptr_size - 1, stored, rows});
  };
  return HoldOr(hold, kThreadsOfOldFunctions, out,
                [&] { return kNext(col_ptr, indices, values, col_ptr_size, stored, rows, out); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromDT(void** data, char const** types, bst_ulong rows, bst_ulong columns,
                                        DMatrixHandle* out, int nthread) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromDT)>("XGDMatrixCreateFromDT");
  auto const hold = [&] { return HoldRows(DatatableColumns{data, types, rows, columns}, ThreadsOfMatrix(nthread)); };
  return HoldOr(hold, nthread, out, [&] { return kNext(data, types, rows, columns, out, nthread); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromArrowCallback(XGDMatrixCallbackNext* next, char const* config,
                                                   DMatrixHandle* out) {
  static auto* const kNext =
      NextFunction<decltype(XGDMatrixCreateFromArrowCallback)>("XGDMatrixCreateFromArrowCallback");
  bool const complete = config != nullptr && out != nullptr;
  if (!xgbgpu::plugin::WhyNotRegistered().empty() || !complete) return kNext(next, config, out);
  if (next == nullptr) {  // stock code would call it
    xgbgpu::plugin::Fail("next is null; allowed: a function that hands record batches over");
    return -1;
  }
  return MakeFromRecordBatches(next, config, out, kNext);
}

XGBGPU_EXPORT int XGImportArrowRecordBatch(DataIterHandle importer, void* batch, void* schema) {
  static auto* const kNext = NextFunction<decltype(XGImportArrowRecordBatch)>("XGImportArrowRecordBatch");
  auto* const batches = RecordBatches::Of(importer);
  if (batches == nullptr) return kNext(importer, batch, schema);
  return batches->Import(static_cast<xgbgpu::plugin::arrow::Array*>(batch),
                         static_cast<xgbgpu::plugin::arrow::Schema*>(schema));
}

XGBGPU_EXPORT int XGQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy, DataIterHandle ref,
                                                      DataIterResetCallback* reset, XGDMatrixCallbackNext* next,
                                                      char const* config, DMatrixHandle* out) {
  static auto* const kNext =
      NextFunction<decltype(XGQuantileDMatrixCreateFromCallback)>("XGQuantileDMatrixCreateFromCallback");
  // The code that looks at batches uses more of XGBoost than another version may have.
  bool const complete = proxy != nullptr && reset != nullptr && next != nullptr && config != nullptr;
  if (!xgbgpu::plugin::WhyNotRegistered().empty() || !complete) {
    return kNext(iter, proxy, ref, reset, next, config, out);
  }
  Batches batches{iter, proxy, ref != nullptr, reset, next, config};
  return MakeFromBatches(&batches, ReadBinsConfig(config), ref, out, [&] {
    return kNext(&batches, proxy, ref, Batches::ResetForXGBoost, Batches::NextForXGBoost, config, out);
  });
}

XGBGPU_EXPORT int XGDeviceQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy,
                                                            DataIterResetCallback* reset, XGDMatrixCallbackNext* next,
                                                            float missing, int nthread, int max_bin,
                                                            DMatrixHandle* out) {
  static auto* const kNext =
      NextFunction<decltype(XGDeviceQuantileDMatrixCreateFromCallback)>("XGDeviceQuantileDMatrixCreateFromCallback");
  bool const complete = proxy != nullptr && reset != nullptr && next != nullptr && out != nullptr;
  if (!xgbgpu::plugin::WhyNotRegistered().empty() || !complete) {
    return kNext(iter, proxy, reset, next, missing, nthread, max_bin, out);
  }
  auto const config = MakeBinsConfig(missing, nthread, max_bin);
  Batches batches{iter, proxy, false, reset, next, config.text.c_str()};
  auto const stock = [&] {
    return kNext(&batches, proxy, Batches::ResetForXGBoost, Batches::NextForXGBoost, missing, nthread, max_bin, out);
  };
  DMatrixHandle held = nullptr;
  int const status = MakeFromBatches(&batches, config, nullptr, &held, stock);
  if (held == nullptr) return status;
  LOG(WARNING) << __func__ << " is deprecated. Use `XGQuantileDMatrixCreateFromCallback` instead.";  // as XGBoost says
  *out = held;
  return status;
}

XGBGPU_EXPORT int XGProxyDMatrixSetDataDense(DMatrixHandle proxy, char const* values) {
  static auto* const kNext = NextFunction<decltype(XGProxyDMatrixSetDataDense)>("XGProxyDMatrixSetDataDense");
  return SetPlainBatch(proxy, {values}, [&](InPlaceArrays const& arrays) {
    Batches* const batches = Batches::Of(proxy);
    if (batches != nullptr && values != nullptr) batches->NoteDense(arrays.values);
    return kNext(proxy, arrays.values);
  });
}

XGBGPU_EXPORT int XGProxyDMatrixSetDataCSR(DMatrixHandle proxy, char const* indptr, char const* indices,
                                           char const* values, bst_ulong columns) {
  static auto* const kNext = NextFunction<decltype(XGProxyDMatrixSetDataCSR)>("XGProxyDMatrixSetDataCSR");
  bool const complete = indptr != nullptr && indices != nullptr && values != nullptr;
  return SetPlainBatch(proxy, {values, indptr, indices, columns}, [&](InPlaceArrays const& arrays) {
    Batches* const batches = Batches::Of(proxy);
    auto const* const rows = complete && batches != nullptr ? batches->NoteCsr(arrays) : nullptr;
    if (rows == nullptr) return kNext(proxy, arrays.indptr, arrays.indices, arrays.values, columns);
    return kNext(proxy, rows->indptr().c_str(), rows->indices().c_str(), rows->values().c_str(), columns);
  });
}

XGBGPU_EXPORT int XGDMatrixSaveBinary(DMatrixHandle data, char const* file, int silent) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSaveBinary)>("XGDMatrixSaveBinary");
  if (data == nullptr) return kNext(data, file, silent);
  xgboost::DMatrix* const matrix = static_cast<std::shared_ptr<xgboost::DMatrix>*>(data)->get();
  if (AsHeldBins(matrix) != nullptr) {
    xgbgpu::plugin::Fail("A QuantileDMatrix cannot be saved (save_binary); allowed: a DMatrix");
    return -1;
  }
  auto* const held = AsHeld(matrix);
  if (held == nullptr) return kNext(data, file, silent);
  // XGBoost saves matrices of its own class only.
  std::shared_ptr<xgboost::DMatrix> stock;
  return xgbgpu::plugin::Passes("making XGBoost's page of a matrix", [&] { stock = held->Stock("rows to save"); })
             ? kNext(&stock, file, silent)
             : -1;
}

}  // extern "C"
