/// Growth on a CUDA device: which nodes are split next, their children, and the ends of a tree. Every plan is made by
/// one block between two levels, so that no level waits for the host.
#ifndef XGBGPU_GROWTH_PLAN_CUDA_H_
#define XGBGPU_GROWTH_PLAN_CUDA_H_

#include <cstdint>

#include "base/hd.h"
#include "cuda/device.h"
#include "growth/grow_order_ops.h"
#include "growth/tree_settings.h"
#include "partition/partition_cuda.h"
#include "split/level_search_cuda.h"
#include "split/split_cuda.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// The chooser of the next level's splits: the host, or one block. The block is the last of the split kernel. With an
/// order, or if each device searches a share of the features, it is the block of a later kernel.
enum class NextLevel { kByHost, kLists, kPaths };

/// Loss-guided growth with an order (grow_order_ops.h). Arrays are on the device.
struct GrowOrderView {
  OrderedNode* nodes;        ///< [most]; nullptr: the tree has no order
  std::uint32_t most;        ///< nodes that the order keeps
  std::uint32_t* places;     ///< [nodes whose splits were found] in the order; kNoPlace: not any more, or never
  std::int32_t* free_slots;  ///< [slots] a stack of slots that are free again
};

/// The data of a plan of the next level, beside SplitView. Arrays are on the device.
struct GrowthView {
  TreeSettings const* settings;
  bool reduces;    ///< the plan itself finds the best of each node's candidates: SplitWorkspace::PlanReduces
  RowLists lists;  ///< rows in lists: the plan makes their move jobs
  RowPaths paths;  ///< rows by paths: the plan makes their rules and jobs
  GrowOrderView order;
  LevelNode const* level_nodes;  ///< [nodes] of a symmetric tree, with their weights; else nullptr
};

/// The plan of the next level that a call makes, behind the splits of this level.
struct NextPlan {
  GrowthView growth;
  NextLevel next;
  PathStep step;
};

/// SplitView and GrowthView together, for device code: references to the arguments of a kernel. Every byte of arguments
/// delays a kernel.
struct PlanView {
  GrowingTree const& tree;
  GradientState const* gradient;
  SplitCandidate const* candidates;
  std::uint32_t group_count;
  NodeLimitsView const& limits;
  DeviceMatrixView const& matrix;
  TreeSettings const* settings;
  bool reduces;
  RowLists const& lists;
  RowPaths const& paths;
  GrowOrderView const& order;
};
XGBGPU_HD PlanView PlanOf(SplitView const& view, GrowthView const& own) {
  return {view.tree,    view.gradient, view.candidates, view.group_count, view.limits, view.matrix,
          own.settings, own.reduces,   own.lists,       own.paths,        own.order};
}

/// Enqueues split.Find with growth.Plan behind it. First chooses the features of every child, if they are sampled by
/// level or node. Then makes siblings by subtraction, and finds the best split of every child. The last block of this
/// kernel plans the next level, unless the host or a later kernel plans it. (find_and_plan_cuda.cu)
void FindSplits(SplitView const& view, NextPlan const& plan, LevelBounds const& bounds, DeviceLimits const& limits,
                cudaStream_t stream);
/// growth.Plan of a symmetric tree, behind FindLevelSplit: divides all nodes of the level that have a hessian by its
/// split, and the last block plans the next level. If no split is good enough, no node is divided. In nodes[n].split
/// the gain says only whether node n is divided. Enqueued. (divide_level_cuda.cu)
void DivideLevel(SplitView const& view, LevelSearchView const& search, NextPlan const& plan, LevelBounds const& bounds,
                 DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues the plan of the next level by a kernel of one block, if there is no order; else it does nothing. For splits
/// that FindSplits has found kByHost and that are known for certain only later. plan.growth.reduces must be false.
/// (plan_level_cuda.cu)
void PlanLevel(SplitView const& view, NextPlan const& plan, DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues the plan of the next level if there is an order; else it does nothing. (grow_order_cuda.cu)
void PlanOrdered(SplitView const& view, NextPlan const& plan, DeviceLimits const& limits, cudaStream_t stream);
/// Enqueues the making of the children and move jobs of the first `families` families, which the host has chosen.
/// (prepare_families_cuda.cu)
void PrepareFamilies(SplitView const& view, GrowthView const& growth, std::uint32_t families, cudaStream_t stream);

// The ends of a tree. (tree_ends_cuda.cu)

/// A header of whole 16-byte pieces with nodes after it, and room for one node more than there can be.
struct TreeBytes {
  std::uint8_t* data;
  std::uint32_t header_bytes;
};
/// The state at the start of a tree. Arrays are on the device, except `from`.
struct TreeStart {
  TreeSettings const* from;  ///< in pinned memory of the host
  TreeSettings* settings;    ///< overwritten with the settings of the tree
  TreeBytes memory;          ///< its header is cleared
  GradientSum* histogram;    ///< [cells] is cleared
  std::uint64_t cells;
};
/// Enqueues the start of a tree.
void BeginTree(TreeStart const& start, DeviceLimits const& limits, cudaStream_t stream);

/// The way of a tree back to the host.
struct TreeReturn {
  TreeBytes from;
  NodeIndex most_nodes;  ///< nodes that are returned at most
  float* leaf_values;    ///< [most_nodes] on the device: value that each node adds to its rows as a leaf; or nullptr
  std::uint8_t* to;      ///< pinned memory of the host
};
/// Enqueues the return of the header and of the nodes that the state counts.
void ReturnTree(SplitView const& view, GrowthView const& growth, TreeReturn const& way, DeviceLimits const& limits,
                cudaStream_t stream);
/// Where nodes get their numbers in the tree, if there is an order. A null array is not written.
struct TreeNumbers {
  PathNumbers paths;        ///< by paths
  NodeIndex* leaf_of_node;  ///< [nodes] by lists: the tree's node at or above each node
};
/// ReturnTree for a tree with an order: returns the nodes that are in the tree, under their numbers in the tree. The
/// tree may grow on after that.
void ReturnOrderedTree(SplitView const& view, GrowthView const& growth, TreeNumbers const& numbers,
                       TreeReturn const& way, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_PLAN_CUDA_H_
