// Functions in front that take arrays on a GPU, which a build of XGBoost without CUDA refuses.
// docs/adr/0019-the-users-array.md
#include <xgboost/c_api.h>
#include <xgboost/logging.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/message.h"
#include "call/call_state.h"
#include "data/batches.h"
#include "data/device_arrays.h"
#include "data/in_place_arrays.h"
#include "data/per_proxy.h"
#include "entry/stock_calls.h"
#include "errors/fail.h"
#include "matrix/held_matrix.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/device_rows.h"
#include "xgbgpu/error.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Reads an array on a GPU by read(). Returns false if that throws, or if the library is in another XGBoost than it was
/// built for; XGBGetLastError then has the text.
template <typename Read>
bool ReadsArray(Read&& read) {
  if (std::string const& why = WhyNotRegistered(); !why.empty()) {
    Fail("An array on a GPU cannot be read: " + why);
    return false;
  }
  return Passes("reading an array on a GPU", read);
}

void Require(void const* argument, char const* name) {
  if (argument == nullptr) Throw<InvalidArgument>("Argument ", name, " is null; allowed: a pointer to what it names");
}

/// Holds the values on their device, or on the host if the device has no room for them.
std::unique_ptr<HeldRows> HoldWhereThereIsRoom(DeviceTable const& table, MatrixConfig const& config) {
  try {
    return HoldDeviceRows(table, config.missing);
  } catch (OutOfDeviceMemory const& error) {
    LOG(INFO) << "xgboost-gpu: an array on a GPU is held on the host: " << error.what();
  }
  HostTable const brought = BringToHost(table);
  auto rows = HoldRows(InPlaceArrays{brought.text().c_str()}, config.missing, ThreadsOfMatrix(config.nthread));
  if (rows == nullptr) throw InvalidArgument{"Input data contains `inf` or `nan`"};
  return rows;
}

int MakeMatrix(char const* arrays, char const* config, DMatrixHandle* out) {
  MatrixConfig read{};
  std::unique_ptr<HeldRows> rows;
  bool const passes = ReadsArray([&] {
    Require(arrays, "data");
    Require(config, "config");
    Require(out, "out");
    read = ReadMatrixConfig(config);
    rows = HoldWhereThereIsRoom(ParseDeviceTable(arrays), read);
  });
  if (!passes) return -1;
  DMatrixHandle const made = MakeHeldMatrix(std::move(rows), read.nthread);
  if (made == nullptr) return -1;
  *out = made;
  return 0;
}

/// Batches on the host of arrays on a GPU.
using BatchesOnHost = PerProxy<HostTable>;

int SetBatch(DMatrixHandle proxy, char const* arrays) {
  std::string text;
  bool stays = false;
  bool const passes = ReadsArray([&] {
    Require(arrays, "data");
    Batches* const batches = Batches::Of(proxy);
    stays = batches != nullptr && batches->NoteDevice(arrays);
    if (!stays) text = BatchesOnHost::Instance().Keep(proxy, BringToHost(ParseDeviceTable(arrays))).text();
  });
  if (!passes) return -1;
  return stays ? 0 : XGProxyDMatrixSetDataDense(proxy, text.c_str());
}

/// Predicts, and brings the results to the device of the values, where they stay until this thread's next prediction.
int Predict(BoosterHandle booster, char const* arrays, char const* config, DMatrixHandle info, bst_ulong const** shape,
            bst_ulong* dimensions, float const** out) {
  std::shared_ptr<DeviceFloats>& results = CallState::OfThisThread().device_predictions;
  std::optional<ValuesOnDevice> values;
  bool const passes = ReadsArray([&] {
    Require(arrays, "data");
    values.emplace(ParseDeviceTable(arrays));
  });
  if (!passes) return -1;
  InPlaceArrays in_place{values->text()};
  in_place.on_device = &*values;
  auto const predict = [&] { return PredictFromDense(in_place, booster, config, info, shape, dimensions, out); };
  int status = predict();
  if (status == 0 && !values->is_settled()) {  // a booster that does not ask us has read an empty room
    if (!ReadsArray([&] { values->Settle(false); })) return -1;
    status = predict();
  }
  if (status != 0) return status;
  return Passes("bringing predictions to a GPU",
                [&] {
                  std::size_t n = 1;
                  for (bst_ulong d = 0; d < *dimensions; ++d) n *= (*shape)[d];
                  results = nullptr;
                  results = CopyFloatsToDevice(*out, n, values->device());
                  *out = results->data();
                })
             ? 0
             : -1;
}

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGDMatrixCreateFromCudaArrayInterface(char const* values, char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  return MakeMatrix(values, config, out);
}

XGBGPU_EXPORT int XGDMatrixCreateFromCudaColumnar(char const* columns, char const* config, DMatrixHandle* out) {
  XGBGPU_CHECK_CALLER(-1);
  return MakeMatrix(columns, config, out);
}

XGBGPU_EXPORT int XGProxyDMatrixSetDataCudaArrayInterface(DMatrixHandle proxy, char const* values) {
  XGBGPU_CHECK_CALLER(-1);
  return SetBatch(proxy, values);
}

XGBGPU_EXPORT int XGProxyDMatrixSetDataCudaColumnar(DMatrixHandle proxy, char const* columns) {
  XGBGPU_CHECK_CALLER(-1);
  return SetBatch(proxy, columns);
}

XGBGPU_EXPORT int XGBoosterPredictFromCudaArray(BoosterHandle booster, char const* values, char const* config,
                                                DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                                float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  return Predict(booster, values, config, info, shape, dimensions, out);
}

XGBGPU_EXPORT int XGBoosterPredictFromCudaColumnar(BoosterHandle booster, char const* columns, char const* config,
                                                   DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                                   float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  return Predict(booster, columns, config, info, shape, dimensions, out);
}

// XGBoost 1.7 exports the next two. Its header declares the two above, which it does not export.

XGBGPU_EXPORT int XGBoosterPredictFromCUDAArray(BoosterHandle booster, char const* values, char const* config,
                                                DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                                float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  return Predict(booster, values, config, info, shape, dimensions, out);
}

XGBGPU_EXPORT int XGBoosterPredictFromCUDAColumnar(BoosterHandle booster, char const* columns, char const* config,
                                                   DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                                   float const** out) {
  XGBGPU_CHECK_CALLER(-1);
  return Predict(booster, columns, config, info, shape, dimensions, out);
}

}  // extern "C"

}  // namespace xgbgpu::plugin
