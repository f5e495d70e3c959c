/// C functions of XGBoost that the library exports, too: each notes or checks something, then calls XGBoost's own.
#include <dmlc/logging.h>
#include <xgboost/c_api.h>
#include <xgboost/json.h>
#include <xgboost/learner.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.h"
#include "data/device_arrays.h"
#include "data/plain_array.h"
#include "errors/fail.h"
#include "group/process_group.h"
#include "models/dump_json.h"
#include "models/model_bytes.h"
#include "models/newer_model.h"
#include "params/foreign_words.h"
#include "xgb/api_call.h"
#include "xgb/next_function.h"
#include "xgb/registry.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Calls stock(), which loads a model from `bytes` (null: unknown), unless XGBoost's parsers would end the process at
/// them. A model that a newer XGBoost has written is loaded as it was meant.
template <typename Stock>
int LoadChecked(BoosterHandle booster, Bytes* bytes, Format format, Stock&& stock) {
  bool is_loaded = false;
  bool const passes = bytes == nullptr || Passes("checking a model", [&] {
                        ModelSigns const signs = CheckBytes(bytes, format);
                        if (booster == nullptr || !IsNewer(signs)) return;
                        LoadNewer(booster, signs, bytes);
                        is_loaded = true;
                      });
  return !passes ? -1 : is_loaded ? 0 : stock();
}

template <typename Stock>
int LoadCheckedMemory(BoosterHandle booster, void const* begin, bst_ulong size, Stock&& stock) {
  if (begin == nullptr) return stock();
  Bytes bytes{{static_cast<char const*>(begin), static_cast<std::size_t>(size)}};
  return LoadChecked(booster, &bytes, FormatOf(&bytes), stock);
}

/// Refuses a JSON text at which XGBoost's parser would end the process.
void CheckText(char const* json) {
  if (json == nullptr) return;
  Bytes bytes{json};
  CheckBytes(&bytes, Format::kJson);
}

constexpr char kCommunicator[] = "checking parameters of the communicator";

/// The time limit of the workers' communicator, as XGBoost 1.7 has it where nothing else is said.
constexpr std::chrono::seconds kUsualLimit{1800};

/// Returns the seconds that an argument `name=value` of the communicator sets as its time limit, else `otherwise`.
std::chrono::seconds TimeLimit(std::string_view argument, std::chrono::seconds otherwise) {
  constexpr std::string_view kName = "rabit_timeout_sec=";
  if (argument.substr(0, kName.size()) != kName) return otherwise;
  return std::chrono::seconds{std::atoi(std::string{argument.substr(kName.size())}.c_str())};
}

/// Checks an argument `name=value`. Rabit, which connects the workers of XGBoost 1.7, copies a name and a value into
/// 256 bytes each, however long they are.
void CheckRabitArgument(std::string_view argument) {
  constexpr std::size_t kMost = 255;
  std::string_view const name = argument.substr(0, argument.find('='));
  std::size_t const value = argument.size() - std::min(argument.size(), name.size() + 1);
  if (name.size() <= kMost && value <= kMost) return;
  Throw<InvalidArgument>("Parameter ", Quoted(name), " of the communicator has ",
                         name.size() > kMost ? "a name" : "a value", " of ", name.size() > kMost ? name.size() : value,
                         " bytes; allowed: up to ", kMost);
}

/// Checks `config`, the JSON text that XGCommunicatorInit is given. Returns the time limit.
std::chrono::seconds CheckCommunicator(char const* config) {
  CheckText(config);
  std::chrono::seconds limit = kUsualLimit;
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{config});
  for (auto const& [name, value] : xgboost::get<xgboost::Object const>(json)) {
    std::string argument = name + '=';
    if (xgboost::IsA<xgboost::String>(value)) argument += xgboost::get<xgboost::String const>(value);
    if (xgboost::IsA<xgboost::Integer>(value)) argument += std::to_string(xgboost::get<xgboost::Integer const>(value));
    CheckRabitArgument(argument);
    limit = TimeLimit(argument, limit);
  }
  return limit;
}

