/// Whose histogram is summed, and whose is what the parent's leaves.
#ifndef XGBGPU_SPLIT_BUILT_CHILD_OPS_H_
#define XGBGPU_SPLIT_BUILT_CHILD_OPS_H_

#include "base/hd.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Is the left child of a split the one whose rows are summed? That is the child with the smaller sum of hessians,
/// which nearly always has fewer rows too; the other's histogram is the parent's less this one. Sums of hessians are
/// known with the split, and are the same wherever the rows lie; numbers of rows are neither. The answer decides what
/// is summed, never a bit of the tree.
XGBGPU_HD bool LeftIsBuilt(GradientSum left, GradientSum right) { return left.hess <= right.hess; }

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_BUILT_CHILD_OPS_H_
