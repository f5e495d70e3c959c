/// Margins, labels and gradients of rows that stay on a device from one round to the next.
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

/// Margins, targets and gradients of the rows of one data set, for training or evaluation. Trainer::MakeResidentRows
/// makes it; the trainer must outlive it. Calls enqueue work on a stream of the trainer's device and return at once,
/// unless they say that they wait.
///
/// While has_columns(), leaf values become new columns, and margins are the weighted sum of the last WeighColumns.
///
/// Throws  DeviceError, OutOfDeviceMemory from any call
class ResidentRows : public LeafColumns {
 public:
  /// Copies margins [rows × outputs], row-major, from host memory. Ends columns. Waits.
  virtual void SetMargins(Span<float const> margins) = 0;
  /// Sets all margins to one value, on the device. Ends columns.
  virtual void SetEqualMargins(float margin) = 0;
  /// Copies labels and weights from host memory. CheckTargets must accept them. Waits.
  virtual void SetTargets(TargetView const& targets) = 0;

  /// Computes gradients from margins and targets, which must be set, for the trees that are begun next. They are valid
  /// until margins or targets change, and for all trees that are begun together. Trees may compute them later, so they
  /// cannot be had after a change of margins or targets.
  virtual void ComputeGradients(ObjectiveParams const& objective) = 0;

  /// Adds the leaf values of kept trees first … last - 1 (Trainer::KeepTree). Only for rows that were made with values.
  virtual void AddTrees(std::size_t first, std::size_t last) = 0;

  /// Returns the metric of the predictions that the objective makes of the margins. Targets must be set. Input and
  /// errors: as host::Evaluate (xgbgpu/metric.h). Waits.
  virtual double Evaluate(ObjectiveParams const& objective, MetricParams const& metric) = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_RESIDENT_ROWS_H_
