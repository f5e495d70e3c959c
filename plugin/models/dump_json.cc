// Makes dumps in JSON valid: names of features are escaped before XGBoost writes them, numbers are replaced afterwards.
#include "models/dump_json.h"

#include <dmlc/io.h>
#include <xgboost/feature_map.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/quoted.h"

namespace xgbgpu::plugin {
namespace {

/// The words in braces that XGBoost's templates of JSON have, behind the place of the name or around it.
constexpr std::array<std::string_view, 16> kPlaces = {
    "{cond}",    "{depth}", "{fname}", "{indent}",     "{leaf}",  "{left}", "{loss_chg}", "{missing}",
    "{newline}", "{nid}",   "{no}",    "{properties}", "{right}", "{stat}", "{sum_hess}", "{yes}"};

bool HoldsPlace(std::string_view name) {
  return name.find('{') != std::string_view::npos &&
         std::any_of(kPlaces.begin(), kPlaces.end(),
                     [&](std::string_view place) { return name.find(place) != std::string_view::npos; });
}

/// \u and the four digits of a number below 65536.
std::string EscapedNumber(unsigned number) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[(number >> shift) & 0xf];
  return text;
}

char const* TypeName(xgboost::FeatureMap::Type type) {
  constexpr std::array<char const*, 5> kNames = {"i", "q", "int", "float", "c"};  // in the order of the enumeration
  return kNames.at(static_cast<std::size_t>(type));
}

/// A list of strings that the booster keeps.
std::vector<std::string> KeptStrings(BoosterHandle booster, char const* field) {
  bst_ulong size = 0;
  char const** strings = nullptr;
  if (XGBoosterGetStrFeatureInfo(booster, field, &size, &strings) != 0) return {};
  return {strings, strings + size};
}

/// Reads a feature map as XGBoost does.
DumpFeatures ReadMap(char const* file) {
  DumpFeatures features;
  std::unique_ptr<dmlc::Stream> const stream{dmlc::Stream::Create(file, "r", true)};
  if (stream == nullptr) return features;
  dmlc::istream text{stream.get()};
  xgboost::FeatureMap map;
  map.LoadText(text);
  for (std::size_t i = 0; i < map.Size(); ++i) {
    features.names.emplace_back(map.Name(i));
    features.types.emplace_back(TypeName(map.TypeOf(i)));
  }
  return features;
}

}  // namespace

std::string JsonName(std::string_view name) {
  bool const holds_place = HoldsPlace(name);
  std::string out;
  for (std::string_view rest = name; !rest.empty();) {
    char32_t number = 0;
    std::size_t const size = FirstCharacter(rest, &number);
    if (size == 0) {
      out += EscapedNumber(static_cast<unsigned char>(rest[0]));
    } else if (number == '"' || number == '\\' || number < 0x20 || (number == '{' && holds_place)) {
      out += EscapedNumber(number);
    } else {
      out += rest.substr(0, size);
    }
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::optional<DumpFeatures> InJson(DumpFeatures features) {
  bool changed = false;
  for (std::string& name : features.names) {
    std::string in_json = JsonName(name);
    changed = changed || in_json != name;
    name = std::move(in_json);
  }
  if (!changed) return {};
  return features;
}

DumpFeatures FeaturesOfDump(BoosterHandle booster, char const* file) {
  DumpFeatures features;
  if (file != nullptr && *file != '\0') {
    try {
      features = ReadMap(file);
    } catch (dmlc::Error const&) {
      return {};  // XGBoost reads it again, and says the same to the user
    }
    if (!features.names.empty()) return features;
  }
  features = {KeptStrings(booster, "feature_name"), KeptStrings(booster, "feature_type")};
  if (features.types.empty()) features.types.assign(features.names.size(), "q");
  if (features.types.size() != features.names.size()) return {};  // an error of XGBoost's
  return features;
}

void ReplaceNumbers(char* text) {
  if (std::strstr(text, "inf") == nullptr && std::strstr(text, "nan") == nullptr) return;
  bool in_string = false;
  for (char* p = text; *p != '\0'; ++p) {
    if (*p == '"') in_string = !in_string;
    if (in_string) {
      if (*p == '\\' && p[1] != '\0') ++p;
      continue;
    }
    bool const negative = p[0] == ' ' && p[1] == '-';
    char* const word = p + (negative ? 2 : 1);
    if (*p != ' ') continue;
    if (std::strncmp(word, "inf", 3) == 0) {
      std::memcpy(p, negative ? "-1E39" : "1E39", negative ? 5 : 4);
    } else if (std::strncmp(word, "nan", 3) == 0) {
      std::memcpy(p, negative ? " null" : "null", negative ? 5 : 4);
    }
  }
}

}  // namespace xgbgpu::plugin
