/// Whether gpu_hist trains in the place of XGBoost's `hist` with device=cuda. docs/parameters.md
#ifndef XGBGPU_PLUGIN_PARAMS_TAKE_HIST_H_
#define XGBGPU_PLUGIN_PARAMS_TAKE_HIST_H_

namespace xgbgpu::plugin {

/// Returns what TakeHist was told last, in this process; before it, whether the environment variable XGBGPU_TAKE_HIST is
/// 1. Throws InvalidArgument for other values of the variable than 0, 1 and nothing.
bool TakesHist();
void TakeHist(bool takes);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_TAKE_HIST_H_
