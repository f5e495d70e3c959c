// Functions in front that load, save and dump models and configurations: bytes are checked, dumps are JSON.
#include <xgboost/c_api.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entry/stock_calls.h"
#include "entry/text_check.h"
#include "errors/fail.h"
#include "models/dump_json.h"
#include "models/model_bytes.h"
#include "models/newer_model.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

/// Calls stock(), which loads a model from `bytes` (null: unknown). Fails where XGBoost's parsers would end the
/// process. Loads a model that a newer XGBoost has written as it was meant.
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
  if (size == 0) {  // XGBoost 3.4 ends the process
    Fail("A model of 0 bytes cannot be loaded; allowed: JSON or UBJSON");
    return -1;
  }
  if (begin == nullptr) return stock();
  Bytes bytes{{static_cast<char const*>(begin), static_cast<std::size_t>(size)}};
  return LoadChecked(booster, &bytes, FormatOf(&bytes), stock);
}

/// Returns true for the format "json" of a dump. Behind a colon XGBoost takes options.
bool IsJson(char const* format) {
  if (format == nullptr) return false;
  std::string_view const text{format};
  return text.substr(0, text.find(':')) == "json";
}

/// Calls dump(features), with what get() returns under names that are JSON; with nothing if the names are JSON already.
/// Makes the numbers of the dump JSON.
template <typename Get, typename Dump>
int DumpJson(Get&& get, bst_ulong* n, char const*** out, Dump&& dump) {
  std::optional<DumpFeatures> features;
  if (!Passes("dumping a model", [&] { features = InJson(get()); })) return -1;
  int const status = dump(features);
  if (status != 0 || !WhyNotRegistered().empty()) return status;
  for (bst_ulong i = 0; i < *n; ++i) ReplaceNumbers(const_cast<char*>((*out)[i]));  // XGBoost's own strings
  return status;
}

/// Calls XGBoost's XGBoosterDumpModelExWithFeatures.
int DumpWithFeatures(BoosterHandle booster, DumpFeatures const& features, int with_stats, char const* format,
                     bst_ulong* n, char const*** out) {
  static auto* const kNext = XGBGPU_NEXT(XGBoosterDumpModelExWithFeatures);
  std::vector<char const*> names, types;
  for (std::string const& name : features.names) names.push_back(name.c_str());
  for (std::string const& type : features.types) types.push_back(type.c_str());
  return kNext(booster, static_cast<int>(names.size()), names.data(), types.data(), with_stats, format, n, out);
}

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGBoosterSerializeToBuffer(BoosterHandle booster, bst_ulong* size, char const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterSerializeToBuffer);
  return CallStock(booster, [&] { return kNext(booster, size, out); });
}

XGBGPU_EXPORT int XGBoosterSaveJsonConfig(BoosterHandle booster, bst_ulong* size, char const** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterSaveJsonConfig);
  return CallStock(booster, [&] { return kNext(booster, size, out); });
}

XGBGPU_EXPORT int XGBoosterLoadModel(BoosterHandle booster, char const* file) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterLoadModel);
  ModelFile model{file};
  return LoadChecked(booster, model.bytes(), model.format(), [&] { return kNext(booster, file); });
}

XGBGPU_EXPORT int XGBoosterLoadModelFromBuffer(BoosterHandle booster, void const* bytes, bst_ulong size) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterLoadModelFromBuffer);
  return LoadCheckedMemory(booster, bytes, size, [&] { return kNext(booster, bytes, size); });
}

XGBGPU_EXPORT int XGBoosterUnserializeFromBuffer(BoosterHandle booster, void const* bytes, bst_ulong size) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterUnserializeFromBuffer);
  return LoadCheckedMemory(booster, bytes, size, [&] { return kNext(booster, bytes, size); });
}

XGBGPU_EXPORT int XGBoosterLoadJsonConfig(BoosterHandle booster, char const* config) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterLoadJsonConfig);
  return Passes("checking a configuration", [&] { CheckText(config); }) ? kNext(booster, config) : -1;
}

XGBGPU_EXPORT int XGBoosterDumpModelEx(BoosterHandle booster, char const* map, int with_stats, char const* format,
                                       bst_ulong* n, char const*** out) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterDumpModelEx);
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
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGBoosterDumpModelExWithFeatures);
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

}  // extern "C"

}  // namespace xgbgpu::plugin
