/// Which trees are device-driven, and how large they may become.
#ifndef XGBGPU_GROWTH_CHOOSE_SHAPE_H_
#define XGBGPU_GROWTH_CHOOSE_SHAPE_H_

#include <algorithm>
#include <cstdint>

#include "growth/growth_policy.h"
#include "partition/partition_policy.h"
#include "tree/tree_shape.h"
#include "xgbgpu/params.h"

namespace xgbgpu {

static_assert(GrowthPolicy{}.most_levels <= PartitionPolicy{}.most_path_levels &&
              GrowthPolicy{}.most_open_levels <= PartitionPolicy{}.most_path_levels);

/// Returns the shape of open trees of `leaves` leaves at most.
inline TreeShape ShapeOfOpen(TrainParams const& params, int leaves, GrowthPolicy const& policy) {
  TreeShape shape;
  shape.open = true;
  shape.possible_levels = std::max(1, leaves - 1);  // a split on each
  if (params.max_depth != 0) shape.possible_levels = std::min(shape.possible_levels, params.max_depth);
  shape.levels = std::min(shape.possible_levels, policy.most_open_levels);
  shape.cut = shape.ordered = params.grow_policy == GrowPolicy::kLossGuide;
  shape.most_splits = static_cast<std::uint32_t>(leaves - 1);
  // If a node is split, so are the nodes above it, and m nodes of one level have at least m - 1 above them. Hence at
  // most leaves / 2 nodes of a level are split; this is rounded up, so that there are histograms for all leaves.
  shape.most_split = (static_cast<std::uint64_t>(leaves) + 1) / 2;
  return shape;
}

/// Returns the shape of symmetric trees. All levels are made; weak levels at the end are cut off.
inline TreeShape ShapeOfSymmetric(TrainParams const& params, std::uint64_t rows) {
  TreeShape shape;
  shape.levels = shape.possible_levels = params.SymmetricDepth();
  // A node that is split has a row. A node without rows stays a leaf, and its histogram is not used again.
  shape.most_split = std::max<std::uint64_t>(1, rows) * static_cast<std::uint64_t>(std::max(1, shape.levels));
  shape.cut = params.min_split_loss > 0;
  return shape;
}

/// Returns the shape of trees on a matrix of `rows` rows. Every leaf has a row. Does not check their memory.
inline TreeShape ShapeOf(TrainParams const& params, std::uint64_t rows) {
  GrowthPolicy const policy;
  if (params.grow_policy == GrowPolicy::kSymmetric) return ShapeOfSymmetric(params, rows);
  auto const most = static_cast<std::uint64_t>(params.max_leaves);
  int const leaves = static_cast<int>(std::min(most, std::max<std::uint64_t>(1, rows)));  // 0: there is no limit
  bool const loss_guided = params.grow_policy == GrowPolicy::kLossGuide;
  // The features of a node depend on its number in the tree. A new node has no such number yet.
  if (loss_guided && params.colsample_bynode < 1.0f) return {};
  bool const limited = params.max_depth != 0 && params.max_depth <= policy.most_levels;
  double const full = limited ? static_cast<double>(1 << params.max_depth) : 0;  // leaves
  bool const few = leaves != 0 && (!limited || 2.0 * leaves <= full);
  if (few && (!loss_guided || leaves <= policy.most_ordered_leaves)) return ShapeOfOpen(params, leaves, policy);
  if (!limited) return {};
  if (loss_guided && leaves != 0 && leaves < policy.cut_part * full) return {};
  TreeShape shape;
  shape.levels = shape.possible_levels = params.max_depth;
  shape.cut = loss_guided;
  return shape;
}

}  // namespace xgbgpu

#endif  // XGBGPU_GROWTH_CHOOSE_SHAPE_H_
