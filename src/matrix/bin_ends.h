/// The number that stands for the values of a bin when a quantised matrix is read back.
#ifndef XGBGPU_MATRIX_BIN_ENDS_H_
#define XGBGPU_MATRIX_BIN_ENDS_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Lower ends of bins. An end lies in its bin: in the first bin of a feature it is a number just above min_value, for a
/// categorical feature the category itself. The cuts must outlive it.
class BinEnds {
 public:
  explicit BinEnds(Cuts const& cuts) : cuts_{cuts}, lower_(cuts.values.size()) {
    for (FeatureIndex f = 0; f < cuts.features(); ++f) {
      for (BinIndex b = 0; b < cuts.bins(f); ++b) lower_[cuts.ptr[f] + b] = LowerEnd(f, b);
    }
  }
  Entry At(FeatureIndex feature, BinIndex bin) const { return {feature, lower_[cuts_.ptr[feature] + bin]}; }
  /// Returns the entry of a cell. `cell` counts the bins of all features; its feature is `from` or a later one.
  Entry AtCell(std::uint64_t cell, FeatureIndex from) const {
    while (cuts_.ptr[from + 1] <= cell) ++from;
    return {from, lower_[cell]};
  }

 private:
  float LowerEnd(FeatureIndex f, BinIndex bin) const {
    if (cuts_.IsCategorical(f)) return static_cast<float>(bin);
    if (bin != 0) return cuts_.values[cuts_.ptr[f] + bin - 1];
    float const below = cuts_.min_values[f], above = std::nextafter(below, std::numeric_limits<float>::max());
    return above < cuts_.values[cuts_.ptr[f]] ? above : below;
  }

  Cuts const& cuts_;
  std::vector<float> lower_;  ///< [bins]
};

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_BIN_ENDS_H_
