// Finds the best exact split of a node by sorting its values.
#include "reference/exact.h"

#include <algorithm>
#include <cmath>

namespace xgbgpu::reference {

namespace {

/// What is true of a feature's values in all rows of the matrix, not only in those of the node.
struct Column {
  bool dense{true};     ///< no row misses the feature
  bool constant{true};  ///< all values are equal
};

Column Look(Values const& values, std::size_t feature) {
  Column column;
  float first = kMissing;
  for (std::size_t r = 0; r < values.rows; ++r) {
    float const v = values(r, feature);
    if (std::isnan(v)) {
      column.dense = false;
    } else if (std::isnan(first)) {
      first = v;
    } else if (v != first) {
      column.constant = false;
    }
  }
  return column;
}

/// Returns the threshold that divides the values of `sorted` after the first `below`.
float Threshold(std::vector<float> const& sorted, std::size_t below) {
  constexpr float kEpsilon = 1e-6f;
  if (below == 0) return sorted.front() - (std::fabs(sorted.front()) + kEpsilon);
  if (below == sorted.size()) return sorted.back() + (std::fabs(sorted.back()) + kEpsilon);
  float const lower = sorted[below - 1], upper = sorted[below], middle = (lower + upper) * 0.5f;
  return lower < middle && middle <= upper ? middle : upper;  // else neighbouring floats, or an infinite sum
}

}  // namespace

std::vector<RowIndex> SortByValue(Values const& values, std::size_t feature, std::vector<RowIndex> rows) {
  std::vector<RowIndex> sorted;
  std::sort(rows.begin(), rows.end());
  for (RowIndex r : rows) {
    if (!std::isnan(values(r, feature))) sorted.push_back(r);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](RowIndex a, RowIndex b) { return values(a, feature) < values(b, feature); });
  return sorted;
}

ExactSplit FindExactSplit(Values const& values, FixedPoint const& gradients, TrainParams const& p,
                          std::vector<RowIndex> const& rows, std::vector<FeatureIndex> const& features, Bounds bounds) {
  ExactSplit best;
  for (FeatureIndex const f : features) {
    std::vector<float> sorted, own;
    for (RowIndex const r : SortByValue(values, f, rows)) sorted.push_back(values(r, f));
    for (RowIndex const r : rows) own.push_back(values(r, f));
    auto const attempt = [&](std::size_t below, bool default_left) {
      GradientSum left, right;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        bool const present_left = below == sorted.size() || own[i] < sorted[below];
        GradientSum& side = (std::isnan(own[i]) ? default_left : present_left) ? left : right;
        side.grad += gradients.rows[rows[i]].grad;
        side.hess += gradients.rows[rows[i]].hess;
      }
      float const gain = SplitGain(p, gradients, left, right, f, bounds, bounds);
      if (gain > best.gain) best = {gain, f, below, default_left, Threshold(sorted, below), left, right};
    };
    std::vector<std::size_t> between;  // places between two values that differ
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i] != sorted[i - 1]) between.push_back(i);
    }
    Column const column = Look(values, f);
    if (!column.dense && !column.constant) {
      for (std::size_t const below : between) attempt(below, false);
      attempt(sorted.size(), false);
    }
    std::reverse(between.begin(), between.end());
    for (std::size_t const below : between) attempt(below, true);
    if (!column.dense) attempt(0, true);
  }
  return best;
}

}  // namespace xgbgpu::reference
