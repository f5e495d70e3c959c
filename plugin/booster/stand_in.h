/// What stock code is given in place of a matrix that it need not see.
#ifndef XGBGPU_PLUGIN_BOOSTER_STAND_IN_H_
#define XGBGPU_PLUGIN_BOOSTER_STAND_IN_H_

#include <dmlc/logging.h>
#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "group/process_group.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// A matrix of one row, without labels. It is made when it is first asked for, which a worker of a process group may do
/// when the others do not: in a group XGBoost would wait for them, to agree on the number of columns.
inline xgboost::DMatrix* OneRow() {
  static auto const* const kHandle = [] {
    float const value = 0;
    DMatrixHandle handle = nullptr;
    OutsideProcessGroup([&] {
      if (XGDMatrixCreateFromMat(&value, 1, 1, std::numeric_limits<float>::quiet_NaN(), &handle) != 0) {
        throw dmlc::Error{XGBGetLastError()};
      }
    });
    return static_cast<std::shared_ptr<xgboost::DMatrix> const*>(handle);
  }();
  return kHandle->get();
}

/// What a stock DoBoost is given in place of matrix, gradients and cache when the real ones are on a device: it checks
/// that there is one gradient for each row, passes all of it to our updater, which looks at none, and commits the
/// trees.
class StandIn {
 public:
  explicit StandIn(std::uint32_t outputs) : gradients_(outputs) {}

  xgboost::DMatrix* data() const { return OneRow(); }
  XgbGradients* gradients() { return &gradients_; }
  XgbCache* cache() { return &cache_; }

 private:
  XgbGradients gradients_;
  XgbCache cache_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_STAND_IN_H_
