/// Cuts of categorical features in stage 1: a bin for each category, independent of max_bin.
#ifndef XGBGPU_QUANTILE_CATEGORIES_H_
#define XGBGPU_QUANTILE_CATEGORIES_H_

#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Gives each categorical feature of the source one bin for each category from 0 to the largest, or one bin if it has
/// no values. Numbers are truncated to categories as in XGBoost: 2.9 is category 2.
///
/// In      source  one shard's rows; all shards have the same categorical features
/// Cost    reads the source once if it has a categorical feature
/// Throws  InvalidArgument: a category is negative or 65,535 and larger (row, feature and value are named)
void SetCategoryCuts(RowSource const& source, int threads, Collective& collective, Cuts* cuts);
inline void SetCategoryCuts(RowSource const& source, int threads, Cuts* cuts) {
  SetCategoryCuts(source, threads, NoOtherShards(), cuts);
}

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_CATEGORIES_H_
