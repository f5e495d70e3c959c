/// What makes a dump of a model in JSON valid JSON: XGBoost 1.7 writes names of features as they are, newer XGBoosts fill
/// numbers into some, and all write numbers as C++ prints them.
#ifndef XGBGPU_PLUGIN_MODELS_DUMP_JSON_H_
#define XGBGPU_PLUGIN_MODELS_DUMP_JSON_H_

#include <xgboost/c_api.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xgbgpu::plugin {

/// Names and types of the features of a dump.
struct DumpFeatures {
  std::vector<std::string> names;
  std::vector<std::string> types;
};

/// The name as it stands in a string of JSON. An ordinary name is returned as it is. Quotes, backslashes and control
/// characters become \u and four digits: XGBoost 2 and newer escape every other backslash once more. A byte that is not
/// UTF-8 becomes the character of Latin-1. Escaped is the brace, too, of a name that holds a word in braces which
/// XGBoost's own templates have, such as {left}: XGBoost would put a number there.
std::string JsonName(std::string_view name);

/// Replaces names by JsonName. Returns nothing if all of them stay as they are.
std::optional<DumpFeatures> InJson(DumpFeatures features);

/// The features that XGBoosterDumpModelEx takes: from the feature map `file`, or without one from the model.
/// Returns none if there are none, or if the file cannot be read, which XGBoost then reports.
DumpFeatures FeaturesOfDump(BoosterHandle booster, char const* file);

/// Replaces what is no number of JSON in a dump, in place: infinity by 1E39, which is larger than every number of 32
/// bits, and NaN by null. The blank before such a number makes room. `text` is a tree with JsonName's names.
void ReplaceNumbers(char* text);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_DUMP_JSON_H_
