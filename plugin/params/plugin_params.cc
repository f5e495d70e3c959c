// Parses parameters of trees and of this library, and refuses values with their ranges.
#include "params/plugin_params.h"

#include <dmlc/strtonum.h>
#include <xgboost/json.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/memory_text.h"
#include "base/message.h"
#include "base/number_text.h"
#include "errors/notice.h"
#include "params/constraint_text.h"
#include "params/device_words.h"
#include "params/foreign_words.h"
#include "params/not_allowed.h"
#include "xgb/version.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

DMLC_REGISTER_PARAMETER(TreeParam);
DMLC_REGISTER_PARAMETER(DeviceParam);

namespace {

/// Every name that Param knows, aliases included.
template <typename Param>
std::set<std::string> NamesOf() {
  Param param;
  param.UpdateAllowUnknown(ParamValues{});
  std::set<std::string> names;
  for (auto const& name_value : param.__DICT__()) names.insert(name_value.first);
  return names;
}

/// Throws, naming the parameter and what is allowed, for a fraction that XGBoost's parser would refuse without naming
/// it (hexadecimal numbers, and those too large or too small for a float) or would read as another number (digits alone
/// from 2^64 on, or behind 19 zeros).
void CheckFraction(std::string const& name, std::string const& value) {
  char const* const text = value.c_str();
  char* end = nullptr;
  double const number = TextToDouble(text, &end);
  if (end != text && (*end == 'f' || *end == 'F')) ++end;  // as in C: XGBoost's parser reads over it
  if (end == text || *end != '\0') NotAllowed(name, value, "a number");
  errno = 0;
  auto const as_read = static_cast<double>(dmlc::strtof_check_range(text, &end));
  if (std::exchange(errno, 0) == ERANGE)
    NotAllowed(name, value, "0, or a number from 1.18e-38 to 3.4e38 with either sign");
  if (*end != '\0') NotAllowed(name, value, "a decimal number");
  // It rounds to float 15 times at most: for the digits, ten powers and a quotient.
  if (std::fabs(as_read - number) > 0x1p-20 * std::fabs(number)) {
    NotAllowed(name, value,
               "the number with an exponent, such as 1e20 or 1e-20, because XGBoost misreads this many digits");
  }
}

void CheckFractions(ParamValues const& values) {
  for (char const* name :
       {"learning_rate", "min_split_loss", "min_child_weight", "reg_lambda", "reg_alpha", "max_delta_step", "subsample",
        "colsample_bynode", "colsample_bylevel", "colsample_bytree", "top_rate", "other_rate"}) {
    auto const found = values.find(name);
    if (found != values.end()) CheckFraction(name, found->second);
  }
}

/// XGBoost's parser quotes the values that it refuses as they are.
template <typename Param>
void Update(Param* param, ParamValues const& values) {
  try {
    param->UpdateAllowUnknown(values);
  } catch (dmlc::ParamError const& error) {
    std::string text = error.what();
    for (auto const& [name, value] : values) {
      std::string const raw = "value='" + value + '\'';
      std::size_t const at = text.find(raw);
      if (at != std::string::npos) text.replace(at, raw.size(), "value=" + Quoted(value));
    }
    throw InvalidArgument{text};
  }
}

/// Reads a size of memory. Throws for other texts.
std::uint64_t ToBytes(char const* name, std::string const& value) {
  auto const bytes = TextToBytes(value);
  if (!bytes) NotAllowed(name, value, kMemoryTexts);
  return *bytes;
}

/// What is allowed for a parameter, with what to write in place of a value that another program has.
std::string WithAdvice(char const* name, std::string const& value, std::string const& allowed) {
  std::string const advice = AdviceFor(name, value);
  return advice.empty() ? allowed : allowed + "; " + advice;
}

/// Values of grow_policy for the user to choose from.
char const* Policies(bool exact) { return exact ? "depthwise (with gpu_exact)" : "depthwise, lossguide, symmetric"; }

GrowPolicy ToGrowPolicy(std::string const& value) {
  if (value == "lossguide") return GrowPolicy::kLossGuide;
  return value == "symmetric" ? GrowPolicy::kSymmetric : GrowPolicy::kDepthWise;
}

SamplingMethod ToSamplingMethod(std::string const& value, bool exact) {
  if (value == "uniform") return SamplingMethod::kUniform;
  if (value == "gradient_based") return SamplingMethod::kGradientBased;
  if (value == "goss") return SamplingMethod::kGoss;
  NotAllowed(
      "sampling_method", value,
      WithAdvice("sampling_method", value, exact ? "uniform (with gpu_exact)" : "uniform, gradient_based, goss"));
}

/// Throws if top_rate or other_rate is set without sampling_method=goss: it would have no effect.
void CheckRatesAreUsed(TreeParam const& param, TrainParams const& train) {
  TrainParams const defaults;
  if (train.sampling_method == SamplingMethod::kGoss) return;
  auto const refuse = [&](char const* name, float value, char const* fallback) {
    Throw<InvalidArgument>("Parameter ", name, " is '", value, "', but sampling_method is '", param.sampling_method,
                           "' and only goss uses ", name, "; allowed: sampling_method=goss, or ", name, " left at ",
                           fallback);
  };
  if (train.top_rate != defaults.top_rate) refuse("top_rate", train.top_rate, "0.2");
  if (train.other_rate != defaults.other_rate) refuse("other_rate", train.other_rate, "0.1");
}

/// Returns the first device to use. `devices`: the number of devices, 1 or more.
int FirstDevice(DeviceParam const& param, int devices) { return param.gpu_id < 0 ? 0 : param.gpu_id % devices; }
/// Returns the number of devices to use.
int NumberOfDevices(DeviceParam const& param, int devices) {
  return param.n_gpus < 0 ? devices : std::clamp(param.n_gpus, 1, devices);
}

}  // namespace

