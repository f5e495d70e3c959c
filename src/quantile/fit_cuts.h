/// Extends the cuts of one matrix for the rows of another.
#ifndef XGBGPU_QUANTILE_FIT_CUTS_H_
#define XGBGPU_QUANTILE_FIT_CUTS_H_

#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Returns `cuts`, extended to `source`: min_values decrease to its values, the last cut of a feature rises above them,
/// all others stay, and a categorical feature gets bins for new categories. Without the rise, a split between present
/// and missing values would send larger values to the missing ones.
///
/// Cost    a pass over the values by `threads` threads
/// Throws  InvalidArgument (other features, or other categorical features; an infinite value; a category out of range)
Cuts FitCuts(Cuts const& cuts, RowSource const& source, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_FIT_CUTS_H_
