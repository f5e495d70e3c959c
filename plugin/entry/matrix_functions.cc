// Functions in front that make, save and free a matrix. A matrix of ours holds a copy of the user's values, and makes
// XGBoost's pages only if stock code asks for them. docs/adr/0019-the-users-array.md
#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/message.h"
#include "data/array_rows.h"
#include "data/array_view.h"
#include "data/datatable_columns.h"
#include "data/device_arrays.h"
#include "data/held_rows.h"
#include "data/in_place_arrays.h"
#include "data/per_proxy.h"
#include "data/plain_array.h"
#include "errors/fail.h"
#include "matrix/coded_matrices.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "xgb/c_functions.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Makes a matrix of ours of the rows that hold() copies. Calls stock() where XGBoost is to make the matrix, or to say
/// what is wrong.
template <typename Hold, typename Stock>
int HoldOr(Hold&& hold, int nthread, DMatrixHandle* out, Stock&& stock) {
  if (!WhyNotRegistered().empty() || out == nullptr) return stock();
  std::unique_ptr<HeldRows> rows;
  try {
    HostSpan span{"hold values"};
    rows = hold();
  } catch (InvalidArgument const& error) {  // stock code would read beyond the arrays, or ask for too much
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

/// Does the same of the rows that hold(config) copies, for a caller who passes missing and nthread as JSON.
template <typename Hold, typename Stock>
int HoldWithConfigOr(Hold&& hold, char const* config, DMatrixHandle* out, Stock&& stock) {
  MatrixConfig read{};
  try {
    read = ReadMatrixConfig(config);
  } catch (std::exception const&) {
    return stock();
  }
  return HoldOr([&] { return hold(read); }, read.nthread, out, stock);
}

/// Does the same for array interfaces and JSON.
template <typename Stock>
int HoldOr(InPlaceArrays const& arrays, char const* config, DMatrixHandle* out, Stock&& stock) {
  auto const hold = [&](MatrixConfig const& read) {
    return HoldRows(arrays, read.missing, ThreadsOfMatrix(read.nthread));
  };
  return HoldWithConfigOr(hold, config, out, std::forward<Stock>(stock));
}

/// XGBoost's functions without a number of threads make a matrix with one.
constexpr int kThreadsOfOldFunctions = 1;

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGDMatrixCreateFromDense(char const* values, char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromDense);
  if (values == nullptr || config == nullptr) return kNext(values, config, out);
  return WithPlainArrays({values}, [&](InPlaceArrays const& arrays) {
    return HoldOr(arrays, config, out, [&] { return kNext(arrays.values, config, out); });
  });
}

XGBGPU_EXPORT int XGDMatrixCreateFromMat_omp(float const* data, bst_ulong rows, bst_ulong columns, float missing,
                                             DMatrixHandle* out, int nthread) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromMat_omp);
  std::string const values = ArrayText(data, {rows, columns});
  return HoldOr(InPlaceArrays{values.c_str()}, missing, nthread, out,
                [&] { return kNext(data, rows, columns, missing, out, nthread); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromMat(float const* data, bst_ulong rows, bst_ulong columns, float missing,
                                         DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromMat);
  std::string const values = ArrayText(data, {rows, columns});
  return HoldOr(InPlaceArrays{values.c_str()}, missing, kThreadsOfOldFunctions, out,
                [&] { return kNext(data, rows, columns, missing, out); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromCSR(char const* indptr, char const* indices, char const* values, bst_ulong columns,
                                         char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromCSR);
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
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromCSREx);
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
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromCSCEx);
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  auto const view = [](auto const* data, char const* type, std::size_t n) {
    return ArrayView{reinterpret_cast<char const*>(data), type, {static_cast<std::int64_t>(n)}, {sizeof(*data)}};
  };
  auto const hold = [&] {
    if (col_ptr_size == 0) {
      Throw<InvalidArgument>("nindptr is 0; allowed: the number of columns and one");
    }
    return HoldRows(CscArrays{view(col_ptr, "u8", col_ptr_size), view(indices, "u4", stored),
                              view(values, "f4", stored), rows, std::numeric_limits<float>::quiet_NaN()});
  };
  return HoldOr(hold, kThreadsOfOldFunctions, out,
                [&] { return kNext(col_ptr, indices, values, col_ptr_size, stored, rows, out); });
}

XGBGPU_EXPORT int XGDMatrixCreateFromCSC(char const* indptr, char const* indices, char const* values, bst_ulong rows,
                                         char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromCSC);
  if (indptr == nullptr || indices == nullptr || values == nullptr || config == nullptr) {
    return kNext(indptr, indices, values, rows, config, out);
  }
  return WithPlainArrays({values, indptr, indices}, [&](InPlaceArrays const& arrays) {
    auto const hold = [&](MatrixConfig const& read) -> std::unique_ptr<HeldRows> {
      auto const csc = ParseCsc(arrays.indptr, arrays.indices, arrays.values, rows, read.missing);
      return csc ? HoldRows(*csc) : nullptr;
    };
    return HoldWithConfigOr(hold, config, out,
                            [&] { return kNext(arrays.indptr, arrays.indices, arrays.values, rows, config, out); });
  });
}

XGBGPU_EXPORT int XGDMatrixCreateFromColumnar(char const* columns, char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromColumnar);
  auto const stock = [&] { return kNext(columns, config, out); };
  if (columns == nullptr || config == nullptr) return stock();
  int const status = HoldOr(ByColumns(columns), config, out, stock);
  if (status == 0 && HaveReference(columns)) NoteCoded(**static_cast<std::shared_ptr<xgboost::DMatrix>*>(*out));
  return status;
}

XGBGPU_EXPORT int XGDMatrixCreateFromDT(void** data, char const** types, bst_ulong rows, bst_ulong columns,
                                        DMatrixHandle* out, int nthread) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixCreateFromDT);
  auto const hold = [&] { return HoldRows(DatatableColumns{data, types, rows, columns}, ThreadsOfMatrix(nthread)); };
  return HoldOr(hold, nthread, out, [&] { return kNext(data, types, rows, columns, out, nthread); });
}

XGBGPU_EXPORT int XGDMatrixSaveBinary(DMatrixHandle data, char const* file, int silent) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixSaveBinary);
  if (data == nullptr) return kNext(data, file, silent);
  xgboost::DMatrix* const matrix = static_cast<std::shared_ptr<xgboost::DMatrix>*>(data)->get();
  if (AsHeldBins(matrix) != nullptr) {
    Fail("A QuantileDMatrix cannot be saved (save_binary); allowed: a DMatrix");
    return -1;
  }
  auto* const held = AsHeld(matrix);
  if (held == nullptr) return kNext(data, file, silent);
  // XGBoost saves only matrices of its own class.
  std::shared_ptr<xgboost::DMatrix> stock;
  return Passes("making XGBoost's page of a matrix", [&] { stock = held->Stock("rows to save"); })
             ? kNext(&stock, file, silent)
             : -1;
}

XGBGPU_EXPORT int XGDMatrixFree(DMatrixHandle data) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGDMatrixFree);
  PerProxy<HostTable>::Instance().Drop(data);
  PerProxy<PlainArrays>::Instance().Drop(data);
  int const status = kNext(data);
  // The matrix's bins go with it, from a GPU as well, unless a booster that has trained on them still has them.
  DatasetCache::Instance().DropExpired();
  return status;
}

}  // extern "C"

}  // namespace xgbgpu::plugin
