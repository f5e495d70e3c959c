/// Feature maps: names and types of features for dumps.
#ifndef XGBGPU_CLI_FEATURE_MAP_H_
#define XGBGPU_CLI_FEATURE_MAP_H_

#include <string>
#include <vector>

namespace xgbgpu::cli {

/// Name and type of each feature, for the dump of a model. Types: i indicator, q quantity, int, float, c category.
struct FeatureMap {
  std::vector<std::string> names;
  std::vector<std::string> types;
};

/// Reads lines of `index name type`, separated by blanks, indices 0, 1, 2 … Throws Error naming file and line.
FeatureMap ReadFeatureMap(std::string const& path);

/// Cuts or extends a map to the features of a model. A feature without a name gets the name that XGBoost's own program
/// prints: f12, or 12 in JSON and for categories in text. `model_types`: the types stored in the model; empty: none.
void FitToModel(std::vector<std::string> const& model_types, size_t n_features, std::string const& dump_format,
                FeatureMap* map);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_FEATURE_MAP_H_
