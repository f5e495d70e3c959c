// Rewrites models of newer versions of XGBoost as this one reads them, and refuses what has no place in it.
#include "models/newer_model.h"

#include <xgboost/json.h>
#include <xgboost/learner.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <ios>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/message.h"
#include "base/quoted.h"
#include "errors/notice.h"
#include "models/json_members.h"
#include "xgb/registry.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

using xgboost::Json;
using Version = decltype(ModelSigns::version);

/// The newest series whose files were looked at.
constexpr Version kLastKnown{3, 4, 1'000'000};

/// The members of an object, to be changed; null if it is none. A Json is a handle: what it holds is changed.
xgboost::Object::Map* Members(Json const* object) {
  if (object == nullptr || !xgboost::IsA<xgboost::Object>(*object)) return nullptr;
  Json handle = *object;
  return &xgboost::get<xgboost::Object>(handle);
}

/// The elements of a list of any values; none if it is no such list.
std::vector<Json> Elements(Json const* list) {
  if (list == nullptr || !xgboost::IsA<xgboost::Array>(*list)) return {};
  return xgboost::get<xgboost::Array const>(*list);
}

/// Returns the numbers in a list, "[5E-1,2E0]", or the one number of a text without brackets.
std::vector<float> NumbersIn(std::string const& text) {
  std::vector<float> numbers;
  std::string_view rest = text;
  auto const skip = [&](std::string_view characters) {
    rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(characters)));
  };
  for (skip(" ["); !rest.empty(); skip(" ,]")) {
    float number = 0.0f;
    auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) return {};
    numbers.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  return numbers;
}

/// Writes one base score where this version looks for it.
void ReadBaseScore(Json const& learner) {
  Json const* const section = Find(learner, "learner_model_param");
  std::string const* const text = section == nullptr ? nullptr : FindText(*section, "base_score");
  if (text == nullptr) return;  // XGBoost says that it is missing
  auto const scores = NumbersIn(*text);
  if (scores.empty()) {
    Throw<InvalidArgument>("base_score is ", Quoted(*text), "; allowed: a number, or a list of equal ones");
  }
  auto const [least, most] = std::minmax_element(scores.begin(), scores.end());
  if (*least != *most) {
    Throw<InvalidArgument>("base scores of ", scores.size(),
                           Number(*section, "num_class", 0) > 1 ? " classes" : " targets", " differ, from ", *least,
                           " to ", *most,
                           "; allowed: one for all. Set base_score when you train there, or predict there");
  }
  std::string one;
  Json::Dump(Json{xgboost::Number{scores.front()}}, &one);
  (*Members(section))["base_score"] = xgboost::String{std::move(one)};
}

/// Refuses objectives that this version does not have, or cannot read.
void ReadObjective(Json const& learner) {
  Json const* const section = Find(learner, "objective");
  std::string const* const name = section == nullptr ? nullptr : FindText(*section, "name");
  if (name == nullptr) return;
  if (!IsObjective(*name)) {
    Throw<InvalidArgument>("the objective ", Quoted(*name), " is not among those of ", RunningVersion(),
                           "; allowed: objectives that both have. Predict there");
  }
  if (name->rfind("rank:", 0) == 0 && Find(*section, "lambda_rank_param") == nullptr) {
    Throw<InvalidArgument>("the objective ", Quoted(*name),
                           " is another since 2.0, with other parameters (lambdarank_param); allowed: a model that "
                           "was trained by 1.7. Predict there");
  }
  // Its only parameter is one that it does not use.
  if (*name == "reg:squaredlogerror" && Find(*section, "reg_loss_param") == nullptr) {
    (*Members(section))["reg_loss_param"] = xgboost::Object{};
  }
}

/// Refuses trees with several numbers in a leaf.
void CheckLeaves(Json const& model) {
  auto const trees = Elements(Find(model, "trees"));
  for (std::size_t t = 0; t < trees.size(); ++t) {
    Json const* const params = Find(trees[t], "tree_param");
    std::int64_t const size = params == nullptr ? 0 : Number(*params, "size_leaf_vector", 0);
    if (size <= 1) continue;
    Throw<InvalidArgument>("leaves of tree ", t, " are vectors of ", size,
                           " numbers (multi_strategy=multi_output_tree); allowed: a tree for each output "
                           "(multi_strategy=one_output_per_tree)");
  }
}

[[noreturn]] void RefuseNames() {
  throw InvalidArgument{
      "it holds names of categories (cats), by which 3.1 and newer translate the codes of a frame; allowed: categories "
      "as codes, of an array with feature_types. Train on codes there, or predict there"};
}

bool HasNamesOfCategories(Json const& model) {
  Json const* const categories = Find(model, "cats");
  return categories != nullptr && !Elements(Find(*categories, "enc")).empty();
}

