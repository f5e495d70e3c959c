// Reads, checks and stores the parameters of LambdaRank, in the form that XGBoost 2.0 and later store them.
#include "params/lambdarank_words.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/number_text.h"
#include "params/not_allowed.h"

namespace xgbgpu::plugin {

namespace {

constexpr char const* kSection = "lambdarank_param";
constexpr char const* kPairMethod = "lambdarank_pair_method";
constexpr char const* kPairsPerSample = "lambdarank_num_pair_per_sample";
constexpr char const* kBiasNorm = "lambdarank_bias_norm";

/// The parameters and their defaults.
std::map<std::string, std::string> const& Defaults() {
  static std::map<std::string, std::string> const kDefaults{{kPairMethod, "topk"},
                                                            {kPairsPerSample, kPairsNotGiven},
                                                            {"lambdarank_normalization", "1"},
                                                            {"lambdarank_score_normalization", "1"},
                                                            {"lambdarank_unbiased", "0"},
                                                            {kBiasNorm, "1"},
                                                            {"ndcg_exp_gain", "1"}};
  return kDefaults;
}

/// Returns the value as XGBoost saves it.
std::string Checked(std::string const& name, std::string const& value) {
  if (name == kPairMethod) {
    if (value != "topk" && value != "mean") NotAllowed(name, value, "topk, mean");
    return value;
  }
  if (name == kPairsPerSample) {
    bool const is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    std::string const number = is_number ? value.substr(std::min(value.find_first_not_of('0'), value.size())) : "";
    if (number.empty() || number.size() > 9) NotAllowed(name, value, "1 to 999999999");
    return number;
  }
  if (name == kBiasNorm) {
    char* end = nullptr;
    double const number = TextToDouble(value.c_str(), &end);
    bool const is_number = !value.empty() && *end == '\0' && std::isfinite(number) && number >= 0.0;
    if (!is_number) NotAllowed(name, value, "0 and more");
    return value;
  }
  std::string small = value;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (small == "1" || small == "true") return "1";
  if (small == "0" || small == "false") return "0";
  NotAllowed(name, value, "0, 1, false, true");
}

}  // namespace

void LambdaRankWords::Take(xgboost::Args const& args) {
  for (auto const& [name, value] : args) {
    if (Defaults().count(name) != 0) words_[name] = Checked(name, value);
  }
}

void LambdaRankWords::Load(xgboost::Json const& config) {
  words_.clear();
  auto const& all = xgboost::get<xgboost::Object const>(config);
  auto const found = all.find(kSection);
  if (found == all.cend()) return;
  for (auto const& [name, value] : xgboost::get<xgboost::Object const>(found->second)) {
    std::string const& text = xgboost::get<xgboost::String const>(value);
    auto const known = Defaults().find(name);
    if (known != Defaults().cend()) words_[name] = text == known->second ? text : Checked(name, text);
  }
}

void LambdaRankWords::Save(xgboost::Json* config) const {
  if (words_.empty()) return;
  xgboost::Json section{xgboost::Object{}};
  for (auto const& [name, value] : Defaults()) {
    auto const given = words_.find(name);
    section[name] = xgboost::String{given == words_.cend() ? value : given->second};
  }
  (*config)[kSection] = section;
}

}  // namespace xgbgpu::plugin
