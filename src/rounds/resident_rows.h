/// Stage R: what a boosting round reads and writes for every row, kept on the device from one round to the next.
#ifndef XGBGPU_ROUNDS_RESIDENT_ROWS_H_
#define XGBGPU_ROUNDS_RESIDENT_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "metric/metric.h"
#include "objective/objective.h"
#include "objective/row_views.h"
#include "rounds/leaf_columns.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Margins, targets and gradients of the rows of one data set, of training or of evaluation. Made by a DeviceRounds
/// (backend/backend.h), which must outlive it and on one of whose streams all its work is enqueued: calls return at
/// once unless they say that they wait.
///
/// While there are columns (leaf_columns.h), leaf values that are added go into new ones, and margins are what these
/// were weighed to last.
///
/// Throws  DeviceError, OutOfDeviceMemory from any call
class ResidentRows : public LeafColumns {
 public:
  /// Margins [rows × outputs], row-major, of host memory that may change after the call. Columns that there
  /// were are forgotten. Waits.
  virtual void SetMargins(Span<float const> margins) = 0;
  /// Labels and weights (host arrays, as CheckTargets wants them). Waits.
  virtual void SetTargets(TargetView const& targets) = 0;

  /// Gradients from margins and targets. Needs both. For the trees that are begun next: they serve until margins or
  /// targets change, and for all trees that were begun together. (A tree may compute them itself; nobody can have them
  /// when margins or targets have changed since.)
  virtual void ComputeGradients(ObjectiveParams const& objective) = 0;

  /// Rows made with their values: adds the leaves of trees first … last - 1 of those that the DeviceRounds keeps.
  virtual void AddTrees(std::size_t first, std::size_t last) = 0;

  /// The metric of what the objective makes of the margins. Needs targets, and all that host::Evaluate asks for
  /// (metric/metric.h). Waits.
  virtual double Evaluate(ObjectiveParams const& objective, MetricParams const& metric) = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_ROUNDS_RESIDENT_ROWS_H_
