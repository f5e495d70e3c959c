// Translates the user's parameters and configurations into words that a stock booster knows, and back.
#include "params/booster_config.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "base/number_text.h"
#include "base/quoted.h"
#include "errors/notice.h"
#include "models/model_bytes.h"
#include "params/constraint_text.h"
#include "params/device_words.h"
#include "params/foreign_words.h"
#include "xgb/json_values.h"
#include "xgb/registry.h"
#include "xgb/saved_gbtree.h"
#include "xgb/version.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

namespace {

using xgboost::Args;
using xgboost::Json;

constexpr char kExactMethod[] = "gpu_exact";
constexpr char kBackend[] = "gpu_backend";
constexpr char kSamplingMethod[] = "sampling_method", kGossMethod[] = "goss";
constexpr char kGrowPolicy[] = "grow_policy", kSymmetricPolicy[] = "symmetric";
constexpr char kDeviceSection[] = "xgboost_gpu_param";  // "…_param": XGBoost takes its keys for known parameters
constexpr char kMethod[] = "tree_method", kUpdaters[] = "updater";
constexpr char kPredictor[] = "predictor", kGpuPredictor[] = "gpu_predictor";
constexpr char kTrace[] = "gpu_trace", kTracedTo[] = "traced_to";

std::vector<std::string> SplitSequence(std::string const& sequence) {
  std::vector<std::string> names;
  std::istringstream stream{sequence};
  for (std::string name; std::getline(stream, name, ',');) {
    names.push_back(name == kUpdater ? kPublicUpdater : name);
  }
  return names;
}

ParamValues ToValues(Json const& object, std::string const& key) {
  ParamValues values;
  for (auto const& [name, value] : MembersOf(object, key)) {
    CheckIs<xgboost::String>(value, key + '.' + name);
    values[CanonicalName(name)] = xgboost::get<xgboost::String const>(value);
  }
  return values;
}

/// Returns a tree parameter's value for stock code, which lacks sampling_method=goss and grow_policy=symmetric.
std::string ForStock(std::string const& name, std::string const& value) {
  if (name == kGrowPolicy && value == kSymmetricPolicy) return "depthwise";
  return name == kSamplingMethod && value == kGossMethod ? "gradient_based" : value;
}

/// Returns the parameters of trees as an updater saves them, in stock words.
Json InStockWords(TreeParam tree) {
  tree.sampling_method = ForStock(kSamplingMethod, tree.sampling_method);
  tree.grow_policy = ForStock(kGrowPolicy, tree.grow_policy);
  return Json{xgboost::ToJson(tree)};
}

/// Throws for an unknown tree_method. XGBoost does so, too, but does not know gpu_exact, and names no parameter.
void CheckMethod(std::string const& name) {
  static std::set<std::string> const kMethods{"auto", "approx", "exact", "hist", "gpu_hist", kExactMethod};
  if (kMethods.count(name) != 0) return;
  throw InvalidArgument{"Parameter tree_method is " + Quoted(name) +
                        "; allowed: auto, approx, exact, hist, gpu_hist, gpu_exact"};
}

bool Grows(std::string const& updater) { return updater.compare(0, 5, "grow_") == 0; }

/// Throws for updater names that XGBoost handles badly. For an unknown name, its error does not name the parameter.
/// With only an empty name it has no updaters, and training crashes. With `sync`, which does nothing here, and no
/// updater that grows, trees have no splits.
void CheckAreUpdaters(std::string const& sequence) {
  auto const is_updater = [](std::string const& name) { return name == kPublicUpdater || IsUpdater(name); };
  auto const names = SplitSequence(sequence);
  auto const is_sync = [](std::string const& name) { return name == "sync"; };
  bool const syncs = std::any_of(names.cbegin(), names.cend(), is_sync);
  bool const grows = std::any_of(names.cbegin(), names.cend(), Grows);
  if ((!syncs || grows) && std::all_of(names.cbegin(), names.cend(), is_updater)) return;
  throw InvalidArgument{"Parameter updater is " + Quoted(sequence) +
                        "; allowed: names of updaters separated by commas (grow_gpu_hist, prune, refresh, …); sync "
                        "needs an updater beside it that grows trees (grow_…)"};
}

/// Throws if two updaters grow trees. The second would find a grown tree, and XGBoost's error would not say so.
void CheckOneGrows(std::vector<std::string> const& updaters) {
  if (std::count_if(updaters.cbegin(), updaters.cend(), Grows) < 2) return;
  std::string sequence;
  for (auto const& name : updaters) sequence += (sequence.empty() ? "" : ",") + name;
  throw InvalidArgument{"Parameter updater is " + Quoted(sequence) +
                        "; allowed: a list with only one updater that grows trees (grow_…)"};
}

/// Returns true if a gbtree of this series drops trees if this parameter is not 0.
bool DropsTreesBy(std::string const& name) {
  constexpr int kFirstSeries = 303;  // a dart is a gbtree since then
  return kSeries >= kFirstSeries && (name == "rate_drop" || name == "one_drop");
}

/// Throws for lists nested too deeply. Stock code reads them when it trains; its parser calls itself for each level.
void CheckInteractionNesting(ParamValues const& values) {
  auto const found = values.find("interaction_constraints");
  if (found == values.end() || !IsNestedDeeper(found->second, kMostNesting)) return;
  throw InvalidArgument{"Parameter interaction_constraints has lists that are nested more than " +
                        std::to_string(kMostNesting) +
                        " deep; allowed: lists of columns in a list, as in [[0,2],[1,3,4]]"};
}

}  // namespace

