/// Cuts of one matrix for the rows of another.
#ifndef XGBGPU_QUANTILE_FIT_CUTS_H_
#define XGBGPU_QUANTILE_FIT_CUTS_H_

#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Makes cuts of other data fit `source`: all stay, min_values become low enough for its values, and a categorical
/// feature gets bins for its new categories.
///
/// Cost    a pass over the values by `threads` threads
/// Throws  InvalidArgument (other features, or other ones are categorical; an infinite value; a category out of range)
Cuts FitCuts(Cuts const& cuts, RowSource const& source, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_FIT_CUTS_H_
