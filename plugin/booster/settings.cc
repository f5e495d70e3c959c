// Passes parameters on to the stock booster, in an order that it survives, and reads them back.
#include "booster/settings.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/message.h"
#include "errors/notice.h"

namespace xgbgpu::plugin {

namespace {

/// Json is a handle: a copy that can be changed needs new values all the way down.
xgboost::Json DeepCopy(xgboost::Json const& json) {
  std::string text;
  xgboost::Json::Dump(json, &text);
  return xgboost::Json::Load(xgboost::StringView{text});
}

/// True for parameters that say how a worker works and not what it computes; also for num_trees, which is no parameter.
bool IsOfOneWorker(std::string const& name) {
  constexpr char const* kNames[] = {"gpu_backend",      "gpu_id",    "gpu_ordinal",      "gpu_device",
                                    "gpu_takes",        "n_gpus",    "gpu_memory_limit", "gpu_host_memory_limit",
                                    "gpu_cache_folder", "gpu_trace", "traced_to",        "predictor",
                                    "num_trees"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Adds the parameters of a saved configuration, each by its own name. A parameter that XGBoost has no word for stands
/// there twice, in XGBoost's words and in the user's. The user's words are in our section, which comes last and counts.
void AddParams(xgboost::Json const& config, std::map<std::string, std::string>* params) {
  for (auto const& [name, value] : xgboost::get<xgboost::Object const>(config)) {
    if (xgboost::IsA<xgboost::Object>(value)) {
      AddParams(value, params);
    } else if (!IsOfOneWorker(name)) {
      bool const is_text = xgboost::IsA<xgboost::String>(value);
      std::string text;
      if (!is_text) xgboost::Json::Dump(value, &text);
      (*params)["parameter " + name] = is_text ? xgboost::get<xgboost::String const>(value) : text;
    }
  }
}

}  // namespace

void Settings::Configure(xgboost::Args const& args, std::function<void()> const& forget_model) {
  BoosterConfig next = config_;
  auto const translated = next.Configure(args);
  QuietScope quiet{next.InCharge() && next.IsPlain()};
  if (next.Updates() != config_.Updates()) forget_model();
  xgboost::GradientBooster& stock = *learner_.stock();
  // A stock booster whose Configure failed may have noted the names of updaters without making any. It makes updaters
  // when the names change, so it is shown other names first. Without updaters, training would crash.
  bool const failed_before = std::exchange(configure_failed_, true);
  bool const leaves_us = config_.InCharge() && !next.InCharge();
  if (failed_before && (next.InCharge() || leaves_us)) stock.Configure({{"updater", "prune"}});
  // With "auto" a stock booster keeps its updaters until its next round chooses others. It does not know ours, so it
  // goes there by way of "hist".
  bool const to_auto = std::any_of(args.begin(), args.end(),
                                   [](auto const& a) { return a.first == "tree_method" && a.second == "auto"; });
  if (leaves_us && to_auto) stock.Configure({{"tree_method", "hist"}});
  stock.Configure(translated);
  configure_failed_ = false;
  shared_params_.clear();
  config_ = std::move(next);
  for (auto const& [name, value] : args) {
    if (name == "base_score") base_score_ = value;
  }
}

void Settings::Load(xgboost::Json const& in) {
  xgboost::Json translated = DeepCopy(in);
  BoosterConfig next;
  next.Load(&learner_.GBTreeSection(&translated));
  shared_params_.clear();
  learner_.stock()->LoadConfig(translated);
  config_ = std::move(next);
}

void Settings::RestoreLearningRate() {
  if (kSeries < 300) return;  // 1.7 divides no rate of its own, and would forget all other parameters
  QuietScope quiet{config_.IsPlain()};
  learner_.stock()->Configure({{"updater", config_.Sequence()}, {"eta", Message(config_.tree().learning_rate)}});
}

void Settings::Save(xgboost::Json* out) const {
  learner_.stock()->SaveConfig(out);
  config_.Save(&learner_.GBTreeSection(out));
}

std::vector<Fact> const& Settings::SharedParams() {
  if (shared_params_.empty()) {
    xgboost::Json config{xgboost::Object{}};
    Save(&config);
    std::map<std::string, std::string> params;
    AddParams(config, &params);
    shared_params_.assign(params.cbegin(), params.cend());
  }
  return shared_params_;
}

}  // namespace xgbgpu::plugin
