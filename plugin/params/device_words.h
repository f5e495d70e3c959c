/// Translates `device` of XGBoost 2 and newer for a booster with a method of ours.
///
/// With `device=cuda` a stock booster configures itself for a GPU, or warns that it has none. So stock code gets `cpu`
/// while the method is ours. The user's word goes to a parameter of our own.
#ifndef XGBGPU_PLUGIN_PARAMS_DEVICE_WORDS_H_
#define XGBGPU_PLUGIN_PARAMS_DEVICE_WORDS_H_

#include <string>
#include <utility>
#include <vector>

namespace xgbgpu::plugin {

/// Our parameters for the user's `device` and `gpu_id`. XGBoost 3.1 and newer refuse gpu_id.
constexpr char kOwnDevice[] = "gpu_device", kOwnOrdinal[] = "gpu_ordinal";
/// Our parameter for the user's tree_method, set while gpu_hist trains in the place of `hist`. kGivenBack: gpu_hist
/// refused, and XGBoost trains.
constexpr char kTakenMethod[] = "gpu_takes", kGivenBack[] = "none";

using Parameter = std::pair<std::string, std::string>;

/// Parameters that a booster already has. Empty: not set.
struct KnownWords {
  std::string tree_method;
  std::string device;      ///< for stock code
  std::string gpu_id;      ///< for stock code
  std::string own_device;  ///< kOwnDevice
  std::string taken;       ///< kTakenMethod
  std::string updater;
  std::string booster;

  /// True if gpu_hist trains in the place of `hist`.
  bool IsTaken() const { return !taken.empty() && taken != kGivenBack; }
};

/// Returns true if the engine trains with this tree_method.
bool IsOurMethod(std::string const& method);
/// Returns the parameters to set in place of `set`, in this order. `takes_hist`: TakesHist().
std::vector<Parameter> InPlaceOf(Parameter const& set, KnownWords const& known, bool takes_hist);
/// Returns the parameters to set for XGBoost to train where gpu_hist does in the place of `hist`.
std::vector<Parameter> GiveBack(KnownWords const& known);

/// A GPU as `device` names it.
struct NamedDevice {
  bool is_gpu;
  int ordinal;  ///< -1: any
};
/// Reads cpu, cuda, gpu, cuda:1 or gpu:1. Throws InvalidArgument for other values.
NamedDevice ReadDevice(std::string const& value);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_DEVICE_WORDS_H_
