// Functions in front that make a matrix of batches: QuantileDMatrices, proxies, and record batches of Arrow.
#include <xgboost/c_api.h>
#include <xgboost/data.h>
#include <xgboost/json.h>
#include <xgboost/logging.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "booster/batch_names.h"
#include "call/call_state.h"
#include "data/batches.h"
#include "data/in_place_arrays.h"
#include "data/per_proxy.h"
#include "data/plain_array.h"
#include "data/record_batches.h"
#include "errors/fail.h"
#include "group/process_group.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "matrix/hold_batches.h"
#include "xgb/c_functions.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kBinnedAtOnce[] =
    "A QuantileDMatrix that is to be binned at once (XGBGPUBinAtOnce) is of other data; allowed: one dense array in "
    "the host's memory, row after row without gaps, of float32, int8, uint8, int16 or uint16, without infinite values";

/// Has XGBoost make a QuantileDMatrix of the batches, and copies the values on the way.
template <typename F>
int MakeInGroup(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref, DMatrixHandle* out,
                F&& stock) {
  batches->Record(config.missing, ThreadsOfMatrix(config.nthread));
  int const status = stock();
  if (status != 0 || *out == nullptr) return status;
  auto const hold = [&] { HoldBesideBins(batches, std::move(config), std::move(ref), *out); };
  if (Passes("making a QuantileDMatrix", hold)) return 0;
  XGDMatrixFree(std::exchange(*out, nullptr));
  return -1;
}

/// Makes a QuantileDMatrix of ours of the batches. Calls stock(), XGBoost's function, where XGBoost is to make it.
template <typename F>
int MakeFromBatches(Batches* batches, std::optional<BinsConfig> config, DMatrixHandle ref, DMatrixHandle* out,
                    F&& stock) {
  if (!config || out == nullptr) return stock();
  std::shared_ptr<xgboost::DMatrix> shared;
  if (ref != nullptr) shared = *static_cast<std::shared_ptr<xgboost::DMatrix> const*>(ref);
  if (ref != nullptr && shared == nullptr) return stock();
  auto const place = ref == nullptr ? CallState::OfThisThread().bins_at_once : nullptr;
  auto const in_group = [&] { return MakeInGroup(batches, *config, shared, out, stock); };
  if (place == nullptr && XGCommunicatorGetWorldSize() > 1) return in_group();
  DMatrixHandle held = nullptr;
  auto const hold = [&] {
    held = place != nullptr ? BinAtOnce(batches, *config, *place) : HoldBatches(batches, *config, shared);
    if (held == nullptr && place != nullptr) throw Unsupported{kBinnedAtOnce};
  };
  if (!Passes("making a QuantileDMatrix", hold)) return -1;
  if (held == nullptr) return ProcessGroup::HasEntered() ? in_group() : stock();  // one worker has the model of several
  *out = held;
  return 0;
}

/// Has XGBoost make a matrix of batches by stock(). Notes in the matrix if batches have other categories than the
/// first, or a reference.
template <typename F>
int MakeOfNamed(DMatrixHandle proxy, DMatrixHandle* out, F&& stock) {
  if (!WhyNotRegistered().empty()) return stock();
  BatchNames names{proxy};
  int const status = stock();
  if (status == 0) names.NoteIn(**static_cast<std::shared_ptr<xgboost::DMatrix>*>(*out));
  return status;
}

/// Calls set(arrays), by which arrays that stock code can read become the batch of a proxy. A copy is kept, because
/// XGBoost reads it later.
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

/// Returns the text with a number of threads within LimitThreads.
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

extern "C" {

XGBGPU_EXPORT int XGDMatrixCreateFromArrowCallback(XGDMatrixCallbackNext* next, char const* config,
                                                   DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromArrowCallback);
  bool const complete = config != nullptr && out != nullptr;
  if (!WhyNotRegistered().empty() || !complete) return kNext(next, config, out);
  if (next == nullptr) {  // stock code would call it
    Fail("next is null; allowed: a function that hands record batches over");
    return -1;
  }
  return MakeFromRecordBatches(next, config, out, kNext);
}