constexpr char kReadingArray[] = "reading an array on a GPU";

/// Calls set(array), with a copy on the host if the array of n values is on a device.
template <typename T, typename Set>
int WithHostArray(T const* array, bst_ulong n, Set&& set) {
  std::optional<HostArray> host;
  bool const passes = Passes(kReadingArray, [&] { host.emplace(array, n, sizeof(T)); });
  return passes ? set(host ? static_cast<T const*>(host->data()) : array) : -1;
}

/// Is this the format "json" of a dump? Behind a colon XGBoost takes options.
bool IsJson(char const* format) {
  if (format == nullptr) return false;
  std::string_view const text{format};
  return text.substr(0, text.find(':')) == "json";
}

/// Calls dump(features): the features with names for JSON, or nothing where the names are JSON already.
/// `get` returns them. What the dump holds is JSON afterwards.
template <typename Get, typename Dump>
int DumpJson(Get&& get, bst_ulong* n, char const*** out, Dump&& dump) {
  std::optional<DumpFeatures> features;
  if (!Passes("dumping a model", [&] { features = InJson(get()); })) return -1;
  int const status = dump(features);
  if (status != 0 || !WhyNotRegistered().empty()) return status;
  for (bst_ulong i = 0; i < *n; ++i) ReplaceNumbers(const_cast<char*>((*out)[i]));  // XGBoost's own strings
  return status;
}

/// XGBoosterDumpModelExWithFeatures of XGBoost.
int DumpWithFeatures(BoosterHandle booster, DumpFeatures const& features, int with_stats, char const* format,
                     bst_ulong* n, char const*** out) {
  static auto* const kNext =
      NextFunction<decltype(XGBoosterDumpModelExWithFeatures)>("XGBoosterDumpModelExWithFeatures");
  std::vector<char const*> names, types;
  for (std::string const& name : features.names) names.push_back(name.c_str());
  for (std::string const& type : features.types) types.push_back(type.c_str());
  return kNext(booster, static_cast<int>(names.size()), names.data(), types.data(), with_stats, format, n, out);
}

/// Returns `result`, what a function of XGBoost returned for the booster. If it failed over a word of another program,
/// XGBGetLastError says what to write in its place.
int WithAdvice(BoosterHandle booster, int result) {
  if (result == 0 || booster == nullptr || !WhyNotRegistered().empty()) return result;
  auto const& params = static_cast<xgboost::Learner const*>(booster)->GetConfigurationArguments();
  std::string advice = InPlaceOf(XGBGetLastError(), params);
  if (!advice.empty()) Fail(std::move(advice));
  return result;
}

}  // namespace

int PredictFromDense(InPlaceArrays const& arrays, BoosterHandle booster, char const* config, DMatrixHandle info,
                     bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterPredictFromDense)>("XGBoosterPredictFromDense");
  CallScope<&CallState::in_place_arrays> scope{arrays.values == nullptr ? nullptr : &arrays};
  return WithAdvice(booster, kNext(booster, arrays.values, config, info, shape, dimensions, out));
}

}  // namespace xgbgpu::plugin

using xgbgpu::HostSpan;
using xgbgpu::plugin::ApiCall;
using xgbgpu::plugin::CallScope;
using xgbgpu::plugin::CallState;
using xgbgpu::plugin::CheckCommunicator;
using xgbgpu::plugin::CheckRabitArgument;
using xgbgpu::plugin::CheckText;
using xgbgpu::plugin::DumpFeatures;
using xgbgpu::plugin::DumpJson;
using xgbgpu::plugin::DumpWithFeatures;
using xgbgpu::plugin::EpochScope;
using xgbgpu::plugin::FeaturesOfDump;
using xgbgpu::plugin::HostArray;
using xgbgpu::plugin::InPlaceArrays;
using xgbgpu::plugin::IsJson;
using xgbgpu::plugin::kCommunicator;
using xgbgpu::plugin::kReadingArray;
using xgbgpu::plugin::kUsualLimit;
using xgbgpu::plugin::LoadChecked;
using xgbgpu::plugin::LoadCheckedMemory;
using xgbgpu::plugin::ModelFile;
using xgbgpu::plugin::NextFunction;
using xgbgpu::plugin::Passes;
using xgbgpu::plugin::ProcessGroup;
using xgbgpu::plugin::TimeLimit;
using xgbgpu::plugin::WithAdvice;
using xgbgpu::plugin::WithHostArray;
using xgbgpu::plugin::WithPlainArrays;