bool BoosterConfig::NamesOurs() const {
  return std::find(updaters_.cbegin(), updaters_.cend(), kPublicUpdater) != updaters_.cend();
}

bool BoosterConfig::DropsTrees() const {
  return std::any_of(dropout_.cbegin(), dropout_.cend(), [](auto const& rate) {
    return rate.second == "true" || TextToDouble(rate.second.c_str(), nullptr) != 0;
  });
}

bool BoosterConfig::IsPlain() const {
  return std::all_of(updaters_.cbegin(), updaters_.cend(), [](auto const& name) { return name == kPublicUpdater; });
}

std::string BoosterConfig::Join(char const* name_of_ours) const {
  if (updaters_.empty()) return name_of_ours;
  std::string sequence;
  for (auto const& name : updaters_) {
    if (!sequence.empty()) sequence += ',';
    sequence += name == kPublicUpdater ? name_of_ours : name;
  }
  return sequence;
}

std::string BoosterConfig::DeviceWord(char const* name) const {
  auto const found = device_values_.find(name);
  return found == device_values_.cend() ? "" : found->second;
}

Args BoosterConfig::Configure(Args const& args) {
  bool const was_in_charge = InCharge();
  Absorb(args);
  if (InCharge()) Parse();
  for (auto const& [name, line] : LinesAboutIdle()) WarnGroupOnce(name, line);
  if (gpu_predictor_ && InCharge() && device_.gpu_backend == "host") {
    WarnGroupOnce("predictor",
                  "parameter predictor=gpu_predictor: gpu_backend is host, so predictions are made there.");
  }

  Args out;
  // A stock booster builds new updaters from these arguments alone: give it everything whenever it may build some.
  if (InCharge() || was_in_charge) {
    for (auto const& [name, value] : tree_values_) out.emplace_back(name, ForStock(name, value));
  }
  for (auto const& [name, value] : args) {
    if (InCharge()) CheckStockParam(name, value);
    bool const is_updater = NamesUpdaters(name);
    if (InCharge() && (is_updater || (HasOurMethod() && name == "tree_method"))) continue;
    if (InCharge() && name == "monotone_constraints") continue;  // it is there, as a tuple
    if (InCharge() && HasNoEffect(name)) continue;  // stock code takes num_trees for the number of a model's trees
    bool const on_gpu = name == "predictor" && value == "gpu_predictor";
    out.emplace_back(name, on_gpu ? "auto" : InCharge() ? ForStock(name, value) : value);
  }
  if (HasOurMethod()) out.emplace_back("tree_method", "hist");
  if (InCharge()) out.emplace_back("updater", Sequence());
  return out;
}

void BoosterConfig::Absorb(Args const& args) {
  std::string const* tree_method = nullptr;
  std::string const* updater = nullptr;
  std::string const* process_type = nullptr;
  for (auto const& [name, value] : args) {
    if (name == "tree_method") {
      tree_method = &value;
    } else if (NamesUpdaters(name)) {
      updater = &value;
    } else if (name == "process_type") {
      process_type = &value;
      updates_ = value == "update";
    } else if (DropsTreesBy(name)) {
      dropout_[name] = value;
    } else if (name == "predictor") {
      gpu_predictor_ = value == "gpu_predictor";
      cpu_predictor_ = value == "cpu_predictor";
    } else if (IsTreeParam(name)) {
      tree_values_[CanonicalName(name)] = name == "monotone_constraints" ? AsTuple(value) : value;
    } else if (IsDeviceParam(name)) {
      device_values_[CanonicalName(name)] = value;
      if (name == kTrace) traced_to_ = value;
      if (name == kBackend) wants_cuda_ = value == "cuda";
    } else if (HasNoEffect(name)) {
      idle_values_[name] = value;
    }
  }
  CheckInteractionNesting(tree_values_);
  Choose(tree_method, updater, process_type);
  CheckKnowsOrdinal(args);
}

