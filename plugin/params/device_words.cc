// Decides who is told of `device` and `gpu_id`: stock code, or a booster of ours.
#include "params/device_words.h"

#include "base/quoted.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kTreeMethod[] = "tree_method", kStockDevice[] = "device", kGpuId[] = "gpu_id", kCpu[] = "cpu";
constexpr char kTakingMethod[] = "gpu_hist";
constexpr char kAnyGpu[] = "-1";  // for XGBoost 3.0 the CPU
constexpr bool kStockKnowsDevice = kSeries >= 300;
/// Stock code refuses `gpu_id`. XGBoost 3.0 takes it for a device.
constexpr bool kStockRefusesOrdinal = kSeries >= 301;

std::vector<Parameter> TellOurs(std::string const& device) {
  if (!kStockKnowsDevice) return {{kOwnDevice, device}};
  return {{kOwnDevice, device}, {kStockDevice, kCpu}};
}

std::vector<Parameter> SetMethod(Parameter const& set, KnownWords const& known) {
  std::vector<Parameter> all{set};
  auto const add = [&](std::vector<Parameter> const& more) { all.insert(all.end(), more.cbegin(), more.cend()); };
  if (IsOurMethod(set.second)) {
    if (!known.device.empty() && known.own_device.empty()) add(TellOurs(known.device));
    bool const is_stocks = kStockKnowsDevice && !known.gpu_id.empty() && known.gpu_id != kAnyGpu;
    if (is_stocks) add({{kOwnOrdinal, known.gpu_id}, {kGpuId, kAnyGpu}});
  } else if (!known.own_device.empty()) {
    add({{kStockDevice, known.own_device}, {kOwnDevice, ""}});
  }
  return all;
}

std::vector<Parameter> InPlaceOfOne(Parameter const& set, KnownWords const& known) {
  if (set.first == kTreeMethod) return SetMethod(set, known);
  bool const takes_ordinal = kStockRefusesOrdinal || (kStockKnowsDevice && IsOurMethod(known.tree_method));
  if (set.first == kGpuId && takes_ordinal) return {{kOwnOrdinal, set.second}};
  if (set.first != kStockDevice) return {set};
  if (IsOurMethod(known.tree_method)) return TellOurs(set.second);
  if (known.own_device.empty()) return {set};
  return {set, {kOwnDevice, ""}};
}

/// Returns true if XGBoost would train `hist` on a GPU with `words`.
bool IsHistOnGpu(KnownWords const& words) {
  std::string const kind = words.device.substr(0, words.device.find(':'));
  bool const on_gpu = kind == "cuda" || kind == "gpu";
  bool const is_hist = words.tree_method.empty() || words.tree_method == "auto" || words.tree_method == "hist";
  return on_gpu && is_hist && words.updater.empty() && words.booster != "gblinear";
}

/// Returns the words as the user knows them.
KnownWords WordsOfUser(KnownWords words) {
  if (words.IsTaken()) words.tree_method = words.taken;
  if (!words.own_device.empty()) words.device = words.own_device;
  return words;
}

void Apply(Parameter const& set, KnownWords* words) {
  if (set.first == kTreeMethod) words->tree_method = set.second;
  if (set.first == kStockDevice) words->device = set.second;
  if (set.first == "updater") words->updater = set.second;
  if (set.first == "booster") words->booster = set.second;
}

/// Returns the parameters that leave the method to XGBoost, with `taken` for kTakenMethod.
std::vector<Parameter> LeaveToStock(KnownWords const& known, char const* taken) {
  std::vector<Parameter> all{{kTakenMethod, taken}};
  auto const more = SetMethod({kTreeMethod, known.taken}, known);
  all.insert(all.end(), more.cbegin(), more.cend());
  return all;
}

}  // namespace

bool IsOurMethod(std::string const& method) { return method == "gpu_hist" || method == "gpu_exact"; }

std::vector<Parameter> InPlaceOf(Parameter const& set, KnownWords const& known, bool takes_hist) {
  KnownWords next = WordsOfUser(known);
  Apply(set, &next);
  bool const takes = takes_hist && known.taken != kGivenBack && IsHistOnGpu(next);
  std::string const method = next.tree_method.empty() ? "auto" : next.tree_method;
  if (takes && known.IsTaken() && set.first == kTreeMethod) return {{kTakenMethod, method}};
  if (takes == known.IsTaken()) return InPlaceOfOne(set, known);
  std::vector<Parameter> all;
  auto const add = [&](std::vector<Parameter> const& more) { all.insert(all.end(), more.cbegin(), more.cend()); };
  if (takes) {
    if (set.first != kTreeMethod && set.first != kStockDevice) add({set});
    add({{kTakenMethod, method}, {kTreeMethod, kTakingMethod}});
    add(TellOurs(next.device));
    return all;
  }
  KnownWords left = known;
  left.tree_method = known.taken;
  left.device = known.own_device;
  left.own_device = left.taken = "";
  add(LeaveToStock(known, ""));
  add(InPlaceOfOne(set, left));
  return all;
}

std::vector<Parameter> GiveBack(KnownWords const& known) { return LeaveToStock(known, kGivenBack); }

NamedDevice ReadDevice(std::string const& value) {
  auto const colon = value.find(':');
  std::string const kind = value.substr(0, colon);
  std::string const ordinal = colon == std::string::npos ? "" : value.substr(colon + 1);
  constexpr std::size_t kMostDigits = 9;
  bool const is_number =
      !ordinal.empty() && ordinal.size() <= kMostDigits && ordinal.find_first_not_of("0123456789") == std::string::npos;
  if (value == kCpu) return {false, -1};
  if ((kind != "cuda" && kind != "gpu") || (colon != std::string::npos && !is_number)) {
    throw InvalidArgument{
        "Parameter device is " + Quoted(value) +
        "; allowed with tree_method=gpu_hist or gpu_exact: cpu, cuda or gpu, and a GPU by its number as in cuda:1"};
  }
  return {true, ordinal.empty() ? -1 : std::stoi(ordinal)};
}

}  // namespace xgbgpu::plugin
