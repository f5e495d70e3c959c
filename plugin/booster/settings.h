/// The parameters of one booster.
#ifndef XGBGPU_PLUGIN_BOOSTER_SETTINGS_H_
#define XGBGPU_PLUGIN_BOOSTER_SETTINGS_H_

#include <xgboost/base.h>
#include <xgboost/json.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "booster/learner_view.h"
#include "params/booster_config.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::plugin {

/// Keeps the user's parameters, and keeps the stock booster's parameters in step.
class Settings {
 public:
  explicit Settings(LearnerView const& learner) : learner_{learner} {}

  /// Takes in newly set parameters. `forget_model` is called before the stock booster takes trees out of the model
  /// (process_type=update, or its end). Throws on values that are not allowed; then nothing has changed.
  void Configure(xgboost::Args const& args, std::function<void()> const& forget_model);
  /// Replaces all parameters by a saved configuration.
  void Load(xgboost::Json const& in);
  /// Gives the stock booster the learning rate again after a round of ours that failed. XGBoost 3 divides its own by the
  /// trees of an output while they grow, and an error leaves it divided.
  void RestoreLearningRate();
  /// Saves the stock booster's configuration with the user's words in it.
  void Save(xgboost::Json* out) const;

  /// The reference stays valid while this lives.
  BoosterConfig const& config() const { return config_; }
  /// The text of base_score that was set last; empty if none was set.
  std::string const& base_score() const { return base_score_; }
  /// Returns the parameters that all workers of a process group must have in common. They are read once after a change.
  std::vector<Fact> const& SharedParams();
  /// Notes the file that gpu_trace writes in this process.
  void SetTraceFile(std::string file) { config_.TracesTo(std::move(file)); }

 private:
  LearnerView const& learner_;
  BoosterConfig config_;
  std::string base_score_;
  bool configure_failed_{false};
  std::vector<Fact> shared_params_;  ///< empty: parameters may have changed
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_SETTINGS_H_
