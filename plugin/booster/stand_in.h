/// Stand-ins for a matrix that stock code need not see.
#ifndef XGBGPU_PLUGIN_BOOSTER_STAND_IN_H_
#define XGBGPU_PLUGIN_BOOSTER_STAND_IN_H_

#include <dmlc/logging.h>
#include <omp.h>
#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "group/process_group.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// Makes a matrix of one row, without labels. It is made outside the process group, because a worker may make it alone.
/// In the group XGBoost would wait for all workers, to agree on the number of columns.
inline std::shared_ptr<xgboost::DMatrix> MakeOneRow() {
  float const value = 0;
  DMatrixHandle handle = nullptr;
  OutsideProcessGroup([&] {
    if (XGDMatrixCreateFromMat(&value, 1, 1, std::numeric_limits<float>::quiet_NaN(), &handle) != 0) {
      throw dmlc::Error{XGBGetLastError()};
    }
  });
  auto matrix = *static_cast<std::shared_ptr<xgboost::DMatrix> const*>(handle);
  XGDMatrixFree(handle);
  return matrix;
}

/// Returns a matrix of one row that all boosters share. The first call makes it.
inline xgboost::DMatrix* OneRow() {
  static auto const* const kMatrix = new std::shared_ptr<xgboost::DMatrix>{MakeOneRow()};
  return kMatrix->get();
}

/// Holds matrix, gradients and cache for a stock DoBoost while the real ones are on a device. DoBoost checks that there
/// is one gradient for each row, and hands all three to our updater. The updater reads none of them. DoBoost then
/// commits the trees.
class StandIn {
 public:
  /// `row`: a matrix of one row. It gets the names of categories of `data`, which DoBoost compares with the model's.
  StandIn(xgboost::DMatrix* row, xgboost::DMatrix const& data, std::uint32_t outputs) : row_{row} {
    TakeCategories(data, row);
    Resize(MatrixOf(&gradients_), 1, outputs);
  }

  xgboost::DMatrix* data() const { return row_; }
  XgbGradients* gradients() { return &gradients_; }
  XgbCache* cache() { return &cache_; }

 private:
  xgboost::DMatrix* row_;
  XgbGradients gradients_;
  XgbCache cache_;
};

/// Limits a learner to one thread during a training, while this object lives. No other thread changes the learner
/// meanwhile. Stock code wakes all threads even for a loop over one row, which takes longer than the loop. Then
/// OpenMP's threads spin for milliseconds, and slow down the threads of other devices.
class OneThread {
 public:
  /// `ctx`: of the learner, which holds it as a variable.
  explicit OneThread(XgbContext const* ctx) : ctx_{const_cast<XgbContext*>(ctx)}, threads_{ctx->nthread} {
    ctx_->nthread = 1;
  }
  ~OneThread() { ctx_->nthread = threads_; }
  OneThread(OneThread const&) = delete;
  OneThread& operator=(OneThread const&) = delete;

 private:
  XgbContext* ctx_;
  std::int32_t threads_;
};

/// Keeps parallel loops on this thread while it is alive. Stock code has such a loop over the single row for every
/// tree, and waking other threads takes longer than all the rest. Several threads may predict with one dart, so its
/// learner keeps its number of threads, which OneThread would change.
class SerialLoops {
 public:
  SerialLoops() : levels_{omp_get_max_active_levels()} { omp_set_max_active_levels(0); }
  ~SerialLoops() { omp_set_max_active_levels(levels_); }
  SerialLoops(SerialLoops const&) = delete;
  SerialLoops& operator=(SerialLoops const&) = delete;

 private:
  int levels_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_STAND_IN_H_
