/// Extends cuts for rows that they were not made of.
#ifndef XGBGPU_QUANTILE_FIT_CUTS_H_
#define XGBGPU_QUANTILE_FIT_CUTS_H_

#include <vector>

#include "quantile/feature_cuts.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Returns `cuts`, extended to `source`: min_values decrease to its values, the last cut of a feature rises above them,
/// all others stay, and a categorical feature gets bins for new categories. Without the rise, a split between present
/// and missing values would send larger values to the missing ones.
///
/// Cost    a pass over the values by `threads` threads
/// Throws  InvalidArgument (other features, or other categorical features; an infinite value; a category out of range)
Cuts FitCuts(Cuts const& cuts, RowSource const& source, int threads);

/// Joins the cuts of all features. The search has skipped rows of weight 0: `features` are extended to their categories
/// and extreme values, as FitCuts extends them to all rows. Gradients may depend on a row of weight 0, and a training
/// must send each row where the model sends it.
///
/// In      source   one shard's rows; all shards make the call at the same time, and get equal cuts
///         weights  [rows], or empty: no row has the weight 0
/// Cost    a pass over the rows of weight 0, and SetCategoryCuts; a message, and two more if a row has the weight 0
/// Throws  as SetCategoryCuts; InvalidArgument (an infinite value)
Cuts CutsOfAllRows(std::vector<FeatureCuts> const& features, RowSource const& source, Span<float const> weights,
                   int threads, Collective& collective);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_FIT_CUTS_H_
