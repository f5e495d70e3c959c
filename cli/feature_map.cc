// Reads feature maps, and checks each line.
#include "feature_map.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/quoted.h"
#include "error.h"
#include "output_file.h"
#include "text_data.h"

namespace xgbgpu::cli {

FeatureMap ReadFeatureMap(std::string const& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(LocalPath(path), ignored)) {
    throw Error("cannot open fmap = " + QuotedName(path) + ": it is a folder");
  }
  std::ifstream file(LocalPath(path));
  if (!file) {
    throw Error("cannot open fmap = " + QuotedName(path) + ": " + std::strerror(errno));
  }
  std::vector<std::string> const known_types = {"i", "q", "int", "float", "c"};
  FeatureMap map;
  int line_number = 0;
  auto const fail = [&](std::string const& message) {
    throw Error(EscapedName(path) + ":" + std::to_string(line_number) + ": " + message);
  };
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    if (line_number == 1 && line.rfind(kByteOrderMark, 0) == 0) {
      line.erase(0, std::strlen(kByteOrderMark));
    }
    std::istringstream words(line);
    std::string index;
    std::string name;
    std::string type;
    std::string more;
    if (!(words >> index)) {
      continue;
    }
    if (!(words >> name >> type) || words >> more) {
      fail(Quoted(line) + " is not: index name type");
    }
    if (index != std::to_string(map.names.size())) {
      fail("the index is " + Quoted(index) + "; expected " + std::to_string(map.names.size()));
    }
    if (std::find(known_types.begin(), known_types.end(), type) == known_types.end()) {
      fail("the type is " + Quoted(type) + "; allowed: i, q, int, float, c");
    }
    map.names.push_back(name);
    map.types.push_back(type);
  }
  return map;
}

void FitToModel(std::vector<std::string> const& model_types, size_t n_features, std::string const& dump_format,
                FeatureMap* map) {
  map->names.resize(std::min(map->names.size(), n_features));
  map->types.resize(map->names.size());
  for (size_t i = map->names.size(); i < n_features; ++i) {
    bool const category = i < model_types.size() && model_types[i] == "c";
    bool const bare = dump_format == "json" || (dump_format == "text" && category);
    map->names.push_back((bare ? "" : "f") + std::to_string(i));
    map->types.push_back(category ? "c" : "q");
  }
}

}  // namespace xgbgpu::cli
