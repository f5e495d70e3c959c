/// Categories that ways from the root of a tree let pass. Host code.
#ifndef XGBGPU_PREDICT_PATH_SETS_H_
#define XGBGPU_PREDICT_PATH_SETS_H_

#include <cstdint>
#include <vector>

#include "predict/contributions_ops.h"
#include "predict/forest_ops.h"

namespace xgbgpu {

/// For each place of a tree whose parent splits on categories, a set is put behind those in `words`: of the categories
/// that all such tests of this feature, from the root to the place, let pass. All paths through the place share it.
///
/// In      nodes    parents before their children; `sets` are theirs
///         parents  [nodes]
/// Out     [nodes] number of the set of a place; kNoElementSet where there is none
/// Cost    depth of the place; words of the sets
std::vector<std::uint64_t> AddPathSets(std::vector<ForestNode> const& nodes, std::vector<std::uint32_t> const& parents,
                                       PackedSets const& sets, std::vector<std::uint32_t>* words);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PATH_SETS_H_
