// Reads and rewrites the configuration of a stock gbtree that saves its updaters as an object (XGBoost 1.7).
#include <utility>

#include "xgb/json_values.h"
#include "xgb/saved_gbtree.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kTrain[] = "gbtree_train_param";
constexpr char kSequence[] = "updater_seq", kSequenceAlias[] = "updater";
constexpr char kUpdaters[] = "updater";
constexpr char kMethod[] = "tree_method", kPredictor[] = "predictor";

/// Returns what an updater saves: the parameters of trees, and its own.
xgboost::Json UpdaterOf(xgboost::Json const& train_param, char const* name_of_own, xgboost::Object own) {
  xgboost::Json updater{xgboost::Object{}};
  updater["train_param"] = train_param;
  updater[name_of_own] = std::move(own);
  return updater;
}

}  // namespace

SavedGbtree::Values SavedGbtree::Write(SavedGrowth const& growth) {
  xgboost::Json& train = config_[kTrain];
  Values kept;
  if (growth.is_exact) kept[kMethod] = growth.method;
  // A stock booster fails on a method that it does not know, so gpu_exact is saved as its exact.
  if (!growth.method.empty()) train[kMethod] = xgboost::String{growth.is_exact ? "exact" : growth.method};
  // Readers take "updater_seq" after its alias "updater". A stock CPU booster keeps the tree parameters saved here only
  // if it finds the sequence that it would choose itself.
  std::string const stock_sequence = growth.is_exact ? "grow_colmaker,prune" : "grow_quantile_histmaker";
  bool const is_plain_exact = growth.is_exact && growth.chosen_by_method;
  train[kSequenceAlias] = xgboost::String{is_plain_exact ? stock_sequence : growth.updaters};
  train[kSequence] = xgboost::String{growth.chosen_by_method ? stock_sequence : growth.updaters};
  config_["specified_updater"] = xgboost::Boolean{growth.named_by_user};

  auto& updaters = xgboost::get<xgboost::Object>(config_[kUpdaters]);
  if (updaters.erase(kUpdater) == 0) return kept;
  if (is_plain_exact) {
    // A stock booster takes its updaters from here, and not from the sequence. The updaters insist on both members.
    updaters["grow_colmaker"] = UpdaterOf(growth.train_param, "colmaker_train_param", {});
    updaters["prune"] = updaters["grow_colmaker"];
  } else {
    xgboost::Object own;
    own["debug_synchronize"] = xgboost::String{"0"};
    updaters[kPublicUpdater] = UpdaterOf(growth.train_param, "gpu_hist_train_param", std::move(own));
  }
  return kept;
}

void SavedGbtree::WritePredictor(char const* name) { config_[kTrain][kPredictor] = xgboost::String{name}; }

void SavedGbtree::Check() {
  CheckIs<xgboost::Object>(config_, "gradient_booster");
  CheckIs<xgboost::Object>(config_[kUpdaters], kUpdaters);
}

std::vector<SavedGbtree::Section> SavedGbtree::TrainParams() const {
  std::vector<Section> sections;
  for (auto const& [name, updater] : xgboost::get<xgboost::Object const>(config_[kUpdaters])) {
    std::string const key = std::string{kUpdaters} + '.' + name;
    if (auto const* const values = FindMember(updater, "train_param", key)) {
      sections.push_back({key + ".train_param", *values});
    }
  }
  return sections;
}

std::string SavedGbtree::Predictor() const { return TextOf(config_[kTrain], kPredictor, kTrain); }

std::string SavedGbtree::Method() const { return TextOf(config_[kTrain], kMethod, kTrain); }

// "specified_updater" would tell who chose the sequence, but XGBoost 1.7 reads false as true from binary JSON.
std::string SavedGbtree::Updaters() const { return TextOf(config_[kTrain], kSequenceAlias, kTrain); }

void SavedGbtree::TellStock(std::vector<std::string> const& updaters, bool by_method) {
  xgboost::Json& train = config_[kTrain];
  if (by_method) train[kMethod] = xgboost::String{"hist"};
  auto const& saved = xgboost::get<xgboost::Object const>(config_[kUpdaters]);
  std::string sequence;
  xgboost::Object told;
  for (std::string const& name : updaters) {
    bool const is_ours = name == kPublicUpdater;
    std::string const registered = is_ours ? kUpdater : name;
    auto const found = saved.find(name);
    told[registered] = is_ours || found == saved.cend() ? xgboost::Json{xgboost::Object{}} : found->second;
    sequence += (sequence.empty() ? "" : ",") + registered;
  }
  train[kSequenceAlias] = xgboost::String{sequence};
  train[kSequence] = xgboost::String{sequence};
  config_["specified_updater"] = xgboost::Boolean{true};
  config_[kUpdaters] = std::move(told);
}

}  // namespace xgbgpu::plugin
