/// The configuration that a stock gbtree saves and loads.
#ifndef XGBGPU_PLUGIN_XGB_SAVED_GBTREE_H_
#define XGBGPU_PLUGIN_XGB_SAVED_GBTREE_H_

#include <xgboost/json.h>

#include <map>
#include <string>
#include <vector>

namespace xgbgpu::plugin {

/// The updater's name for users and in saved configurations. A GPU build of XGBoost uses the same name.
constexpr char kPublicUpdater[] = "grow_gpu_hist";
/// Its name in the registry: a CPU build replaces the public one when it loads a configuration. Alphabetically before
/// "prune" and "refresh", because a stock booster loads the updaters of a saved sequence in that order.
constexpr char kUpdater[] = "grow_gpu_hist_xgbgpu";

/// Returns true if this is a name of the parameter `updater`.
inline bool NamesUpdaters(std::string const& parameter) { return parameter == "updater" || parameter == "updater_seq"; }

/// The updaters that grow trees, in the words of users.
struct SavedGrowth {
  std::string method;     ///< tree_method; empty if that is not ours
  std::string updaters;   ///< names with commas between them
  bool named_by_user;     ///< the user has named updaters
  bool chosen_by_method;  ///< no updater but the one that the method chooses is used
  bool is_exact;
  xgboost::Json train_param;  ///< parameters of trees, in stock words
};

/// The section "gradient_booster" of a learner's configuration, where that is a gbtree.
class SavedGbtree {
 public:
  using Values = std::map<std::string, std::string>;
  /// Values with a name for messages.
  struct Section {
    std::string key;
    xgboost::Json values;
  };

  /// `config` must outlive it.
  explicit SavedGbtree(xgboost::Json* config) : config_{*config} {}

  /// Rewrites what our updater's booster saved. It then names `gpu_hist` and `grow_gpu_hist`, which a stock reader
  /// replaces, or `exact` with stock updaters. Returns the values that our own section has to keep.
  Values Write(SavedGrowth const& growth);
  void WritePredictor(char const* name);

  // Reading throws InvalidArgument for values of other kinds, with their keys.

  /// Throws if one of the sections that all configurations have is missing.
  void Check();
  /// Returns the parameters of trees, as each updater has saved them.
  std::vector<Section> TrainParams() const;
  std::string Predictor() const;
  /// Returns tree_method and the names of updaters with commas between them.
  std::string Method() const;
  std::string Updaters() const;

  /// Has the stock booster that loads the configuration use `updaters`, with kUpdater in the place of kPublicUpdater.
  /// `by_method`: the method is ours.
  void TellStock(std::vector<std::string> const& updaters, bool by_method);

 private:
  xgboost::Json& config_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_SAVED_GBTREE_H_