extern "C" {

XGBGPU_EXPORT int XGBoosterUpdateOneIter(BoosterHandle booster, int iteration, DMatrixHandle data) {
  static auto* const kNext = NextFunction<decltype(XGBoosterUpdateOneIter)>("XGBoosterUpdateOneIter");
  HostSpan span{"update"};
  CallScope<&CallState::call> scope{ApiCall::kUpdate};
  return WithAdvice(booster, kNext(booster, iteration, data));
}

XGBGPU_EXPORT int XGBoosterEvalOneIter(BoosterHandle booster, int iteration, DMatrixHandle data[], char const* names[],
                                       bst_ulong n, char const** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterEvalOneIter)>("XGBoosterEvalOneIter");
  HostSpan span{"evaluate"};
  xgbgpu::plugin::DecorateNewcomers();
  CallScope<&CallState::call> scope{ApiCall::kEvaluate};
  CallScope<&CallState::evaluated_matrices> matrices{n};
  return WithAdvice(booster, kNext(booster, iteration, data, names, n, out));
}

XGBGPU_EXPORT int XGBoosterBoostOneIter(BoosterHandle booster, DMatrixHandle data, float* gradients, float* hessians,
                                        bst_ulong n) {
  static auto* const kNext = NextFunction<decltype(XGBoosterBoostOneIter)>("XGBoosterBoostOneIter");
  return WithAdvice(booster, kNext(booster, data, gradients, hessians, n));
}

XGBGPU_EXPORT int XGBoosterPredictFromDMatrix(BoosterHandle booster, DMatrixHandle data, char const* config,
                                              bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterPredictFromDMatrix)>("XGBoosterPredictFromDMatrix");
  return WithAdvice(booster, kNext(booster, data, config, shape, dimensions, out));
}

XGBGPU_EXPORT int XGBoosterSerializeToBuffer(BoosterHandle booster, bst_ulong* size, char const** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterSerializeToBuffer)>("XGBoosterSerializeToBuffer");
  return WithAdvice(booster, kNext(booster, size, out));
}

XGBGPU_EXPORT int XGBoosterSaveJsonConfig(BoosterHandle booster, bst_ulong* size, char const** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterSaveJsonConfig)>("XGBoosterSaveJsonConfig");
  return WithAdvice(booster, kNext(booster, size, out));
}

XGBGPU_EXPORT int XGBoosterGetNumFeature(BoosterHandle booster, bst_ulong* out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterGetNumFeature)>("XGBoosterGetNumFeature");
  return WithAdvice(booster, kNext(booster, out));
}

XGBGPU_EXPORT int XGBoosterBoostedRounds(BoosterHandle booster, int* out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterBoostedRounds)>("XGBoosterBoostedRounds");
  return WithAdvice(booster, kNext(booster, out));
}

XGBGPU_EXPORT int XGBoosterPredictFromDense(BoosterHandle booster, char const* values, char const* config,
                                            DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                            float const** out) {
  return WithPlainArrays({values}, [&](InPlaceArrays const& arrays) {
    return xgbgpu::plugin::PredictFromDense(arrays, booster, config, info, shape, dimensions, out);
  });
}

