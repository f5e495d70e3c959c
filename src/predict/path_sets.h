/// Sets of categories that the paths from the root of a tree accept. Host code.
#ifndef XGBGPU_PREDICT_PATH_SETS_H_
#define XGBGPU_PREDICT_PATH_SETS_H_

#include <cstdint>
#include <vector>

#include "predict/contributions_ops.h"
#include "predict/forest_ops.h"

namespace xgbgpu {

/// The place of a tree's root.
constexpr std::uint32_t kRootPlace = 0;

/// Appends a set to `words` for each place of a tree whose parent splits by categories: the categories that all tests
/// of the feature, from the root to the place, accept. All paths through the place share it.
///
/// In      nodes    parents before their children; `sets` belong to the nodes
///         parents  [nodes]
/// Out     [nodes] number of each place's set, or kNoElementSet
/// Cost    depth of the place; words of the sets
std::vector<std::uint64_t> AddPathSets(std::vector<ForestNode> const& nodes, std::vector<std::uint32_t> const& parents,
                                       PackedSets const& sets, std::vector<std::uint32_t>* words);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PATH_SETS_H_
