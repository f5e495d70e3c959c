// Reads and writes the array interface.
#include "data/array_view.h"

#include <algorithm>
#include <utility>

#include "xgb/json_arguments.h"

namespace xgbgpu::plugin {

std::vector<std::int64_t> Integers(xgboost::Json const& array) {
  std::vector<std::int64_t> values;
  for (auto const& value : xgboost::get<xgboost::Array const>(array)) {
    values.push_back(xgboost::get<xgboost::Integer const>(value));
  }
  return values;
}

namespace {

/// Reads an array interface, but not its mask.
std::optional<ArrayView> ParseValues(xgboost::Json const& json, std::size_t dimensions) {
  auto const has = [&](char const* name) { return MemberOf(json, name).has_value(); };
  if (!has("data") || !has("shape") || !has("typestr") || !has("version") || has("stream")) return {};
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

std::optional<ColumnView> ParseColumn(xgboost::Json const& json) {
  if (!xgboost::IsA<xgboost::Object>(json)) return {};
  auto const values = ParseValues(json, 1);
  if (!values || !HasKnownType(*values)) return {};
  ColumnView column{*values, nullptr};
  if (auto const mask = MemberOf(json, "mask")) {
    auto const bits = ParseValues(*mask, 1);
    if (!bits || bits->type != "t1" || bits->shape != values->shape || bits->strides[0] != 1) return {};
    column.present = reinterpret_cast<std::uint8_t const*>(bits->data);
  }
  return column;
}

}  // namespace

std::optional<ArrayView> ParseArray(char const* interface, std::size_t dimensions) {
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{interface});
  if (MemberOf(json, "mask")) return {};
  return ParseValues(json, dimensions);
}

std::optional<std::vector<ColumnView>> ParseColumns(char const* interfaces) {
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{interfaces});
  if (!xgboost::IsA<xgboost::Array>(json)) return {};
  std::vector<ColumnView> columns;
  for (auto const& interface : xgboost::get<xgboost::Array const>(json)) {
    auto column = ParseColumn(interface);
    if (!column || column->values.shape[0] != (columns.empty() ? column->values : columns[0].values).shape[0])
      return {};
    columns.push_back(std::move(*column));
  }
  return columns;
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