XGBGPU_EXPORT int XGBoosterPredictFromCSR(BoosterHandle booster, char const* indptr, char const* indices,
                                          char const* values, bst_ulong columns, char const* config, DMatrixHandle info,
                                          bst_ulong const** shape, bst_ulong* dimensions, float const** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterPredictFromCSR)>("XGBoosterPredictFromCSR");
  return WithPlainArrays({values, indptr, indices, columns}, [&](InPlaceArrays const& arrays) {
    CallScope<&CallState::in_place_arrays> scope{
        values == nullptr || indptr == nullptr || indices == nullptr ? nullptr : &arrays};
    return WithAdvice(booster, kNext(booster, arrays.indptr, arrays.indices, arrays.values, columns, config, info,
                                     shape, dimensions, out));
  });
}

XGBGPU_EXPORT int XGDMatrixSetInfoFromInterface(DMatrixHandle data, char const* field, char const* array) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSetInfoFromInterface)>("XGDMatrixSetInfoFromInterface");
  EpochScope scope;
  std::optional<HostArray> host;
  bool const passes = Passes(kReadingArray, [&] { host.emplace(array); });
  if (!passes) return -1;
  return WithPlainArrays({host ? host->text() : array},
                         [&](InPlaceArrays const& arrays) { return kNext(data, field, arrays.values); });
}

XGBGPU_EXPORT int XGDMatrixSetFloatInfo(DMatrixHandle data, char const* field, float const* array, bst_ulong n) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSetFloatInfo)>("XGDMatrixSetFloatInfo");
  EpochScope scope;
  return WithHostArray(array, n, [&](float const* host) { return kNext(data, field, host, n); });
}

XGBGPU_EXPORT int XGDMatrixSetUIntInfo(DMatrixHandle data, char const* field, unsigned const* array, bst_ulong n) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSetUIntInfo)>("XGDMatrixSetUIntInfo");
  EpochScope scope;
  return WithHostArray(array, n, [&](unsigned const* host) { return kNext(data, field, host, n); });
}

XGBGPU_EXPORT int XGDMatrixSetDenseInfo(DMatrixHandle data, char const* field, void const* array, bst_ulong n,
                                        int type) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSetDenseInfo)>("XGDMatrixSetDenseInfo");
  EpochScope scope;
  auto const set = [&](auto const* host) { return kNext(data, field, host, n, type); };
  switch (type) {  // what the fourth argument of XGBoost's function means
    case 1:
      return WithHostArray(static_cast<float const*>(array), n, set);
    case 2:
      return WithHostArray(static_cast<double const*>(array), n, set);
    case 3:
      return WithHostArray(static_cast<std::uint32_t const*>(array), n, set);
    case 4:
      return WithHostArray(static_cast<std::uint64_t const*>(array), n, set);
    default:
      return kNext(data, field, array, n, type);
  }
}

XGBGPU_EXPORT int XGDMatrixSetGroup(DMatrixHandle data, unsigned const* group, bst_ulong n) {
  static auto* const kNext = NextFunction<decltype(XGDMatrixSetGroup)>("XGDMatrixSetGroup");
  EpochScope scope;
  return WithHostArray(group, n, [&](unsigned const* host) { return kNext(data, host, n); });
}

XGBGPU_EXPORT int XGBoosterLoadModel(BoosterHandle booster, char const* file) {
  static auto* const kNext = NextFunction<decltype(XGBoosterLoadModel)>("XGBoosterLoadModel");
  ModelFile model{file};
  return LoadChecked(booster, model.bytes(), model.format(), [&] { return kNext(booster, file); });
}

XGBGPU_EXPORT int XGBoosterLoadModelFromBuffer(BoosterHandle booster, void const* bytes, bst_ulong size) {
  static auto* const kNext = NextFunction<decltype(XGBoosterLoadModelFromBuffer)>("XGBoosterLoadModelFromBuffer");
  return LoadCheckedMemory(booster, bytes, size, [&] { return kNext(booster, bytes, size); });
}

XGBGPU_EXPORT int XGBoosterUnserializeFromBuffer(BoosterHandle booster, void const* bytes, bst_ulong size) {
  static auto* const kNext = NextFunction<decltype(XGBoosterUnserializeFromBuffer)>("XGBoosterUnserializeFromBuffer");
  return LoadCheckedMemory(booster, bytes, size, [&] { return kNext(booster, bytes, size); });
}

