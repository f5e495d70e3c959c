// Reads and writes the array interface.
#include "data/array_view.h"

#include <algorithm>
#include <utility>

namespace xgbgpu::plugin {

std::vector<std::int64_t> Integers(xgboost::Json const& array) {
  std::vector<std::int64_t> values;
  for (auto const& value : xgboost::get<xgboost::Array const>(array)) {
    values.push_back(xgboost::get<xgboost::Integer const>(value));
  }
  return values;
}

std::optional<ArrayView> ParseArray(char const* interface, std::size_t dimensions) {
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{interface});
  auto const& members = xgboost::get<xgboost::Object const>(json);
  auto const has = [&](char const* name) {
    auto const found = members.find(name);
    return found != members.cend() && !xgboost::IsA<xgboost::Null>(found->second);
  };
  if (!has("data") || !has("shape") || !has("typestr") || !has("version") || has("mask") || has("stream")) return {};
  constexpr std::int64_t kNewestVersion = 3;
  if (xgboost::get<xgboost::Integer const>(json["version"]) > kNewestVersion) return {};
  auto const& type = xgboost::get<xgboost::String const>(json["typestr"]);
  auto const shape = Integers(json["shape"]);
  bool const in_order = type.size() == 3 && (type[0] == '<' || type[0] == '|');
  bool const has_sizes = std::all_of(shape.cbegin(), shape.cend(), [](std::int64_t n) { return n >= 0; });
  if (!in_order || !has_sizes || shape.size() != dimensions) return {};
  ArrayView view{nullptr, type.substr(1), shape, std::vector<std::int64_t>(dimensions)};
  auto const& data = xgboost::get<xgboost::Array const>(json["data"]);
  if (data.empty()) return {};
  auto const address = xgboost::get<xgboost::Integer const>(data[0]);
  view.data = reinterpret_cast<char const*>(static_cast<std::uintptr_t>(address));
  std::int64_t bytes = type[2] - '0';
  if (HasKnownType(view) && address % bytes != 0) return {};
  if (has("strides")) {
    view.strides = Integers(json["strides"]);
    if (view.strides.size() != dimensions) return {};
  } else {
    for (std::size_t d = dimensions; d-- > 0;) {
      view.strides[d] = bytes;
      if (__builtin_mul_overflow(bytes, shape[d], &bytes)) return {};
    }
  }
  return view;
}

std::string ArrayText(void const* data, std::string const& type, std::vector<std::uint64_t> const& shape) {
  auto const integer = [](auto value) { return xgboost::Json{xgboost::Integer{static_cast<std::int64_t>(value)}}; };
  std::vector<xgboost::Json> sizes;
  for (std::uint64_t const size : shape) sizes.push_back(integer(size));
  xgboost::Json interface {
    xgboost::Object {}
  };
  auto const address = integer(reinterpret_cast<std::uintptr_t>(data));
  interface["data"] = xgboost::Array{{address, xgboost::Json{xgboost::Boolean{true}}}};
  interface["shape"] = xgboost::Array{std::move(sizes)};
  interface["strides"] = xgboost::Null{};
  interface["typestr"] = xgboost::String{type};
  interface["version"] = integer(3);
  std::string text;
  xgboost::Json::Dump(interface, &text);
  return text;
}

}  // namespace xgbgpu::plugin