std::string CanonicalName(std::string const& name) {
  static std::map<std::string, std::string> const kAliases{{"eta", "learning_rate"},
                                                           {"gpu_ordinal", "gpu_id"},
                                                           {"gamma", "min_split_loss"},
                                                           {"lambda", "reg_lambda"},
                                                           {"alpha", "reg_alpha"}};
  auto const found = kAliases.find(name);
  return found == kAliases.end() ? name : found->second;
}

bool IsTreeParam(std::string const& name) {
  static auto const kNames = NamesOf<TreeParam>();
  return kNames.count(name) != 0;
}

bool IsDeviceParam(std::string const& name) {
  static auto const kNames = NamesOf<DeviceParam>();
  return kNames.count(name) != 0;
}

/// For an unknown word XGBoost lists the known words, but does not name the parameter.
static void CheckStockWord(std::string const& name, std::string const& value) {
  struct Words {
    std::set<std::string> known;
    char const* allowed;
  };
  static std::map<std::string, Words> const kWords{
      // "oneapi_predictor", which XGBoost also knows, has a message of its own
      {"predictor",
       {{"auto", "cpu_predictor", "gpu_predictor", "oneapi_predictor"}, "auto, cpu_predictor, gpu_predictor"}},
      {"process_type", {{"default", "update"}, "default, update"}},
      {"sample_type", {{"uniform", "weighted"}, "uniform, weighted"}},
      {"normalize_type", {{"tree", "forest"}, "tree, forest"}}};
  auto const found = kWords.find(name);
  if (found != kWords.end() && found->second.known.count(value) == 0) NotAllowed(name, value, found->second.allowed);
}

/// Returns true for a list of finite numbers, in JSON or as a tuple of Python.
static bool IsListOfNumbers(std::string text) {
  if (text.front() == '(' && text.back() == ')') {
    text.front() = '[';
    text.back() = ']';
  }
  try {
    xgboost::Json const read = xgboost::Json::Load(xgboost::StringView{text});
    auto const& numbers = xgboost::get<xgboost::Array const>(read);
    return !numbers.empty() && std::all_of(numbers.cbegin(), numbers.cend(), [](xgboost::Json const& number) {
      if (xgboost::IsA<xgboost::Integer>(number)) return true;
      return xgboost::IsA<xgboost::Number>(number) && std::isfinite(xgboost::get<xgboost::Number const>(number));
    });
  } catch (dmlc::Error const&) {
    return false;
  }
}

/// XGBoost takes a list since 3.1: a number for each output. It has read the text before, and refused most others.
static void CheckBaseScores(std::string const& name, std::string const& value) {
  if (!IsListOfNumbers(value))
    NotAllowed(name, value, "a finite number, or a list with a finite number for each output");
}

