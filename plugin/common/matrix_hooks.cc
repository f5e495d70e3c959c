/// XGBoost's C functions that make or save a matrix, with ours in front: they hold a copy of the user's values, and make
/// XGBoost's pages only if stock code asks for them. docs/adr/0019-the-users-array.md
#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "api_call.h"
#include "array_view.h"
#include "driver/host_span.h"
#include "fail.h"
#include "held_rows.h"
#include "host/held_matrix.h"
#include "host_version.h"
#include "next_function.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Makes a matrix of ours; returns null where it is for stock code to make it, or to say what is wrong.
DMatrixHandle Hold(InPlaceArrays const& arrays, float missing, int nthread) {
  if (!WhyNotRegistered().empty()) return nullptr;
  std::unique_ptr<HeldRows> rows;
  try {
    HostSpan span{"hold values"};
    rows = HoldRows(arrays, missing, ThreadsOfMatrix(nthread));
  } catch (std::exception const&) {  // no array interface, or no memory: stock code finds the same
  }
  return rows == nullptr ? nullptr : MakeHeldMatrix(std::move(rows), nthread);
}

DMatrixHandle Hold(InPlaceArrays const& arrays, char const* config) {
  MatrixConfig read{};
  try {
    read = ReadMatrixConfig(config);
  } catch (std::exception const&) {
    return nullptr;
  }
  return Hold(arrays, read.missing, read.nthread);
}

}  // namespace

}  // namespace xgbgpu::plugin

using xgbgpu::plugin::ArrayText;
using xgbgpu::plugin::AsHeld;
using xgbgpu::plugin::Hold;
using xgbgpu::plugin::InPlaceArrays;
using xgbgpu::plugin::NextFunction;

extern "C" {

XGBGPU_EXPORT int XGDMatrixCreateFromDense(char const* values, char const* config, DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromDense)>("XGDMatrixCreateFromDense");
  if (values == nullptr || config == nullptr || out == nullptr) return kNext(values, config, out);
  DMatrixHandle const held = Hold(InPlaceArrays{values}, config);
  if (held == nullptr) return kNext(values, config, out);
  *out = held;
  return 0;
}

XGBGPU_EXPORT int XGDMatrixCreateFromMat_omp(float const* data, bst_ulong rows, bst_ulong columns, float missing,
                                             DMatrixHandle* out, int nthread) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromMat_omp)>("XGDMatrixCreateFromMat_omp");
  if (out == nullptr) return kNext(data, rows, columns, missing, out, nthread);
  std::string const values = ArrayText(data, {rows, columns});
  DMatrixHandle const held = Hold(InPlaceArrays{values.c_str()}, missing, nthread);
  if (held == nullptr) return kNext(data, rows, columns, missing, out, nthread);
  *out = held;
  return 0;
}

XGBGPU_EXPORT int XGDMatrixCreateFromMat(float const* data, bst_ulong rows, bst_ulong columns, float missing,
                                         DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromMat)>("XGDMatrixCreateFromMat");
  constexpr int kThreads = 1;  // as in XGBoost
  if (out == nullptr) return kNext(data, rows, columns, missing, out);
  std::string const values = ArrayText(data, {rows, columns});
  DMatrixHandle const held = Hold(InPlaceArrays{values.c_str()}, missing, kThreads);
  if (held == nullptr) return kNext(data, rows, columns, missing, out);
  *out = held;
  return 0;
}

XGBGPU_EXPORT int XGDMatrixCreateFromCSR(char const* indptr, char const* indices, char const* values, bst_ulong columns,
                                         char const* config, DMatrixHandle* out) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixCreateFromCSR)>("XGDMatrixCreateFromCSR");
  auto const stock = [&] { return kNext(indptr, indices, values, columns, config, out); };
  if (!indptr || !indices || !values || !config || !out) return stock();
  DMatrixHandle const held = Hold(InPlaceArrays{values, indptr, indices, columns}, config);
  if (held == nullptr) return stock();
  *out = held;
  return 0;
}

XGBGPU_EXPORT int XGDMatrixSaveBinary(DMatrixHandle data, char const* file, int silent) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSaveBinary)>("XGDMatrixSaveBinary");
  if (data == nullptr) return kNext(data, file, silent);
  auto* const held = AsHeld(static_cast<std::shared_ptr<xgboost::DMatrix>*>(data)->get());
  if (held == nullptr) return kNext(data, file, silent);
  // XGBoost saves matrices of its own class only.
  std::shared_ptr<xgboost::DMatrix> stock;
  return xgbgpu::plugin::Passes("making XGBoost's page of a matrix", [&] { stock = held->Stock("rows to save"); })
             ? kNext(&stock, file, silent)
             : -1;
}

}  // extern "C"