/// Throws for gpu_id with a method of stock code, which does not know it any more.
void BoosterConfig::CheckKnowsOrdinal(Args const& args) const {
  auto const is_ordinal = [](auto const& parameter) { return parameter.first == kOwnOrdinal; };
  auto const found = std::find_if(args.cbegin(), args.cend(), is_ordinal);
  if (InCharge() || found == args.cend() || kSeries < 301) return;
  throw InvalidArgument{"Parameter gpu_id is " + Quoted(found->second) +
                        ", and XGBoost has no such parameter since 3.1; allowed: device=cuda:" + found->second +
                        ", or gpu_id with tree_method=gpu_hist or gpu_exact"};
}

/// Each argument is null unless newly set.
void BoosterConfig::Choose(std::string const* tree_method, std::string const* updater,
                           std::string const* process_type) {
  if (tree_method != nullptr) {
    method_ = *tree_method == "gpu_hist"     ? Method::kHist
              : *tree_method == kExactMethod ? Method::kExact
                                             : Method::kStock;
    stock_method_ = HasOurMethod() ? std::nullopt : std::optional{*tree_method};
    updaters_.clear();
  }
  if (updater != nullptr) {
    updaters_ = SplitSequence(*updater);
  } else if (process_type != nullptr && *process_type == "default" && !NamesOurs()) {
    updaters_.clear();  // those in force were chosen to update trees
  }
  if (wants_cuda_) CheckTrainsOnCuda();
  if (tree_method != nullptr) CheckMethod(*tree_method);
  CheckTrainsSymmetric();
  if (!InCharge()) updaters_.clear();  // the stock booster knows what to do with them
  if (InCharge() && updater != nullptr) CheckAreUpdaters(*updater);
  CheckOneGrows(updaters_);
}

/// Returns, for a message, the parameter by which other updaters than ours grow trees: updater or tree_method, also if
/// tree_method is not set. Nothing if ours grows them.
std::optional<std::string> BoosterConfig::WhatTrainsInstead() const {
  bool const others_grow = !NamesOurs() && std::any_of(updaters_.cbegin(), updaters_.cend(), Grows);
  if (others_grow) return "updater is " + Quoted(Join(""));
  if (InCharge()) return {};
  return stock_method_ ? "tree_method is " + Quoted(*stock_method_) : "tree_method is not set";
}

/// Throws if the user set gpu_backend=cuda with a method that does not train there: it must not use the CPU unnoticed.
void BoosterConfig::CheckTrainsOnCuda() const {
  auto const instead = WhatTrainsInstead();
  if (!instead) return;
  throw InvalidArgument{"Parameter gpu_backend is 'cuda' and " + *instead +
                        ", which does not train there; allowed: tree_method=gpu_hist or gpu_exact with "
                        "gpu_backend=cuda, or gpu_backend=auto or host"};
}

/// Throws if grow_policy is symmetric, set here or in a loaded configuration, and another updater grows the trees:
/// they would silently not be symmetric. Does not throw while no method is set, because one may follow.
void BoosterConfig::CheckTrainsSymmetric() const {
  auto const policy = tree_values_.find(kGrowPolicy);
  if (policy == tree_values_.cend() || policy->second != kSymmetricPolicy) return;
  auto const instead = WhatTrainsInstead();
  bool const none_grows = !updaters_.empty() && std::none_of(updaters_.cbegin(), updaters_.cend(), Grows);
  if (!instead || none_grows || (!stock_method_ && updaters_.empty())) return;
  throw InvalidArgument{
      "Parameter grow_policy is 'symmetric' and " + *instead +
      ", which does not grow such trees; allowed: grow_policy=symmetric with tree_method=gpu_hist and "
      "no other updater that grows trees, or grow_policy=depthwise or lossguide"};
}

void BoosterConfig::Parse() {
  tree_ = ParseTreeParam(tree_values_, IsExact());
  device_ = ParseDeviceParam(device_values_);
}

std::map<std::string, std::string> BoosterConfig::LinesAboutIdle() const {
  std::map<std::string, std::string> lines;
  for (auto const& [name, value] : idle_values_) {
    auto const taken = device_values_.find(kOwnDevice);
    if (name == "device" && InCharge() && taken != device_values_.cend() && taken->second == value) continue;
    std::string line = LineAbout(name, value, InCharge());
    if (!line.empty()) lines[name] = std::move(line);
  }
  return lines;
}

