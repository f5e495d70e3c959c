/// What a boosting round reads and writes for every row, kept on a device from one round to the next.
#ifndef XGBGPU_RESIDENT_ROWS_H_
#define XGBGPU_RESIDENT_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "xgbgpu/leaf_columns.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Margins, targets and gradients of the rows of one data set, which is trained on or evaluated. A DeviceRounds
/// (backend/backend.h) makes it and must outlive it. All its work is enqueued on one of the DeviceRounds' streams: calls
/// return at once unless they say that they wait.
///
/// While there are columns (leaf_columns.h), leaf values become new columns, and margins are the sum of the columns as
/// it was weighed last.
///
/// Throws  DeviceError, OutOfDeviceMemory from any call
class ResidentRows : public LeafColumns {
 public:
  /// Copies margins [rows × outputs], row-major, from host memory, which may change after the call. Forgets the columns
  /// that there were. Waits.
  virtual void SetMargins(Span<float const> margins) = 0;
  /// Does the same where all margins are equal: they are made on the device, and no memory of the host is read.
  virtual void SetEqualMargins(float margin) = 0;
  /// Copies labels and weights from host arrays, which are as CheckTargets wants them. Waits.
  virtual void SetTargets(TargetView const& targets) = 0;

  /// Computes gradients from margins and targets, which must be there, for the trees that are begun next. They serve
  /// until margins or targets change, and for all trees that were begun together. A tree may compute them itself, so
  /// that nobody can have them once margins or targets have changed.
  virtual void ComputeGradients(ObjectiveParams const& objective) = 0;

  /// Adds the leaf values of trees first … last - 1 of those that the DeviceRounds keeps. Only for rows that were made
  /// with their values.
  virtual void AddTrees(std::size_t first, std::size_t last) = 0;

  /// Returns the metric of what the objective makes of the margins. Targets must be there, and all that host::Evaluate
  /// asks for (xgbgpu/metric.h). Waits.
  virtual double Evaluate(ObjectiveParams const& objective, MetricParams const& metric) = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_RESIDENT_ROWS_H_