void CheckStockParam(std::string const& name, std::string const& value) {
  CheckStockWord(name, value);
  constexpr int kFirstWithList = 301;
  bool const may_be_list = kSeries >= kFirstWithList && name == "base_score";
  if (may_be_list && value.find_first_of("[(") != std::string::npos) return CheckBaseScores(name, value);
  struct Rule {
    bool (*holds)(double);
    char const* allowed;
    bool is_whole{false};
  };
  static Rule const kShare{[](double x) { return x >= 0 && x <= 1; }, "0 to 1"};
  // Each thread has a stack. Too many threads exhaust the memory for stacks, and the process ends.
  static Rule const kThreads{[](double x) { return x <= 4096; }, "at most 4096, or 0 for all threads of this machine",
                             true};
  static std::map<std::string, Rule> const kRules{
      {"num_parallel_tree", {[](double x) { return x >= 1; }, "1 or larger", true}},
      {"nthread", kThreads},
      {"n_jobs", kThreads},
      {"rate_drop", kShare},
      {"skip_drop", kShare},
      {"base_score", {[](double x) { return std::isfinite(x); }, "a finite number"}},
      {"scale_pos_weight", {[](double x) { return x >= 0 && std::isfinite(x); }, "a finite number, 0 or larger"}},
      {"tweedie_variance_power", {[](double x) { return x >= 1 && x < 2; }, "at least 1, less than 2"}},
      {"num_pairsample", {[](double x) { return x >= 1 && x < 1e9; }, "1 to 999999999", true}},
      {"fix_list_weight", {[](double x) { return x >= 0 && std::isfinite(x); }, "a finite number, 0 or larger"}},
      {"huber_slope", {[](double x) { return x != 0 && std::isfinite(x); }, "a finite number but 0"}},
      {"aft_loss_distribution_scale",
       {[](double x) { return x > 0 && std::isfinite(x); }, "a finite number, larger than 0"}}};
  auto const found = kRules.find(name);
  if (found == kRules.end()) return;
  Rule const& rule = found->second;
  if (!rule.is_whole) CheckFraction(name, value);
  char* end = nullptr;
  double const number = rule.is_whole ? std::strtol(value.c_str(), &end, 10) : TextToDouble(value.c_str(), &end);
  bool const is_number = end != value.c_str();
  while (is_number && std::isspace(static_cast<unsigned char>(*end)) != 0) ++end;
  if (!is_number || *end != '\0' || !rule.holds(number)) NotAllowed(name, value, rule.allowed);
}

TreeParam ParseTreeParam(ParamValues const& values, bool exact) {
  CheckFractions(values);
  auto const onehot = values.find("max_cat_to_onehot");
  if (onehot != values.end() && onehot->second.find('-') != std::string::npos) {  // the parser makes it positive
    NotAllowed("max_cat_to_onehot", onehot->second, "1 to 2147483647");
  }
  TreeParam param;
  Update(&param, values);
  static std::set<std::string> const kPolicies{"depthwise", "lossguide", "symmetric"};
  if (kPolicies.count(param.grow_policy) == 0) {
    NotAllowed("grow_policy", param.grow_policy, WithAdvice("grow_policy", param.grow_policy, Policies(exact)));
  }
  ToSamplingMethod(param.sampling_method, exact);
  ParseMonotoneConstraints(param.monotone_constraints);
  ParseInteractionConstraints(param.interaction_constraints);
  return param;
}

/// Sets gpu_backend and gpu_id by the user's `device`. Throws if gpu_backend or gpu_id contradicts it.
static void UseDevice(ParamValues const& values, DeviceParam* param) {
  NamedDevice const named = ReadDevice(param->gpu_device);
  std::string const backend = named.is_gpu ? "cuda" : "host";
  if (param->gpu_backend != "auto" && param->gpu_backend != backend) {
    throw InvalidArgument{"Parameter device is " + Quoted(param->gpu_device) + " and gpu_backend is " +
                          Quoted(param->gpu_backend) + "; allowed: one of both"};
  }
  if (!named.is_gpu) param->gpu_backend = backend;
  if (named.ordinal < 0) return;
  if (values.count("gpu_id") != 0 && param->gpu_id != named.ordinal) {
    throw InvalidArgument{"Parameter device is " + Quoted(param->gpu_device) + " and gpu_id is " +
                          std::to_string(param->gpu_id) + "; allowed: one of both, or the same GPU"};
  }
  param->gpu_id = named.ordinal;
}

DeviceParam ParseDeviceParam(ParamValues const& values) {
  CheckFractions(values);
  DeviceParam param;
  Update(&param, values);
  static std::set<std::string> const kBackends{"auto", "cuda", "host"};
  if (kBackends.count(param.gpu_backend) == 0) NotAllowed("gpu_backend", param.gpu_backend, "auto, cuda, host");
  if (!param.gpu_device.empty()) UseDevice(values, &param);
  ToMemoryLimits(param);  // for what it refuses
  if (param.n_gpus < -1) NotAllowed("n_gpus", std::to_string(param.n_gpus), "-1 (all), 1 or more");
  for (auto const& [name, rate] : {std::pair{"top_rate", param.top_rate}, {"other_rate", param.other_rate}}) {
    if (!(rate > 0 && rate < 1)) NotAllowed(name, values.at(name), "larger than 0, less than 1");  // as Validate() says
  }
  return param;
}

