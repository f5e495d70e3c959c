// Reads names of categories as XGBoost exports them, and compares the names of a frame with the names of a model.
#include "booster/category_names.h"

#include <dmlc/logging.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/message.h"
#include "base/quoted.h"
#include "booster/stand_in.h"
#include "data/array_view.h"
#include "xgb/categories.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kText[] = "text";
constexpr char kNumbers[] = "numbers";  // of any width

std::string Dumped(xgboost::Json const& json) {
  std::string text;
  xgboost::Json::Dump(json, &text);
  return text;
}

/// Calls use(i, offset) for each value of an array of one dimension. Offsets are in bytes.
template <typename Use>
void ForEach(ArrayView const& array, Use&& use) {
  for (std::int64_t i = 0; i < array.shape[0]; ++i) use(i * array.strides[0]);
}

/// Throws dmlc::Error if XGBoost's own text is none that is known.
ArrayView Known(std::optional<ArrayView> array) {
  if (!array) throw dmlc::Error{"The names of categories are no array that is known"};
  return std::move(*array);
}

std::vector<std::string> ReadTexts(ArrayView const& offsets, ArrayView const& values) {
  std::vector<std::string> names;
  std::int64_t begin = 0;
  ForEach(offsets, [&](std::int64_t at) {
    std::int64_t const end = offsets.Read<std::int32_t>(at);
    if (at != 0) names.emplace_back(values.data + begin, values.data + end);
    begin = end;
  });
  return names;
}

std::vector<std::string> ReadNumbers(ArrayView const& values) {
  std::vector<std::string> names;
  WithType(values.type, [&](auto type) {
    ForEach(values, [&](std::int64_t at) { names.push_back(Message(+values.Read<decltype(type)>(at))); });
  });
  return names;
}

std::string CountsDiffer(std::size_t column, std::size_t from, std::string const& here, std::size_t to,
                         std::string const& there) {
  return Message("Column ", column, " has ", from, " categories ", here, " and ", to, " ", there);
}

/// Says of which kind names of this type are. Numbers are of one kind, whatever their width.
std::string_view KindOf(std::string const& type) {
  if (type.empty()) return "no categories";
  return type == kText ? "categories of text" : "categories of numbers";
}

}  // namespace

CategoryNames::Column CategoryNames::Read(xgboost::Json const& names) {
  if (xgboost::IsA<xgboost::Null>(names)) return {};
  auto const& members = xgboost::get<xgboost::Object const>(names);
  if (members.find("offsets") == members.cend()) {
    auto const values = Known(ParseArray(Dumped(names).c_str(), 1));
    return {values.type, ReadNumbers(values)};
  }
  auto const offsets = Known(ParseArray(Dumped(members.at("offsets")).c_str(), 1));
  return {kText, ReadTexts(offsets, Known(ParseArray(Dumped(members.at("values")).c_str(), 1)))};
}

CategoryNames CategoryNames::Of(xgboost::DMatrix const& data) {
  CategoryNames all;
  ExportCategories(data, [&](char const* text) {
    auto const list = xgboost::Json::Load(xgboost::StringView{text});
    for (auto const& column : xgboost::get<xgboost::Array const>(list)) all.columns_.push_back(Read(column));
  });
  return all;
}

CategoryNames CategoryNames::Of(xgboost::GradientBooster const& model, FeatureIndex columns) {
  // XGBoost exports the names of matrices, and of learners, which are not known here.
  static auto* const kLock = new std::mutex;
  static auto const* const kMatrix = new std::shared_ptr<xgboost::DMatrix>{MakeOneRow()};
  std::lock_guard<std::mutex> const lock{*kLock};
  LendCategories const lent{model, columns, kMatrix->get()};
  return Of(**kMatrix);
}

CategoryNames CategoryNames::OfColumns(char const* columns) {
  CategoryNames all;
  auto const list = xgboost::Json::Load(xgboost::StringView{columns});
  if (!xgboost::IsA<xgboost::Array>(list)) return all;
  for (auto const& column : xgboost::get<xgboost::Array const>(list)) {
    bool const has_names = xgboost::IsA<xgboost::Array>(column);
    all.columns_.push_back(has_names ? Read(xgboost::get<xgboost::Array const>(column).at(0)) : Column{});
  }
  return all;
}

bool CategoryNames::none() const {
  return std::all_of(columns_.cbegin(), columns_.cend(), [](Column const& column) { return column.type.empty(); });
}