/// Writes weights of trees where this version looks for them: in a dart, beside its gbtree. From 3.3 on a gbtree has
/// the weights: 3.3 writes them beside the model, 3.4 into the model.
void ReadWeights(Json const& learner) {
  Json const* const booster = Find(learner, "gradient_booster");
  if (booster == nullptr || Find(*booster, "gbtree") != nullptr) return;
  Json const* const model = Find(*booster, "model");
  Json const* weights = Find(*booster, "weight_drop");
  if (weights == nullptr && model != nullptr) weights = Find(*model, "weight_drop");
  if (weights == nullptr) return;
  std::vector<Json> values = Elements(weights);
  if (xgboost::IsA<xgboost::F32Array>(*weights)) {
    for (float const weight : xgboost::get<xgboost::F32Array const>(*weights)) {
      values.emplace_back(xgboost::Number{weight});
    }
  }
  Json dart{xgboost::Object{}};
  dart["name"] = xgboost::String{"dart"};
  dart["gbtree"] = *booster;
  dart["weight_drop"] = xgboost::Array{std::move(values)};
  (*Members(&learner))["gradient_booster"] = dart;
}

/// Rewrites a model in this version's form. Throws where this version has no such form.
void Rewrite(Json const& model) {
  Json const* const learner = Find(model, "learner");
  if (learner == nullptr) return;  // XGBoost says so, here and below
  Json const* booster = Find(*learner, "gradient_booster");
  Json const* const inner = booster == nullptr ? nullptr : Find(*booster, "gbtree");
  if (inner != nullptr) booster = inner;
  if (Json const* const trees = booster == nullptr ? nullptr : Find(*booster, "model")) {
    if (HasNamesOfCategories(*trees)) RefuseNames();
    CheckLeaves(*trees);
  }
  ReadObjective(*learner);
  ReadBaseScore(*learner);
  ReadWeights(*learner);
}

/// What an error says, without the place in XGBoost's source and the list of its functions. XGBoost quotes the model.
std::string Reason(std::exception const& error) {
  std::string text = error.what();
  text = text.substr(0, text.find("\nStack trace"));
  if (!text.empty() && text.front() == '[') {
    auto const place = text.find(": ", std::min(text.size(), text.find("] ")));
    if (place != std::string::npos) text.erase(0, place + 2);
  }
  return EscapedMessage(text);
}

std::string Dotted(Version const& version) {
  return std::to_string(version[0]) + '.' + std::to_string(version[1]) + '.' + std::to_string(version[2]);
}

/// Says once that nothing is known of files of a version.
void WarnOfFuture(Version const& version) {
  if (version <= kLastKnown) return;
  WarnOnce("model of " + Dotted(version), "a model was written by XGBoost " + Dotted(version) +
                                              ", and the newest whose files are known here is " +
                                              std::to_string(kLastKnown[0]) + '.' + std::to_string(kLastKnown[1]) +
                                              ": compare its predictions with those made there.");
}

}  // namespace

bool IsNewer(ModelSigns const& signs) {
  constexpr Version kFirst{1, 0, 0}, kNext{kBuiltSeries[0], kBuiltSeries[1] + 1, 0};
  constexpr bool kKnowsLists = kSeries >= 300;  // newer series read lists, and refuse what they cannot read
  if (signs.format == Format::kOther || kKnowsLists) return false;
  return signs.has_list_of_base_scores || signs.version < kFirst || signs.version >= kNext;
}

void LoadNewer(void* learner, ModelSigns const& signs, Bytes* bytes) {
  auto* const to = static_cast<xgboost::Learner*>(learner);
  try {
    if (signs.has_names_of_categories) RefuseNames();
    std::string const text = bytes->All();
    auto const mode = signs.format == Format::kJson ? std::ios::in : std::ios::binary;
    Json const all = Json::Load(xgboost::StringView{text}, mode);
    Json const* const serialised = Find(all, "Model");
    Json const& model = serialised == nullptr ? all : *serialised;
    Rewrite(model);
    to->LoadModel(model);
    Json const* const config = Find(all, "Config");
    if (serialised != nullptr && config != nullptr) to->LoadConfig(*config);
  } catch (std::bad_alloc const&) {
    throw;
  } catch (std::exception const& error) {
    bool const is_known = signs.version != Version{};
    Throw<InvalidArgument>(is_known ? "The model was written by XGBoost " + Dotted(signs.version)
                                    : "The model does not say which XGBoost has written it",
                           "; this one is ", RunningVersion(), ": ", Reason(error));
  }
  WarnOfFuture(signs.version);
}

}  // namespace xgbgpu::plugin
