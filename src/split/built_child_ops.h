/// Chooses the built child. The histogram of its sibling is the difference to the parent's.
#ifndef XGBGPU_SPLIT_BUILT_CHILD_OPS_H_
#define XGBGPU_SPLIT_BUILT_CHILD_OPS_H_

#include "base/hd.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Returns true if the rows of the left child are summed. The child with the smaller hessian sum nearly always has
/// fewer rows. The sibling's histogram is the parent's less this child's. Hessian sums are known with the split and
/// equal on all devices, unlike numbers of rows. The choice decides on work, never on a bit of the tree.
XGBGPU_HD bool LeftIsBuilt(GradientSum left, GradientSum right) { return left.hess <= right.hess; }

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_BUILT_CHILD_OPS_H_
