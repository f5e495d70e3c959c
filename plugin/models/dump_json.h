/// Makes JSON dumps of models valid JSON. XGBoost 1.7 writes names of features unescaped. Newer versions fill numbers
/// into some names. All versions write numbers as C++ prints them.
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
/// UTF-8 becomes the character of Latin-1. The brace of a word such as {left} is escaped, too: XGBoost's templates have
/// such words, and XGBoost would put a number there.
std::string JsonName(std::string_view name);

/// Replaces names by JsonName. Returns nothing if all of them stay as they are.
std::optional<DumpFeatures> InJson(DumpFeatures features);

/// The features that XGBoosterDumpModelEx takes: from the feature map `file`, or without one from the model.
/// Returns none if there are none, or if the file cannot be read, which XGBoost then reports.
DumpFeatures FeaturesOfDump(BoosterHandle booster, char const* file);

/// Replaces infinity and NaN in a dump, in place: JSON has neither. Infinity becomes 1E39, larger than every float32.
/// NaN becomes null. The blank before the number makes room. `text` is a tree with JsonName's names.
void ReplaceNumbers(char* text);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_DUMP_JSON_H_
