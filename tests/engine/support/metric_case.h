/// Rows that metrics are tested on, and their evaluation on the host.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_METRIC_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_METRIC_CASE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "xgbgpu/metric.h"

namespace xgbgpu::testing {

/// Vectors are as XGBoost's: an empty one is absent. Predictions are row-major unless by_output.
struct MetricCase {
  MetricCase(std::uint64_t the_rows, std::uint32_t columns, std::uint32_t the_outputs)
      : rows{the_rows}, label_columns{columns}, outputs{the_outputs} {}

  TargetView Targets() const {
    TargetView view;
    view.labels = labels.empty() ? nullptr : labels.data();
    view.label_columns = label_columns;
    view.weights = weights.empty() ? nullptr : weights.data();
    view.lower = lower.empty() ? nullptr : lower.data();
    view.upper = upper.empty() ? nullptr : upper.data();
    view.group_ptr = groups.empty() ? nullptr : groups.data();
    view.groups = groups.empty() ? 0 : static_cast<std::uint32_t>(groups.size() - 1);
    return view;
  }
  OutputView<float const> View(float const* data) const {
    return by_output ? OutputMajor(data, rows, outputs) : RowMajor(data, rows, outputs);
  }
  double Evaluate(MetricParams const& params, int threads) const {
    return host::Evaluate(params, Targets(), View(predictions.data()), threads);
  }
  /// Returns the case with its predictions in the order in which a device keeps them.
  MetricCase ByOutput() const {
    MetricCase other = *this;
    other.by_output = true;
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (std::uint32_t k = 0; k < outputs; ++k) other.predictions[k * rows + i] = predictions[i * outputs + k];
    }
    return other;
  }

  std::uint64_t rows;
  std::uint32_t label_columns, outputs;
  bool by_output{false};
  std::vector<float> labels, predictions, weights, lower, upper;
  std::vector<std::uint32_t> groups;
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_METRIC_CASE_H_
