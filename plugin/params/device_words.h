/// `device` of XGBoost 2 and newer, as a booster with a method of ours is told of it.
///
/// A stock booster that knows `device=cuda` configures itself for a GPU, or warns that it has none. So stock code is told
/// `cpu` while the method is ours, and the user's word goes to a parameter of our own.
#ifndef XGBGPU_PLUGIN_PARAMS_DEVICE_WORDS_H_
#define XGBGPU_PLUGIN_PARAMS_DEVICE_WORDS_H_

#include <string>
#include <utility>
#include <vector>

namespace xgbgpu::plugin {

/// The parameter of ours with the user's `device`, and the one with the user's `gpu_id`, which XGBoost 3.1 and newer
/// refuse.
constexpr char kOwnDevice[] = "gpu_device", kOwnOrdinal[] = "gpu_ordinal";
/// The parameter of ours that says that gpu_hist trains in the place of `hist`: the user's tree_method. kGivenBack: it
/// could not, and XGBoost trains.
constexpr char kTakenMethod[] = "gpu_takes", kGivenBack[] = "none";

using Parameter = std::pair<std::string, std::string>;

/// What a booster was told before. Empty: nothing.
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
