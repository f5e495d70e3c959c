/// auc and aucpr: areas under curves of true and false positives. Internal to the metric stage.
///
/// Rows are sorted by prediction, the largest first. Rows with equal predictions make one step of the curve. The axes
/// count integer sums of fixed-point weights, hence independent of the order inside a step. The area is a sum of
/// doubles in the order of metric_sum.h. Item i is the step that ends at sorted row i (0 if no step ends there).
///
/// With several outputs each class is compared with all other classes. auc weights classes by their true positives,
/// aucpr weights them equally, as XGBoost 1.7 does.
///
/// From  Davis & Goadrich, "The relationship between precision-recall and ROC curves" (2006): aucpr between steps;
///       Keilwagen, Grosse & Grau, "Area under precision-recall curves for weighted and unweighted data" (2014): its
///       closed form
#ifndef XGBGPU_METRIC_AUC_H_
#define XGBGPU_METRIC_AUC_H_

#include <cstdint>

#include "xgbgpu/metric.h"

namespace xgbgpu {

/// Fixed-point weights of rows with predictions from some value up.
struct CurvePoint {
  std::int64_t positive;
  std::int64_t negative;
};

/// The curve of one class.
struct ClassArea {
  double area;                     ///< auc: in units of CurvePoint, squared; aucpr: of the unit square
  CurvePoint total;                ///< end of the curve
  std::uint32_t largest;           ///< bits of the rows' largest |weight|: a non-negative float, or NaN
  std::uint32_t negative_weights;  ///< 1 if a label is outside [0, 1], or a row has a negative weight
};

constexpr bool IsArea(Metric metric) { return metric == Metric::kAuc || metric == Metric::kAucpr; }

/// Returns the metric from the curves of its classes (one for one output). It is NaN if a class has no positive or no
/// negative weight, or a weight that is not finite. Throws InvalidArgument if labels outside [0, 1] make the area
/// exceed 1.
double FinishArea(Metric metric, std::uint64_t rows, ClassArea const* classes, std::uint32_t n);

namespace host {
/// Returns kAuc or kAucpr of all rows together. Input and errors are Evaluate's, which has checked the input
/// (CheckMetricInput). Cost: for each output a radix sort of rows and a pass over them, with 36 bytes a row.
double EvaluateArea(Metric metric, TargetView const& targets, OutputView<float const> predictions, int threads);
}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_AUC_H_
