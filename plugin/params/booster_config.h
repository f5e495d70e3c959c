/// Keeps the user's parameters, and translates them for a stock booster, which does not know gpu_hist.
#ifndef XGBGPU_PLUGIN_PARAMS_BOOSTER_CONFIG_H_
#define XGBGPU_PLUGIN_PARAMS_BOOSTER_CONFIG_H_

#include <xgboost/base.h>
#include <xgboost/json.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "params/plugin_params.h"
#include "xgb/saved_gbtree.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

/// The parameters of one booster as the user sees them, kept over any number of Configure calls.
///
/// A stock booster forgets: its Configure gets the newly set parameters only, chooses the updater from them alone, and
/// builds a newly chosen updater from them alone. So we remember, and repeat what it has to know on every call.
class BoosterConfig {
 public:
  /// Takes in newly set parameters and returns what to configure the stock booster with. If none of our updaters is
  /// or was in force, that is `args` itself (except that predictor=gpu_predictor becomes auto).
  /// Throws on values that are not allowed, and is then unusable: call it on a copy. One of them is gpu_backend=cuda,
  /// set in this booster, with a method that does not train there.
  xgboost::Args Configure(xgboost::Args const& args);

  /// Rewrites the configuration that a stock gbtree saved into the user's words. It then names `gpu_hist` and
  /// `grow_gpu_hist`, which a stock reader replaces, or `exact` with stock updaters.
  void Save(xgboost::Json* gbtree) const;

  /// Reads a saved configuration of ours, of stock XGBoost or of a GPU build. Rewrites it for a stock CPU booster.
  void Load(xgboost::Json* gbtree);

  /// True if gpu_hist or gpu_exact, or our updater by name, is in force.
  bool InCharge() const { return HasOurMethod() || NamesOurs(); }
  /// True if new trees are grown by our updater.
  bool Trains() const { return updaters_.empty() ? HasOurMethod() : NamesOurs(); }
  /// True if the user asked for changes of existing trees only.
  bool Updates() const { return updates_; }
  /// True if the user named `refresh`. Stock code then reads the values of the rows. Not known if InCharge() is false.
  bool Refreshes() const { return std::find(updaters_.cbegin(), updaters_.cend(), "refresh") != updaters_.cend(); }
  /// True in 3.4 and newer if the user named `prune` first. Stock code then reads the values of the rows.
  bool PrunesFirst() const { return kSeries >= 304 && !updaters_.empty() && updaters_.front() == "prune"; }
  /// True if trees have exact thresholds (gpu_exact).
  bool IsExact() const { return method_ == Method::kExact; }
  /// True if an objective such as reg:absoluteerror may set the leaves of new trees. Stock code allows it if the last
  /// updater tells which leaf a row is in. `hist` does; `exact` and `prune` do not.
  bool LetsObjectivesSetLeaves() const {
    return !IsExact() && (updaters_.empty() || updaters_.back() == kPublicUpdater);
  }
  /// True if large predictions may be made on a device, where there is one.
  bool MayPredictOnDevice() const {
    return !cpu_predictor_ && (gpu_predictor_ || InCharge()) && device_.gpu_backend != "host";
  }
  /// True if contributions and interactions are computed by the engine, on a device or the host.
  bool Explains() const { return InCharge() || (gpu_predictor_ && !cpu_predictor_); }
  /// True if the user named no updater but ours. XGBoost's warning about manual updater sequences is then not needed.
  bool IsPlain() const;
  /// The updaters for the stock booster, separated by commas, while InCharge().
  std::string Sequence() const { return Join(kUpdater); }
  /// True if a gbtree drops trees while it trains, as newer XGBoosts let it. Every round then changes weights of older
  /// trees. (A booster of the kind dart does the same, whatever the parameters are.)
  bool DropsTrees() const;
  /// True if trees are grown by our updater alone, so that margins are sums of their leaves, with weights in a dart.
  bool OwnsRounds() const { return Trains() && Sequence() == kUpdater; }

  /// tree_method, in the user's words; empty if that is not ours.
  char const* OurMethod() const { return !HasOurMethod() ? "" : IsExact() ? "gpu_exact" : "gpu_hist"; }

  /// tree() and device() are valid while InCharge().
  TreeParam const& tree() const { return tree_; }
  DeviceParam const& device() const { return device_; }
  /// Returns what the user or a loaded configuration set for a parameter of DeviceParam; empty: nothing.
  std::string DeviceWord(char const* name) const;
  /// Notes the file that gpu_trace writes in this process, if it is not the file that the parameter names.
  void TracesTo(std::string file) { traced_to_ = std::move(file); }

 private:
  enum class Method { kStock, kHist, kExact };

  bool HasOurMethod() const { return method_ != Method::kStock; }
  void Absorb(xgboost::Args const& args);
  void Choose(std::string const* tree_method, std::string const* updater, std::string const* process_type);
  std::optional<std::string> WhatTrainsInstead() const;
  void CheckKnowsOrdinal(xgboost::Args const& args) const;
  void CheckTrainsOnCuda() const;
  void CheckTrainsSymmetric() const;
  void Parse();
  /// The words of the user that Save has put into a section of our own; empty: none.
  struct OwnGrowth {
    std::string method;    ///< tree_method
    std::string updaters;  ///< with commas between them
  };
  /// Takes in a section of our own.
  OwnGrowth LoadOwn(ParamValues const& section);
  bool NamesOurs() const;
  /// Returns the lines to log about parameters without effect, by name.
  std::map<std::string, std::string> LinesAboutIdle() const;
  std::string Join(char const* name_of_ours) const;

  Method method_{Method::kStock};      ///< tree_method=…
  std::vector<std::string> updaters_;  ///< updater=…, with ours under its public name; empty if tree_method chooses
  bool updates_{false};                ///< process_type=update
  bool gpu_predictor_{false};          ///< predictor=gpu_predictor
  bool cpu_predictor_{false};          ///< predictor=cpu_predictor
  std::string traced_to_;  ///< file of gpu_trace as it was set last, here or before the configuration was saved
  std::optional<std::string> stock_method_;  ///< tree_method=…, if that is not ours; nothing if it was never set
  bool wants_cuda_{false};                   ///< gpu_backend=cuda, which the user has set and not loaded
  ParamValues tree_values_;
  ParamValues device_values_;
  ParamValues dropout_;      ///< rates at which trees are dropped, where a gbtree may have some
  ParamValues idle_values_;  ///< names of other programs and versions
  TreeParam tree_ = ParseTreeParam({}, false);
  DeviceParam device_ = ParseDeviceParam({});
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_BOOSTER_CONFIG_H_
