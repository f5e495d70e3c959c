/// JSON as text, for the C interface. XGBoost's own Json is left alone: of a version that does not fit, nothing may be
/// used.
#ifndef XGBGPU_PLUGIN_JSON_TEXT_H_
#define XGBGPU_PLUGIN_JSON_TEXT_H_

#include <string>
#include <utility>
#include <vector>

namespace xgbgpu::plugin {

/// `text` as a JSON string.
inline std::string Quote(std::string const& text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// `items` (JSON each) as a JSON array.
inline std::string Array(std::vector<std::string> const& items) {
  std::string out = "[";
  for (std::string const& item : items) out += (out.size() == 1 ? "" : ", ") + item;
  return out + ']';
}

/// Names and values (JSON each) as a JSON object.
inline std::string Object(std::vector<std::pair<std::string, std::string>> const& members) {
  std::string out = "{";
  for (auto const& [name, value] : members) out += (out.size() == 1 ? "" : ", ") + Quote(name) + ": " + value;
  return out + '}';
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_JSON_TEXT_H_