Recoding CategoryNames::To(CategoryNames const& model) const {
  if (columns_ == model.columns_) return {};
  if (columns_.size() != model.columns_.size()) {
    Throw<InvalidArgument>("The frame has ", columns_.size(), " columns; allowed: ", model.columns_.size(),
                           ", as in the training");
  }
  Recoding recoding(columns_.size());
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    Column const &from = columns_[f], &to = model.columns_[f];
    if (from.type != to.type) {
      auto const what = [](Column const& column) {
        return column.type.empty() ? "no categories" : "categories of the type " + column.type;
      };
      Throw<InvalidArgument>(
          "Invalid new DataFrame input for the: ", f,
          "th feature (0-based). The data type doesn't match the one used in the training dataset: it has ", what(from),
          ", and had ", what(to),
          "; allowed: both numeric or both categorical, and the index type must match between the training and "
          "test set");
    }
    std::unordered_map<std::string, std::int32_t> codes;
    for (std::string const& name : to.names) codes.emplace(name, static_cast<std::int32_t>(codes.size()));
    for (std::string const& name : from.names) {
      auto const found = codes.find(name);
      if (found == codes.cend()) {
        Throw<InvalidArgument>("Found a category not in the training set for the ", f,
                               "th (0-based) column: ", Quoted(name), "; allowed: the ", to.names.size(),
                               " categories of the training");
      }
      recoding[f].push_back(found->second);
    }
  }
  return recoding;
}

void CategoryNames::CheckGoesOn(CategoryNames const& model) const {
  if (columns_ == model.columns_) return;
  To(model);
  constexpr char kAllowed[] =
      "; allowed: the categories of the model in their order, as DMatrix(…, feature_types=booster.get_categories()) "
      "has them";
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    auto const difference = Difference(f, columns_[f], model.columns_[f], "in the data", "in the model");
    if (!difference.empty()) throw InvalidArgument{difference + kAllowed};
  }
}

std::string CategoryNames::Difference(std::size_t column, Column const& from, Column const& to, std::string const& here,
                                      std::string const& there) {
  if (from.names == to.names) return {};
  auto const differ = std::mismatch(from.names.cbegin(), from.names.cend(), to.names.cbegin(), to.names.cend());
  if (differ.first == from.names.cend() || differ.second == to.names.cend()) {
    return CountsDiffer(column, from.names.size(), here, to.names.size(), there);
  }
  return Message("Category ", differ.first - from.names.cbegin(), " of column ", column, " is ", Quoted(*differ.first),
                 " ", here, " and ", Quoted(*differ.second), " ", there);
}

std::string CategoryNames::Unlike(CategoryNames const& other, std::string const& here, std::string const& there) const {
  Column const none;
  for (std::size_t f = 0; f < std::max(columns_.size(), other.columns_.size()); ++f) {
    Column const& from = f < columns_.size() ? columns_[f] : none;
    Column const& to = f < other.columns_.size() ? other.columns_[f] : none;
    auto const of_from = KindOf(from.type), of_to = KindOf(to.type);
    if (of_from != of_to) return Message("Column ", f, " has ", of_from, " ", here, " and ", of_to, " ", there);
    if (auto difference = Difference(f, from, to, here, there); !difference.empty()) return difference;
  }
  return {};
}

// For each column with categories its number, whether its names are text, their number, and each with its length.

std::string CategoryNames::ToText() const {
  std::string text;
  auto const add = [&](std::string const& word) { text += word + ' '; };
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    auto const& [type, names] = columns_[f];
    if (type.empty()) continue;
    add(std::to_string(f));
    add(type == kText ? kText : kNumbers);
    add(std::to_string(names.size()));
    for (std::string const& name : names) {
      add(std::to_string(name.size()));
      text += name;
    }
  }
  return text;
}

CategoryNames CategoryNames::OfText(std::string const& text) {
  CategoryNames all;
  std::size_t at = 0;
  auto const read_word = [&] {
    std::size_t const begin = std::exchange(at, text.find(' ', at) + 1);
    return text.substr(begin, at - 1 - begin);
  };
  auto const read_number = [&] { return std::size_t{std::stoull(read_word())}; };
  while (at < text.size()) {
    all.columns_.resize(read_number() + 1);
    auto& [type, names] = all.columns_.back();
    type = read_word();
    names.resize(read_number());
    for (std::string& name : names) {
      std::size_t const size = read_number();
      name = text.substr(std::exchange(at, at + size), size);
    }
  }
  return all;
}

void CategoryNames::Give(LearnerView const& model, xgboost::GradientBooster* slice) {
  if (Of(model).none() || !Of(*slice, model.features()).none()) return;
  auto const names_in = [&](xgboost::Json* saved) -> xgboost::Json& {
    return model.GBTreeSection(saved)["model"]["cats"];
  };
  xgboost::Json all{xgboost::Object{}}, rounds{xgboost::Object{}};
  model.stock()->SaveModel(&all);
  slice->SaveModel(&rounds);
  names_in(&rounds) = names_in(&all);
  slice->LoadModel(rounds);
}

}  // namespace xgbgpu::plugin