TrainParams ToTrainParams(TreeParam const& param, DeviceParam const& device, std::uint64_t seed, bool exact) {
  if (exact && param.grow_policy == "symmetric") {
    Throw<Unsupported>("Parameter grow_policy is 'symmetric', which exact trees (tree_method gpu_exact) do not have; ",
                       "allowed: ", Policies(exact));
  }
  TrainParams out;
  out.learning_rate = param.learning_rate;
  out.min_split_loss = param.min_split_loss;
  out.max_depth = param.max_depth;
  out.max_leaves = param.max_leaves;
  out.grow_policy = ToGrowPolicy(param.grow_policy);
  out.min_child_weight = param.min_child_weight;
  out.reg_lambda = param.reg_lambda;
  out.reg_alpha = param.reg_alpha;
  out.max_delta_step = param.max_delta_step;
  out.regularisation = kSeries >= 304 ? Regularisation::kOf3_4 : Regularisation::kOf1_7;
  out.max_cat_to_onehot = param.max_cat_to_onehot;
  out.max_cat_threshold = param.max_cat_threshold;
  out.sampling_method = ToSamplingMethod(param.sampling_method, exact);
  out.subsample = param.subsample;
  out.top_rate = device.top_rate;
  out.other_rate = device.other_rate;
  out.colsample_bytree = param.colsample_bytree;
  out.colsample_bylevel = param.colsample_bylevel;
  out.colsample_bynode = param.colsample_bynode;
  out.monotone_constraints = ParseMonotoneConstraints(param.monotone_constraints);
  out.interaction_constraints = ParseInteractionConstraints(param.interaction_constraints);
  out.seed = seed;
  CheckRatesAreUsed(param, out);
  out.Validate();
  return out;
}

MemoryLimits ToMemoryLimits(DeviceParam const& param) {
  return {ToBytes("gpu_memory_limit", param.gpu_memory_limit),
          ToBytes("gpu_host_memory_limit", param.gpu_host_memory_limit), param.gpu_cache_folder};
}

Place ToPlace(DeviceParam const& param, bool must_exist) {
  if (param.n_gpus == 0) {
    WarnGroupOnce("n_gpus", "parameter n_gpus is 0, which is as 1: gpu_backend=host trains on the host.");
  }
  bool const on_host = param.gpu_backend == "host";
  MemoryLimits const memory = ToMemoryLimits(param);
  Place const host{BackendKind::kHost, 0, nullptr, 1, memory};
  bool const must_check = must_exist && param.gpu_id >= 0;
  if (on_host && !must_check) return host;  // without a look for devices

  int const devices = CudaDeviceCount();
  std::string why_not;
  if (devices == 0) CudaAvailable(&why_not);
  if (must_check && param.gpu_id >= devices) {
    Throw<InvalidArgument>("Parameter gpu_id is '", param.gpu_id, "'; allowed with fail_on_invalid_gpu_id: ",
                           devices == 0 ? "-1, because " + why_not : "-1 to " + std::to_string(devices - 1),
                           ". Without it another device or the host takes its place");
  }
  if (on_host) return host;
  if (devices == 0) {
    if (param.gpu_backend == "cuda") {
      throw Unsupported{"Parameter gpu_backend is 'cuda', which is not possible here: " + why_not +
                        "; possible: auto, host"};
    }
    WarnOnce("no device", "training runs on the CPU because " + why_not +
                              ". The model is the same, but it takes longer. Set gpu_backend=host to train on the CPU "
                              "without this warning.");
    return host;
  }
  int const device = FirstDevice(param, devices);
  if (param.gpu_id >= devices) {
    WarnOnce("gpu_id", "parameter gpu_id is " + std::to_string(param.gpu_id) + ", and " + std::to_string(devices) +
                           " CUDA devices can be used: training on device " + std::to_string(device) + ".");
  }
  if (must_exist && param.n_gpus > devices) {
    Throw<InvalidArgument>("Parameter n_gpus is '", param.n_gpus,
                           "'; allowed with fail_on_invalid_gpu_id: -1 (all), 1 to ", devices, ". Without it the ",
                           devices, " CUDA devices of the machine train");
  }
  if (param.n_gpus > devices) {
    WarnOnce("n_gpus", "parameter n_gpus is " + std::to_string(param.n_gpus) + ", and " + std::to_string(devices) +
                           " CUDA devices can be used: training on these.");
  }
  return {BackendKind::kCuda, device, nullptr, NumberOfDevices(param, devices), memory};
}

Place PlaceIfThere(DeviceParam const& param) {
  int const devices = param.gpu_backend == "host" ? 0 : CudaDeviceCount();
  if (devices == 0) return {BackendKind::kHost, 0};
  return {BackendKind::kCuda, FirstDevice(param, devices), nullptr, NumberOfDevices(param, devices)};
}

}  // namespace xgbgpu::plugin
