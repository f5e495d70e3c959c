/// Names and types of features for the dump of a model.
#include "error.h"
#include "feature_map.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static xgbgpu::fuzz::MemoryFile file;
  file.Write(data, size);
  try {
    auto map = xgbgpu::cli::ReadFeatureMap(file.name());
    if (map.names.size() != map.types.size()) std::abort();
    std::size_t const features = size % 5;
    xgbgpu::cli::FitToModel({"c", "q"}, features, size % 2 == 0 ? "text" : "json", &map);
    if (map.names.size() != features || map.types.size() != features) std::abort();
  } catch (xgbgpu::cli::Error const&) {
  }
  return 0;
}
