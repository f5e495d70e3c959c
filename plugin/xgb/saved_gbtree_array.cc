// Reads and rewrites the configuration of a stock gbtree that saves its updaters as an array (XGBoost 3.0 and newer).
#include <utility>
#include <vector>

#include "xgb/json_values.h"
#include "xgb/saved_gbtree.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kTrain[] = "gbtree_train_param", kTrees[] = "tree_train_param";
constexpr char kSequence[] = "updater_seq", kSequenceAlias[] = "updater";
constexpr char kUpdaters[] = "updater", kName[] = "name";
constexpr char kMethod[] = "tree_method", kPredictor[] = "predictor";
constexpr char kHistUpdater[] = "grow_quantile_histmaker";

/// Returns an updater as XGBoost saves it. Updaters insist on the section of their parameters, and not on its members.
xgboost::Json UpdaterOf(std::string const& name) {
  xgboost::Json updater{xgboost::Object{}};
  updater[kName] = xgboost::String{name};
  if (name == kHistUpdater) updater["hist_train_param"] = xgboost::Object{};
  if (name == "grow_colmaker") updater["colmaker_train_param"] = xgboost::Object{};
  return updater;
}

std::string NameOf(xgboost::Json const& updater) { return TextOf(updater, kName, kUpdaters); }

std::string Join(std::vector<std::string> const& names) {
  std::string joined;
  for (std::string const& name : names) joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

}  // namespace

SavedGbtree::Values SavedGbtree::Write(SavedGrowth const& growth) {
  xgboost::Json& train = config_[kTrain];
  // Stock XGBoost knows neither our methods nor our updater.
  if (!growth.method.empty()) train[kMethod] = xgboost::String{growth.is_exact ? "exact" : "hist"};
  std::vector<xgboost::Json> updaters;
  std::vector<std::string> names;
  if (growth.is_exact && growth.chosen_by_method) {
    names = {"grow_colmaker", "prune"};
    for (std::string const& name : names) updaters.push_back(UpdaterOf(name));
  } else {
    for (xgboost::Json const& saved : xgboost::get<xgboost::Array const>(config_[kUpdaters])) {
      bool const is_ours = NameOf(saved) == kUpdater;
      names.push_back(is_ours ? kHistUpdater : NameOf(saved));
      updaters.push_back(is_ours ? UpdaterOf(kHistUpdater) : saved);
    }
  }
  config_[kUpdaters] = xgboost::Array{std::move(updaters)};
  train[kSequenceAlias] = xgboost::String{Join(names)};
  train[kSequence] = train[kSequenceAlias];
  config_["specified_updater"] = xgboost::Boolean{growth.named_by_user};
  Values kept{{kUpdaters, growth.updaters}};
  if (!growth.method.empty()) kept[kMethod] = growth.method;
  return kept;
}

void SavedGbtree::WritePredictor(char const* /*name*/) {}  // 2.0 and newer have no such parameter

void SavedGbtree::Check() {
  CheckIs<xgboost::Object>(config_, "gradient_booster");
  CheckIs<xgboost::Array>(config_[kUpdaters], kUpdaters);
}

std::vector<SavedGbtree::Section> SavedGbtree::TrainParams() const {
  auto const* const values = FindMember(config_, kTrees, "gradient_booster");
  if (values == nullptr) return {};
  return {{kTrees, *values}};
}

std::string SavedGbtree::Predictor() const { return TextOf(config_[kTrain], kPredictor, kTrain); }

std::string SavedGbtree::Method() const { return TextOf(config_[kTrain], kMethod, kTrain); }

std::string SavedGbtree::Updaters() const {
  // XGBoost with CUDA calls the updater of its own hist as ours is called in public. Ours is in our section.
  bool const is_stocks = Method() != "gpu_hist";
  std::string const sequence = TextOf(config_[kTrain], kSequence, kTrain);
  return is_stocks && sequence == kPublicUpdater ? "" : sequence;
}

void SavedGbtree::TellStock(std::vector<std::string> const& updaters, bool by_method) {
  xgboost::Json& train = config_[kTrain];
  if (by_method) train[kMethod] = xgboost::String{"hist"};
  std::vector<xgboost::Json> told;
  std::vector<std::string> names;
  for (std::string const& name : updaters) {
    names.push_back(name == kPublicUpdater ? kUpdater : name);
    xgboost::Json updater = UpdaterOf(names.back());
    for (xgboost::Json const& saved : xgboost::get<xgboost::Array const>(config_[kUpdaters])) {
      if (NameOf(saved) == name) updater = saved;
    }
    told.push_back(std::move(updater));
  }
  train[kSequenceAlias] = xgboost::String{Join(names)};
  train[kSequence] = train[kSequenceAlias];
  config_["specified_updater"] = xgboost::Boolean{true};
  config_[kUpdaters] = xgboost::Array{std::move(told)};
}

}  // namespace xgbgpu::plugin
