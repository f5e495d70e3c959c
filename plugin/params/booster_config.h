/// What the user asked for, and how that is said to a stock booster that does not know gpu_hist.
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

  /// Rewrites what a stock gbtree saved as configuration to what the user asked for. A stock reader finds in it
  /// `gpu_hist` and `grow_gpu_hist`, for which it has its own replacements, or `exact` with its own updaters.
  void Save(xgboost::Json* gbtree) const;

  /// Takes in a saved configuration, ours, a stock one or one of a GPU build, and rewrites it for a stock CPU booster.
  void Load(xgboost::Json* gbtree);

  /// True if gpu_hist or gpu_exact, or our updater by name, is in force.
  bool InCharge() const { return HasOurMethod() || NamesOurs(); }
  /// True if new trees are grown by our updater.
  bool Trains() const { return updaters_.empty() ? HasOurMethod() : NamesOurs(); }
  /// True if the user asked for changes of existing trees only.
  bool Updates() const { return updates_; }
  /// True if the user named `refresh`, with which stock code reads the values of the rows; nothing is known of it where
  /// InCharge() is false.
  bool Refreshes() const { return std::find(updaters_.cbegin(), updaters_.cend(), "refresh") != updaters_.cend(); }
  /// Does the same for `prune`, which reads them since 3.4, unless trees were grown before.
  bool PrunesFirst() const { return kSeries >= 304 && !updaters_.empty() && updaters_.front() == "prune"; }
  /// True if trees have exact thresholds (gpu_exact).
  bool IsExact() const { return method_ == Method::kExact; }
  /// True if an objective that sets leaves, reg:absoluteerror for instance, may set the leaves of new trees. Stock
  /// code lets it if the last updater says which leaf a row is in, as `hist` does; `exact` and `prune` do not.
  bool LetsObjectivesSetLeaves() const {
    return !IsExact() && (updaters_.empty() || updaters_.back() == kPublicUpdater);
  }
  /// True if large predictions may be made on a device, where there is one.
  bool MayPredictOnDevice() const {
    return !cpu_predictor_ && (gpu_predictor_ || InCharge()) && device_.gpu_backend != "host";
  }
  /// True if contributions and interactions are computed by the engine, on a device or the host.
  bool Explains() const { return InCharge() || (gpu_predictor_ && !cpu_predictor_); }
  /// True if the user named no updater but ours, so that XGBoost's warning about hand-made sequences is out of place.
  bool IsPlain() const;
  /// The updaters for the stock booster, separated by commas, while InCharge().
  std::string Sequence() const { return Join(kUpdater); }
  /// True if a gbtree drops trees while it trains, as newer XGBoosts let it. Every round then changes weights of older
  /// trees. (A booster of the kind dart does the same, whatever the parameters are.)
  bool DropsTrees() const;
  /// True if trees are grown by our updater alone, so that margins are sums of their leaves.
  bool OwnsRounds() const { return Trains() && Sequence() == kUpdater && !DropsTrees(); }

  /// tree_method, in the user's words; empty if that is not ours.
  char const* OurMethod() const { return !HasOurMethod() ? "" : IsExact() ? "gpu_exact" : "gpu_hist"; }

  /// tree() and device() are valid while InCharge().
  TreeParam const& tree() const { return tree_; }
  DeviceParam const& device() const { return device_; }
  /// Returns what the user or a loaded configuration set for a parameter of DeviceParam; empty: nothing.
  std::string DeviceWord(char const* name) const;
  /// Says which file gpu_trace writes in this process, where that is not the one that it names.
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
  /// What there is to say of parameters that have no effect, by name.
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