XGBGPU_EXPORT int XGImportArrowRecordBatch(DataIterHandle importer, void* batch, void* schema) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGImportArrowRecordBatch);
  auto* const batches = RecordBatches::Of(importer);
  if (batches == nullptr) return kNext(importer, batch, schema);
  return batches->Import(static_cast<arrow::Array*>(batch), static_cast<arrow::Schema*>(schema));
}

XGBGPU_EXPORT int XGDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy, DataIterResetCallback* reset,
                                              XGDMatrixCallbackNext* next, char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromCallback);
  return MakeOfNamed(proxy, out, [&] { return kNext(iter, proxy, reset, next, config, out); });
}

XGBGPU_EXPORT int XGExtMemQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy,
                                                            DataIterHandle ref, DataIterResetCallback* reset,
                                                            XGDMatrixCallbackNext* next, char const* config,
                                                            DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGExtMemQuantileDMatrixCreateFromCallback);
  return MakeOfNamed(proxy, out, [&] { return kNext(iter, proxy, ref, reset, next, config, out); });
}

XGBGPU_EXPORT int XGQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy, DataIterHandle ref,
                                                      DataIterResetCallback* reset, XGDMatrixCallbackNext* next,
                                                      char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGQuantileDMatrixCreateFromCallback);
  // The code that looks at batches uses more of XGBoost than another version may have.
  bool const complete = proxy != nullptr && reset != nullptr && next != nullptr && config != nullptr;
  if (!WhyNotRegistered().empty() || !complete) {
    return kNext(iter, proxy, ref, reset, next, config, out);
  }
  Batches batches{iter, proxy, ref != nullptr, reset, next, config};
  return MakeFromBatches(&batches, ReadBinsConfig(config), ref, out, [&] {
    return MakeOfNamed(proxy, out, [&] {
      return kNext(&batches, proxy, ref, Batches::ResetForXGBoost, Batches::NextForXGBoost, config, out);
    });
  });
}

XGBGPU_EXPORT int XGDeviceQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy,
                                                            DataIterResetCallback* reset, XGDMatrixCallbackNext* next,
                                                            float missing, int nthread, int max_bin,
                                                            DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDeviceQuantileDMatrixCreateFromCallback);
  bool const complete = proxy != nullptr && reset != nullptr && next != nullptr && out != nullptr;
  if (!WhyNotRegistered().empty() || !complete) {
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
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGProxyDMatrixSetDataDense);
  return SetPlainBatch(proxy, {values}, [&](InPlaceArrays const& arrays) {
    Batches* const batches = Batches::Of(proxy);
    if (batches != nullptr && values != nullptr) batches->NoteDense(arrays.values);
    return kNext(proxy, arrays.values);
  });
}

XGBGPU_EXPORT int XGProxyDMatrixSetDataCSR(DMatrixHandle proxy, char const* indptr, char const* indices,
                                           char const* values, bst_ulong columns) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGProxyDMatrixSetDataCSR);
  bool const complete = indptr != nullptr && indices != nullptr && values != nullptr;
  return SetPlainBatch(proxy, {values, indptr, indices, columns}, [&](InPlaceArrays const& arrays) {
    Batches* const batches = Batches::Of(proxy);
    auto const* const rows = complete && batches != nullptr ? batches->NoteCsr(arrays) : nullptr;
    if (rows == nullptr) return kNext(proxy, arrays.indptr, arrays.indices, arrays.values, columns);
    return kNext(proxy, rows->indptr().c_str(), rows->indices().c_str(), rows->values().c_str(), columns);
  });
}

XGBGPU_EXPORT int XGProxyDMatrixSetDataColumnar(DMatrixHandle proxy, char const* columns) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGProxyDMatrixSetDataColumnar);
  Batches* const batches = Batches::Of(proxy);
  if (batches != nullptr && columns != nullptr) batches->NoteColumns(columns);
  int const status = kNext(proxy, columns);
  BatchNames* const names = BatchNames::Of(proxy);
  if (status == 0 && names != nullptr) names->Add(columns);
  return status;
}

}  // extern "C"

}  // namespace xgbgpu::plugin
