#include "training_checks.h"

#include <xgboost/c_api.h>

#include <cmath>

#include "core/message.h"
#include "core/quoted.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

void CheckOneWorker(char const* tree_method) {
  int const workers = XGCommunicatorGetWorldSize();
  if (workers == 1) return;
  Throw<Unsupported>("Parameter tree_method is '", tree_method,
                     "', which does not train distributed, and this process is one of ", workers,
                     " workers; supported: one worker, or tree_method=hist on all of them");
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
