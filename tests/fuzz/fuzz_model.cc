/// Models in JSON and UBJSON. A model that passes our checks must not end the process when XGBoost loads it, predicts a
/// row and dumps it.
#include <dmlc/logging.h>
#include <xgboost/c_api.h>
#include <xgboost/json.h>

#include <algorithm>
#include <stdexcept>

#include "fuzz.h"
#include "models/model_bytes.h"
#include "models/model_check.h"
#include "xgbgpu/error.h"

namespace {

using xgbgpu::plugin::Bytes;
using xgbgpu::plugin::Format;

/// XGBoost takes memory for each feature and each output. More of them show nothing new, and take time.
constexpr std::int64_t kMostFeatures = 1000;
constexpr std::int64_t kMostOutputs = 100;

/// The learner's numbers of features and outputs, as XGBoost reads them.
struct Shape {
  explicit Shape(xgboost::Json const& params) {
    auto const& texts = xgboost::get<xgboost::Object const>(params);
    auto const number = [&](char const* name) {
      auto const found = texts.find(name);
      if (found == texts.cend()) return std::int64_t{0};
      return std::int64_t{std::strtoll(xgboost::get<xgboost::String const>(found->second).c_str(), nullptr, 10)};
    };
    features = number("num_feature");
    outputs = std::max({std::int64_t{1}, number("num_class"), number("num_target")});
  }
  std::int64_t features;
  std::int64_t outputs;
};

/// Returns false if XGBoost would not read the model, or if it is too large for this target. Throws what users would
/// get.
bool Check(std::string const& text) {
  Bytes bytes{text};
  Format const format = xgbgpu::plugin::FormatOf(&bytes);
  if (format == Format::kOther) return false;
  xgbgpu::plugin::CheckBytes(&bytes, format);
  auto const mode = format == Format::kJson ? std::ios::in : std::ios::binary;
  xgboost::Json const model = xgboost::Json::Load(xgboost::StringView{text}, mode);
  auto const& learner = xgboost::get<xgboost::Object const>(xgboost::get<xgboost::Object const>(model).at("learner"));
  Shape const shape{learner.at("learner_model_param")};
  if (shape.features > kMostFeatures || shape.outputs > kMostOutputs) return false;
  auto const& booster = learner.at("gradient_booster");
  auto const& name = xgboost::get<xgboost::String const>(booster["name"]);
  xgbgpu::plugin::LoadedModel loaded;
  auto const outputs = static_cast<std::uint32_t>(shape.outputs);
  if (name == "gblinear") {
    loaded.CheckWeights(booster);
    loaded.CheckWeightsFor(static_cast<std::uint64_t>(shape.features), outputs);
    return true;
  }
  loaded.CheckTrees(booster, 1);
  loaded.CheckFeatures(static_cast<std::uint64_t>(shape.features));
  loaded.CheckOutputs(outputs);
  return true;
}

/// Errors that XGBoost returns are allowed.
void Use(std::string const& text) {
  BoosterHandle booster = nullptr;
  XGBoosterCreate(nullptr, 0, &booster);
  XGBoosterSetParam(booster, "nthread", "1");
  if (XGBoosterLoadModelFromBuffer(booster, text.data(), text.size()) == 0) {
    bst_ulong features = 0;
    float const row[kMostFeatures] = {0.5f, -0.5f, 1.0f};
    DMatrixHandle data = nullptr;
    if (XGBoosterGetNumFeature(booster, &features) == 0 &&
        XGDMatrixCreateFromMat(row, 1, features, -1000.0f, &data) == 0) {
      bst_ulong n = 0;
      float const* values = nullptr;
      char const** trees = nullptr;
      XGBoosterPredict(booster, data, 0, 0, 0, &n, &values);
      XGBoosterPredict(booster, data, 2, 0, 0, &n, &values);  // leaves
      XGBoosterDumpModelEx(booster, "", 1, "json", &n, &trees);
      XGDMatrixFree(data);
    }
  }
  XGBoosterFree(booster);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) { return XGBSetGlobalConfig("{\"verbosity\": 0}"); }

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = xgbgpu::fuzz::Text(data, size);
  try {
    if (Check(text)) Use(text);
  } catch (xgbgpu::InvalidArgument const&) {
  } catch (dmlc::Error const&) {        // an error of XGBoost's parser
  } catch (std::out_of_range const&) {  // a member of the model is missing: above, as in XGBoost
  }
  return 0;
}