void BoosterConfig::Save(Json* gbtree) const {
  Json& out = *gbtree;
  SavedGbtree saved{gbtree};
  // A configuration that is saved where there is no device says auto, as a build of XGBoost with CUDA does. Our section
  // keeps the user's word for where there is one. With gpu_backend=host no device is looked for.
  bool const hides = gpu_predictor_ && device_.gpu_backend != "host" && CudaDeviceCount() == 0;
  if (gpu_predictor_) saved.WritePredictor(hides ? "auto" : kGpuPredictor);
  // XGBoost looks here, too, for names that it must not complain of.
  xgboost::Object own;
  for (auto const& [name, line] : LinesAboutIdle()) own[name] = xgboost::String{idle_values_.at(name)};
  auto const device = idle_values_.find("device");  // set before tree_method: it decides, under the name of ours
  if (InCharge() && device != idle_values_.cend()) own[device->first] = xgboost::String{device->second};
  for (char const* name : {kOwnDevice, kTakenMethod}) {  // not words of the user
    if (!InCharge() && device_values_.count(name) != 0) own[name] = xgboost::String{""};
  }
  if (hides) own[kPredictor] = xgboost::String{kGpuPredictor};
  if (!InCharge()) {
    if (!own.GetObject().empty()) out[kDeviceSection] = std::move(own);
    return;
  }

  std::string const method = !HasOurMethod() ? "" : IsExact() ? kExactMethod : "gpu_hist";
  auto const kept = saved.Write(
      {method, Join(kPublicUpdater), !updaters_.empty(), HasOurMethod() && IsPlain(), IsExact(), InStockWords(tree_)});
  auto section = xgboost::ToJson(device_);
  auto& members = section.GetObject();
  if (kSeries < 300) members.erase(kOwnOrdinal);  // stock code has gpu_id itself
  if (device_.gpu_device.empty()) members.erase(kOwnDevice);
  if (device_.gpu_takes.empty()) members.erase(kTakenMethod);
  members[kTrace] = xgboost::String{""};  // nothing that is loaded opens a file; XGBoost looks for known names here
  if (!traced_to_.empty()) members[kTracedTo] = xgboost::String{traced_to_};
  for (auto const& [name, value] : kept) members[name] = xgboost::String{value};
  if (tree_.sampling_method == kGossMethod) members[kSamplingMethod] = xgboost::String{kGossMethod};
  if (tree_.grow_policy == kSymmetricPolicy) members[kGrowPolicy] = xgboost::String{kSymmetricPolicy};
  members.insert(own.GetObject().cbegin(), own.GetObject().cend());
  out[kDeviceSection] = std::move(section);
}

BoosterConfig::OwnGrowth BoosterConfig::LoadOwn(ParamValues const& section) {
  OwnGrowth growth;
  for (auto const& [name, value] : section) {
    if (name == kMethod) {
      growth.method = value;
    } else if (name == kUpdaters) {
      growth.updaters = value;
    } else if (name == kTracedTo) {
      traced_to_ = value;
    } else if (name == kPredictor) {
      gpu_predictor_ = value == kGpuPredictor;
    } else if (name == kSamplingMethod || name == kGrowPolicy) {
      tree_values_[name] = value;
    } else if (IsDeviceParam(name) && (name != kTrace || value.empty())) {
      device_values_[name] = value;
    } else if (HasNoEffect(name)) {
      idle_values_[name] = value;
    } else {
      WarnGroupOnce(std::string{kDeviceSection} + '.' + name,
                    "key " + Quoted(name) + " of " + kDeviceSection + " in the loaded configuration is ignored.");
    }
  }
  return growth;
}

void BoosterConfig::Load(Json* gbtree) {
  *this = BoosterConfig{};
  SavedGbtree saved{gbtree};
  saved.Check();
  for (auto const& [key, values] : saved.TrainParams()) {
    tree_values_ = ToValues(values, key);
    CheckInteractionNesting(tree_values_);
  }
  Json const* const own = FindMember(*gbtree, kDeviceSection, "gradient_booster");
  OwnGrowth const kept = own == nullptr ? OwnGrowth{} : LoadOwn(ToValues(*own, kDeviceSection));
  if (auto const* const dart = FindMember(*gbtree, "dart_train_param", "gradient_booster")) {
    for (auto const& [name, value] : ToValues(*dart, "dart_train_param")) {
      if (DropsTreesBy(name)) dropout_[name] = value;
    }
  }
  std::string const predictor = saved.Predictor();
  cpu_predictor_ = predictor == "cpu_predictor";
  if (predictor == kGpuPredictor) {
    gpu_predictor_ = true;
    saved.WritePredictor("auto");
  }

  std::string const method = kept.method.empty() ? saved.Method() : kept.method;
  method_ = method == kExactMethod ? Method::kExact : method == "gpu_hist" ? Method::kHist : Method::kStock;
  if (!HasOurMethod()) stock_method_ = method;
  updaters_ = SplitSequence(kept.updaters.empty() ? saved.Updaters() : kept.updaters);
  bool const chosen_by_method = IsExact() || (HasOurMethod() && IsPlain());
  // A loaded booster grows trees, even if the saved one only updated some.
  if (chosen_by_method || !NamesOurs()) updaters_.clear();
  if (InCharge()) saved.TellStock(SplitSequence(Sequence()), HasOurMethod());
}

}  // namespace xgbgpu::plugin
