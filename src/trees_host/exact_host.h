/// Exact trees on the host.
#ifndef XGBGPU_TREES_HOST_EXACT_HOST_H_
#define XGBGPU_TREES_HOST_EXACT_HOST_H_

#include <memory>

#include "backend/tree_builder.h"
#include "exact/sorted_matrix.h"

namespace xgbgpu {

/// Makes a builder of exact trees (exact/exact.h). Grow throws Unsupported as ValidateExact.
std::unique_ptr<TreeBuilder> MakeHostExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_HOST_EXACT_HOST_H_