XGBGPU_EXPORT int XGBoosterLoadJsonConfig(BoosterHandle booster, char const* config) {
  static auto* const kNext = NextFunction<decltype(XGBoosterLoadJsonConfig)>("XGBoosterLoadJsonConfig");
  return Passes("checking a configuration", [&] { CheckText(config); }) ? kNext(booster, config) : -1;
}

XGBGPU_EXPORT int XGBoosterDumpModelEx(BoosterHandle booster, char const* map, int with_stats, char const* format,
                                       bst_ulong* n, char const*** out) {
  static auto* const kNext = NextFunction<decltype(XGBoosterDumpModelEx)>("XGBoosterDumpModelEx");
  auto const stock = [&] { return kNext(booster, map, with_stats, format, n, out); };
  if (!IsJson(format) || booster == nullptr || n == nullptr || out == nullptr) return stock();
  return DumpJson([&] { return FeaturesOfDump(booster, map); }, n, out,
                  [&](std::optional<DumpFeatures> const& features) {
                    return features ? DumpWithFeatures(booster, *features, with_stats, format, n, out) : stock();
                  });
}

XGBGPU_EXPORT int XGBoosterDumpModelExWithFeatures(BoosterHandle booster, int n_features, char const** names,
                                                   char const** types, int with_stats, char const* format, bst_ulong* n,
                                                   char const*** out) {
  static auto* const kNext =
      NextFunction<decltype(XGBoosterDumpModelExWithFeatures)>("XGBoosterDumpModelExWithFeatures");
  auto const stock = [&] { return kNext(booster, n_features, names, types, with_stats, format, n, out); };
  bool const is_whole = booster != nullptr && n != nullptr && out != nullptr && names != nullptr && types != nullptr;
  if (!IsJson(format) || !is_whole) return stock();
  auto const given = [&] {
    return n_features > 0 ? DumpFeatures{{names, names + n_features}, {types, types + n_features}}
                          : FeaturesOfDump(booster, nullptr);
  };
  return DumpJson(given, n, out, [&](std::optional<DumpFeatures> const& features) {
    return features ? DumpWithFeatures(booster, *features, with_stats, format, n, out) : stock();
  });
}

XGBGPU_EXPORT int XGCommunicatorInit(char const* config) {
  static auto* const kNext = NextFunction<decltype(XGCommunicatorInit)>("XGCommunicatorInit");
  std::chrono::seconds limit = kUsualLimit;
  bool const passes = config == nullptr || Passes(kCommunicator, [&] { limit = CheckCommunicator(config); });
  return ProcessGroup::Entered(limit, [&] { return passes ? kNext(config) : -1; });
}

XGBGPU_EXPORT int XGCommunicatorFinalize(void) {
  static auto* const kNext = NextFunction<decltype(XGCommunicatorFinalize)>("XGCommunicatorFinalize");
  ProcessGroup::Leaves();
  return kNext();
}

/// Programs for older versions connect workers with this. XGBoost exports it, but no public header declares it.
XGBGPU_EXPORT bool RabitInit(int n, char* arguments[]) {
  static auto* const kNext = NextFunction<bool(int, char**)>("RabitInit");
  std::chrono::seconds limit = kUsualLimit;
  bool const passes = Passes(kCommunicator, [&] {
    for (int i = 0; i < n; ++i) {
      CheckRabitArgument(arguments[i]);
      limit = TimeLimit(arguments[i], limit);
    }
  });
  return ProcessGroup::Entered(limit, [&] { return passes && kNext(n, arguments); });
}

/// Ends what RabitInit began.
XGBGPU_EXPORT bool RabitFinalize() {
  static auto* const kNext = NextFunction<bool()>("RabitFinalize");
  ProcessGroup::Leaves();
  return kNext();
}

}  // extern "C"
