// Reads monotone and interaction constraints as users write them.
#include "params/constraint_text.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/quoted.h"
#include "models/model_bytes.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kSpace[] = " \t\n\r";

std::string Trimmed(std::string const& text) {
  auto const first = text.find_first_not_of(kSpace);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool IsEnclosed(std::string const& text, char open, char close) {
  return text.size() >= 2 && text.front() == open && text.back() == close;
}

[[noreturn]] void NotDirections(std::string const& text) {
  throw InvalidArgument{"Parameter monotone_constraints is " + Quoted(text) +
                        "; allowed: -1, 0 or 1 for each column, as in (1,0,-1), or () for none"};
}

[[noreturn]] void NotSets(std::string const& text, std::string const& why) {
  throw InvalidArgument{"Parameter interaction_constraints is " + Quoted(text) +
                        "; allowed: lists of column numbers in a list, as in [[0,2],[1,3,4]] (" + why + ")"};
}

FeatureIndex ToColumn(xgboost::Json const& value, std::string const& text) {
  double number = -1;
  if (xgboost::IsA<xgboost::Integer>(value)) {
    number = static_cast<double>(xgboost::get<xgboost::Integer const>(value));
  } else if (xgboost::IsA<xgboost::Number>(value)) {
    number = static_cast<double>(xgboost::get<xgboost::Number const>(value));
  } else {
    NotSets(text, "a column is not named by a number");
  }
  if (!(number >= 0 && number < 4294967295.0) || std::floor(number) != number) {
    NotSets(text, "a column's number is a whole number from 0 on");
  }
  return static_cast<FeatureIndex>(number);
}

}  // namespace

std::string AsTuple(std::string const& text) {
  std::string const trimmed = Trimmed(text);
  return IsEnclosed(trimmed, '[', ']') ? "(" + trimmed.substr(1, trimmed.size() - 2) + ")" : text;
}

std::vector<int> ParseMonotoneConstraints(std::string const& text) {
  std::string inside = Trimmed(AsTuple(text));
  if (inside.empty()) NotDirections(text);
  bool const enclosed = IsEnclosed(inside, '(', ')');
  if (enclosed) inside = Trimmed(inside.substr(1, inside.size() - 2));
  std::vector<int> directions;
  for (std::size_t begin = 0; begin < inside.size();) {
    if (!enclosed && !directions.empty()) NotDirections(text);
    std::size_t const end = std::min(inside.find(',', begin), inside.size());
    std::string const element = Trimmed(inside.substr(begin, end - begin));
    char* rest = nullptr;
    long const direction = std::strtol(element.c_str(), &rest, 10);
    if (element.empty() || *rest != '\0' || direction < -1 || direction > 1) NotDirections(text);
    directions.push_back(static_cast<int>(direction));
    begin = end + 1;
  }
  return directions;
}

std::vector<std::vector<FeatureIndex>> ParseInteractionConstraints(std::string const& text) {
  std::string const trimmed = Trimmed(text);
  std::vector<std::vector<FeatureIndex>> sets;
  if (trimmed.empty()) return sets;
  if (IsNestedDeeper(trimmed, 2)) NotSets(text, "lists are nested deeper");
  xgboost::Json json;
  try {
    json = xgboost::Json::Load(xgboost::StringView{trimmed});
  } catch (dmlc::Error const&) {
    NotSets(text, "it is not JSON");
  }
  if (!xgboost::IsA<xgboost::Array>(json)) NotSets(text, "it is not a list");
  for (xgboost::Json const& members : xgboost::get<xgboost::Array const>(json)) {
    if (!xgboost::IsA<xgboost::Array>(members)) NotSets(text, "an element is not a list");
    auto& set = sets.emplace_back();
    for (xgboost::Json const& member : xgboost::get<xgboost::Array const>(members)) {
      set.push_back(ToColumn(member, text));
    }
  }
  if (sets.empty()) sets.emplace_back();
  return sets;
}

}  // namespace xgbgpu::plugin
