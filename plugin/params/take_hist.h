/// Whether gpu_hist trains in the place of XGBoost's `hist` with device=cuda. docs/parameters.md
#ifndef XGBGPU_PLUGIN_PARAMS_TAKE_HIST_H_
#define XGBGPU_PLUGIN_PARAMS_TAKE_HIST_H_

namespace xgbgpu::plugin {

/// Returns the argument of the last TakeHist in this process. Before the first one: true if the environment variable
/// XGBGPU_TAKE_HIST is 1. Throws InvalidArgument if the variable is not 0, 1 or empty.
bool TakesHist();
void TakeHist(bool takes);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_TAKE_HIST_H_
