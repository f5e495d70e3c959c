/// Tells the margins that a matrix has before the first tree from those that it had at another time.
#ifndef XGBGPU_PLUGIN_BASE_MARK_H_
#define XGBGPU_PLUGIN_BASE_MARK_H_

#include <xgboost/data.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "api_call.h"

namespace xgbgpu::plugin {

class BaseMark {
 public:
  /// From now on these are the ones. `score`: what rows without a margin of their own have.
  void Set(xgboost::MetaInfo const& info, float score) {
    epoch_.reset();
    if (IsHinted()) epoch_ = MetaInfoEpoch();
    given_ = info.base_margin_.Data()->ConstHostVector();
    score_ = score;
  }
  /// Free where XGBoost's C functions are called through ours (api_call.h), or if no margins are given.
  bool IsOf(xgboost::MetaInfo const& info, float score) {
    if (score != score_) return false;
    if (IsHinted() && epoch_ == MetaInfoEpoch()) return true;
    if (given_ != info.base_margin_.Data()->ConstHostVector()) return false;
    if (IsHinted()) epoch_ = MetaInfoEpoch();
    return true;
  }

 private:
  static bool IsHinted() { return CurrentApiCall() != ApiCall::kOther; }

  std::optional<std::uint64_t> epoch_;  ///< in which they were found unchanged
  std::vector<float> given_;
  float score_{0};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BASE_MARK_H_
