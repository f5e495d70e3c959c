/// Per-value maths of the matrix stage.
#ifndef XGBGPU_MATRIX_MATRIX_OPS_H_
#define XGBGPU_MATRIX_MATRIX_OPS_H_

#include "base/hd.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns the feature-local bin of a value: the number of upper ends that are <= value, at most n - 1.
/// `ends` are the n ascending upper ends of the feature's bins. No branch depends on the data.
XGBGPU_HD BinIndex LocalBin(float const* ends, BinIndex n, float value) {
  BinIndex base = 0;
  BinIndex size = n - 1;  // the last end is not needed: larger values belong to the last bin, too
  while (size > 0) {
    BinIndex const half = (size + 1) / 2;
    base = ends[base + half - 1] <= value ? base + half : base;
    size -= half;
  }
  return base;
}

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_MATRIX_OPS_H_
