// Computes auc and aucpr on the host.
#include <algorithm>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"
#include "metric/auc.h"
#include "metric/auc_ops.h"
#include "metric/sum_host.h"
#include "quantile/radix_sort.h"

namespace xgbgpu::host {

namespace {

struct SortedRow {
  std::uint32_t key;
  std::uint32_t row;
};

/// Keys of one output in ascending order, and the points of its curve.
struct Curve {
  explicit Curve(std::uint64_t rows) : sorted{rows}, scratch{rows}, keys{rows}, points{rows} {}
  Buffer<SortedRow> sorted, scratch;
  Buffer<std::uint32_t> keys;
  Buffer<CurvePoint> points;
};

ClassArea AreaOfClass(Metric metric, CurveRows const& weights, OutputView<float const> const& predictions,
                      std::uint32_t output, Curve* curve, int threads) {
  std::uint64_t const rows = predictions.rows;
  std::uint32_t largest = 0, negative = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    curve->sorted[i] = {PredictionKey(predictions.at(i, output)), static_cast<std::uint32_t>(i)};
    largest = std::max(largest, LargerMagnitude(weights(i)));
    negative |= AnyNegative(weights(i));
  }
  double const scale = ScaleByPowerOfTwo(1.0, CurveShift(largest, rows));
  auto const sorted =
      RadixSort(curve->sorted.span(), curve->scratch.span(), [](SortedRow const& item) { return item.key; });
  CurvePoint sum{0, 0};
  for (std::uint64_t i = 0; i < rows; ++i) {
    sum = sum + ToFixedPoint(weights(sorted[i].row), largest, scale);
    curve->keys[i] = sorted[i].key;
    curve->points[i] = sum;
  }
  AreaTerms const terms{metric, curve->keys.data(), curve->points.data(), rows};
  return {SumTerms(terms, rows, threads), sum, largest, negative};
}

}  // namespace

double EvaluateArea(Metric metric, TargetView const& targets, OutputView<float const> predictions, int threads) {
  std::uint64_t const rows = predictions.rows;
  std::uint32_t const outputs = predictions.outputs;
  std::vector<ClassArea> classes(outputs);
  if (rows != 0) {
    // Classes are evaluated in parallel. A single output has all threads.
    ParallelTasks(threads, outputs, [&](std::size_t c, int) {
      Curve curve{rows};
      auto const output = static_cast<std::uint32_t>(c);
      classes[c] = AreaOfClass(metric, CurveRows{targets, outputs > 1, output}, predictions, output, &curve,
                               outputs > 1 ? 1 : threads);
    });
  }
  return FinishArea(metric, rows, classes.data(), outputs);
}

}  // namespace xgbgpu::host
