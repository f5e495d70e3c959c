/// Names and types of features for the dump of a model, and their names in JSON.
#include <nlohmann/json.hpp>

#include "error.h"
#include "feature_map.h"
#include "fuzz.h"
#include "models/dump_json.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static xgbgpu::fuzz::MemoryFile file;
  file.Write(data, size);
  try {
    auto map = xgbgpu::cli::ReadFeatureMap(file.name());
    if (map.names.size() != map.types.size()) std::abort();
    for (std::string const& name : map.names) {
      if (!nlohmann::json::accept('"' + xgbgpu::plugin::JsonName(name) + '"')) std::abort();
    }
    std::size_t const features = size % 5;
    xgbgpu::cli::FitToModel({"c", "q"}, features, size % 2 == 0 ? "text" : "json", &map);
    if (map.names.size() != features || map.types.size() != features) std::abort();
  } catch (xgbgpu::cli::Error const&) {
  }
  return 0;
}
