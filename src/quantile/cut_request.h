/// The cuts that a caller wants.
#ifndef XGBGPU_QUANTILE_CUT_REQUEST_H_
#define XGBGPU_QUANTILE_CUT_REQUEST_H_

#include "xgbgpu/span.h"

namespace xgbgpu {

/// Quantiles as cuts (host::ComputeCuts), or every distinct value (host::CutsFromBinEdges).
struct CutRequest {
  int max_bin;                ///< most bins of a column; 0: every distinct value is the lower end of a bin
  Span<float const> weights;  ///< [rows] or empty
};

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_CUT_REQUEST_H_
