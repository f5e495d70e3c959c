/// Tries a release of XGBoost that no contract names in a child process.
#ifndef XGBGPU_PLUGIN_BRIDGE_TRIAL_H_
#define XGBGPU_PLUGIN_BRIDGE_TRIAL_H_

#include <string>

#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {

/// What a child process has found.
struct Verdict {
  bool is_good;
  bool is_lasting;  // false if another try may end in another way
  std::string reason;
};

/// Runs `program xgboost folder` for at most `seconds` seconds. The verdict is good if the exit status is 0. Otherwise
/// the reason is what the program wrote.
Verdict RunProgram(std::string const& program, std::string const& xgboost, std::string const& folder, int seconds);

/// Returns normally if xgbgpu-probe, beside this library, loads the adapter into this XGBoost and trains with it. The
/// verdict stays in the user's cache folder until XGBoost, adapter or bridge are other files. Throws BridgeError if the
/// verdict is bad.
void TryInChild(XGBoostImage const& image, std::string const& folder, std::string const& adapter);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_TRIAL_H_
