#include "training_checks.h"

#include <cmath>

#include "core/message.h"
#include "core/quoted.h"
#include "host/booster_config.h"
#include "notice.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

void CheckTrainsInGroup(DeviceParam const& param, bool exact, std::string const& sequence, int workers) {
  if (exact) {
    Throw<Unsupported>("Parameter tree_method is 'gpu_exact', and this process is one of ", workers,
                       " workers: an exact threshold may lie between rows of two workers, and none of them sees both; "
                       "supported: one worker, or tree_method=gpu_hist on all of them");
  }
  if (sequence != kUpdater) {
    Throw<Unsupported>("Parameter updater adds others to gpu_hist, and this process is one of ", workers,
                       " workers; supported: one worker, or tree_method=gpu_hist without updater");
  }
  if (param.gpu_backend == "cuda") {
    Throw<Unsupported>("Parameter gpu_backend is 'cuda', and this process is one of ", workers,
                       " workers, which train on their CPUs in this version; supported: gpu_backend=host, which gives "
                       "the same model, auto, or one worker");
  }
  if (param.gpu_backend == "auto") {
    WarnOnce("process group", "training runs on the CPU because this process is one of " + std::to_string(workers) +
                                  " workers, which train on their CPUs in this version. The model is the same. Set "
                                  "gpu_backend=host to train there without this warning.");
  }
}

void CheckLeavesInGroup(LeafRule leaves, int workers) {
  if (leaves != LeafRule::kHost) return;
  Throw<Unsupported>(
      "The objective sets leaves by itself, from the rows of its own process, and this process is one of ", workers,
      " workers; supported: one worker, or objectives of XGBoost");
}

void CheckGrows(bool updates, char const* tree_method) {
  if (!updates) return;
  Throw<InvalidArgument>("Parameter process_type is 'update', and ", tree_method,
                         " grows new trees; allowed: default, or update with updater=refresh or prune");
}

void CheckBaseScore(Objective objective, xgboost::MetaInfo const& info, float margin, std::string const& base_score) {
  if (info.base_margin_.Size() != 0 || std::isfinite(margin)) return;
  // These two have gradients at the margin -inf. The model then predicts zeros, as in stock code.
  bool const may_be_zero = objective == Objective::kPoisson || objective == Objective::kAft;
  if (may_be_zero && std::isinf(margin)) return;
  Throw<InvalidArgument>("Parameter base_score is ", base_score.empty() ? "0 or less" : Escaped(base_score, 80),
                         "; allowed: ", may_be_zero ? "0 or larger" : "larger than 0",
                         ", since the objective takes its logarithm");
}

}  // namespace xgbgpu::plugin
