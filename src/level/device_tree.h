/// A growing tree as the kernels of one level see it: what the host's LevelBuilder keeps in vectors lives on the
/// device, so that no level waits for the host. docs/adr/0006-cuda-kernels.md
#ifndef XGBGPU_LEVEL_DEVICE_TREE_H_
#define XGBGPU_LEVEL_DEVICE_TREE_H_

#include <cstdint>

#include "core/fixed_point.h"
#include "gradient/gradient_cuda.h"
#include "level/family.h"
#include "level/grow_order_ops.h"
#include "level/row_paths.h"
#include "matrix/device_matrix.h"
#include "objective/objective_cuda.h"
#include "sample/feature_ops.h"
#include "sample/feature_sets_cuda.h"
#include "sample/sample_cuda.h"
#include "split/category_sets.h"
#include "split/constraints_cuda.h"
#include "split/split.h"
#include "split/split_groups.h"
#include "tree/node.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// Rows of a node that are moved to its children, or, if it stays a leaf, whose positions are final.
struct MoveJob {
  NodeIndex node;
  std::int32_t family;  ///< or the complement of the node's number in the finished tree: it stays a leaf
  std::uint32_t first_item;
};

/// Rows of a node that are summed.
struct SumJob {
  NodeIndex node;
  std::int32_t slot;
  std::uint32_t first_unit;
};

/// Counts that one kernel leaves for the next.
struct LevelState {
  std::uint32_t rows;         ///< of the root
  GradientSum sum;            ///< over them
  std::uint32_t nodes;        ///< made so far
  std::uint32_t level_first;  ///< first node of the level whose splits were found last
  std::uint32_t leaves;
  std::uint32_t families;  ///< 0: the tree has ended
  std::uint32_t move_jobs;
  std::uint32_t move_items;
  std::uint32_t sum_jobs;
  std::uint32_t sum_units;
  std::uint32_t finished_blocks;
  std::uint32_t groups;      ///< paths: row groups
  std::uint32_t path_items;  ///< paths: pieces of kPathItemRows rows of all groups; 0: the tree has ended
  std::uint32_t no_room;     ///< paths: see RowPaths::next_wide
  std::uint32_t ordered;     ///< with an order: its nodes
  std::uint32_t free_slots;  ///< with an order
  int depth;                 ///< with an order: of children of the level whose splits were found last, if there are any
};

/// Loss-guided growth with an order (grow_order_ops.h).
struct GrowOrderView {
  OrderedNode* nodes;        ///< [most] nullptr: there is none
  std::uint32_t most;        ///< nodes that it keeps
  std::uint32_t* places;     ///< [nodes whose splits were found] in the order; kNoPlace: not any more, or never
  std::int32_t* free_slots;  ///< [slots] a stack of those that were in use and are not
};

/// Parameters of one tree, uploaded before it starts.
struct TreeSettings {
  SplitParams split;  ///< without units: the format is chosen on the device
  float min_split_loss;
  int max_depth;
  int max_leaves;
  float learning_rate;
  SampleDraw draw;  ///< its seed and tree are those of features, too
  FeatureCounts features;
};

/// Everything a kernel of the level needs. Arrays are on the device.
struct DeviceTree {
  DeviceMatrixView matrix;        ///< by paths, with rows sampled: of the sample, see PathGrowth
  GradientPair const* gradients;  ///< [rows], of a sample divided by the chances; not in use by paths of a sample
  GradientState* gradient;
  TreeSettings const* settings;
  LevelState* state;
  Node* nodes;
  Family* families;
  MoveJob* move_jobs;
  SumJob* sum_jobs;
  RowRecord* lists[2];       ///< [rows]
  NodeIndex* positions;      ///< [rows]
  GradientSum* histograms;   ///< [slots, cells]
  SplitGroup const* groups;  ///< [group_count]
  std::uint32_t group_count;
  WarpGroup const* warp_groups;  ///< [warp_group_count] looked at instead of groups, if there are any
  std::uint32_t warp_group_count;
  SplitCandidate* candidates;   ///< [children of the families, group_count]
  FeatureSetsView features;     ///< that nodes may be split by
  NodeLimitsView limits;        ///< what constraints leave to each node
  std::uint32_t unit_rows;      ///< rows of one unit of the histogram kernel
  std::uint32_t item_rows;      ///< rows of one item of the partition, a multiple of 32, at most 1024
  DeviceCategories categories;  ///< of the splits
  RowPaths paths;               ///< instead of lists and jobs, if the tree is grown by paths
  GrowOrderView order;
};

/// Who chooses the splits of the next level: the host, or one block: the last of the split kernel, or, with an order,
/// that of a kernel after it.
enum class NextLevel { kByHost, kLists, kPaths };

#if defined(__CUDACC__)
/// Number of the last job whose `first` is not above `item`; first(0) is 0. As RangeOf, where all lanes of a warp ask
/// for one item: an access for every 32-fold of jobs, instead of every doubling.
template <typename First>
__device__ std::uint32_t FindJobByWarp(std::uint32_t jobs, std::uint32_t item, First&& first) {
  std::uint32_t low = 0, high = jobs;  // first(low) <= item < first(high)
  while (high - low > 1) {
    std::uint32_t const step = (high - low + 31) / 32, job = low + threadIdx.x % 32 * step;
    bool const up_to = job < high && first(job) <= item;
    low += (31 - __clz(static_cast<int>(__ballot_sync(0xFFFFFFFFU, up_to)))) * step;
    high = min(low + step, high);
  }
  return low;
}
#endif

/// In a final level the children are not evaluated: rows get their positions and are not moved.
enum class LevelKind { kInner, kFinal };

/// What one level is made of, for launchers: upper bounds that the host knows without asking the device.
struct LevelBounds {
  std::uint64_t families;
  std::uint32_t symbols;  ///< of the largest tile
  bool keeps{true};       ///< a level may follow, whose siblings are told by subtraction from this one's histograms
};

/// A header of whole 16-byte pieces with nodes after it, and room for one node more than there can be.
struct TreeMemory {
  std::uint8_t* data;
  std::uint32_t header_bytes;
};
/// Before a tree: its settings come `from` pinned memory of the host, the header and the root's histogram are cleared.
/// (level/tree_ends.cu)
void BeginTree(TreeSettings const* from, TreeSettings* settings, TreeMemory const& memory, GradientSum* histogram,
               std::uint64_t cells, DeviceLimits const& limits, cudaStream_t stream);
/// After it: the header, and as many nodes as the state says, at most `most_nodes`, go `to` pinned memory; to
/// `leaf_values`, [most_nodes] on the device or nullptr, what each adds to its rows if it is a leaf.
void ReturnTree(DeviceTree const& tree, TreeMemory const& memory, NodeIndex most_nodes, float* leaf_values,
                std::uint8_t* to, DeviceLimits const& limits, cudaStream_t stream);
/// Where nodes get their numbers in the tree, if there is an order; those that are not asked for are nullptr.
struct TreeNumbers {
  WalkNode* walk;              ///< [most_nodes] by paths: the tree, for walks
  NodeIndex* start_nodes;      ///< [starts] by paths, if rows are moved: the tree's node at or above …
  NodeIndex const* starts_of;  ///< … each of these
  std::uint32_t starts;
  NodeIndex* leaf_of_node;  ///< [nodes] by lists: the tree's node at or above each node
};
/// The same for a tree with an order: of its nodes those that are in the tree, in the tree's numbers. The tree may grow
/// on after that.
void ReturnOrderedTree(DeviceTree const& tree, TreeMemory const& memory, TreeNumbers const& numbers,
                       NodeIndex most_nodes, float* leaf_values, std::uint8_t* to, DeviceLimits const& limits,
                       cudaStream_t stream);

// The kernels of a level, in this order. Each is enqueued once for all nodes; none waits for the host.

/// All rows with their gradients to list 0; their sum; the root, with histogram slot 0. (level/list_rows_cuda.cu)
void ListRootRows(DeviceTree const& tree, DeviceLimits const& limits, cudaStream_t stream);
/// The same for the rows of a sample, which were drawn into list 0.
void ListSampledRows(DeviceTree const& tree, SampleView const& sample, DeviceLimits const& limits, cudaStream_t stream);
/// Children and move jobs of the first `families` families, where the host has chosen them. (level/prepare_families.cu)
void PrepareFamilies(DeviceTree const& tree, std::uint32_t families, cudaStream_t stream);
/// Rows to children, or positions; the last block plans the sums. (partition/partition_cuda.cu)
void MoveRows(DeviceTree const& tree, LevelBounds const& bounds, LevelKind kind, DeviceLimits const& limits,
              cudaStream_t stream);
/// Histograms of all sum jobs; their slots are zero before. (histogram/histogram_cuda.cu)
void SumRows(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);
/// FeatureSetsView::of_nodes, which are there, of the children of all families, as FeatureSampler::Node tells them; their numbers
/// are those of the finished tree. (sample/feature_sample_cuda.cu)
void ChooseFeatures(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);
/// Siblings by subtraction, best split of every child; the next level's splits, unless the host chooses them. First the
/// features of every child, if they are sampled by level or node. (split/split_cuda.cu)
void FindSplits(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, PathStep step,
                DeviceLimits const& limits, cudaStream_t stream);
/// The next level's splits, where there is an order. (level/grow_order_cuda.cu)
void SelectOrdered(DeviceTree const& tree, NextLevel next, PathStep step, DeviceLimits const& limits,
                   cudaStream_t stream);

// The same by paths.

/// Gradients of all rows, of which there are kNarrowMinRows at least, from losses whose room is tree.gradients: early
/// ones and their format, or, if that was not foreseen, pairs. RowPaths::next_path is cleared, if there is one.
/// (level/quantise_losses_cuda.cu)
void QuantiseLosses(DeviceTree const& tree, RowLosses const& losses, EarlyGradients const& early,
                    DeviceLimits const& limits, cudaStream_t stream);
/// Gradients in the order of rows, to `narrow` if that is the format, unless they are there; their sum, the root, its
/// group and sum job; the maxima, for the next tree; RowPaths::next_path is cleared, if there is one.
/// (level/quantise_rows_cuda.cu)
void StartPaths(DeviceTree const& tree, EarlyGradients const& early, NarrowGradient* narrow, DeviceLimits const& limits,
                cudaStream_t stream);
/// The same for a sample, in its order. (level/quantise_rows_cuda.cu)
void StartSampledPaths(DeviceTree const& tree, SampleView const& sample, NarrowGradient* narrow,
                       DeviceLimits const& limits, cudaStream_t stream);
/// Paths of the rows at this level; the slots that it sums are cleared, unless they are.
void AdvancePaths(DeviceTree const& tree, LevelBounds const& bounds, PathStep step, DeviceLimits const& limits,
                  cudaStream_t stream);
/// Live rows into the order of this level's nodes, which become groups. The slots that it sums are cleared, unless they
/// are.
void MovePaths(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);
/// Are a tile's sums made in shared memory? Paths need that. (histogram/histogram_cuda.cu)
bool SumsFitShared(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);
/// Clears the slots that this level sums, if no kernel before did.
void ClearSums(DeviceTree const& tree, LevelBounds const& bounds, DeviceLimits const& limits, cudaStream_t stream);
/// Histograms of all path jobs.
void SumPaths(DeviceTree const& tree, LevelBounds const& bounds, PathSums sums, DeviceLimits const& limits,
              cudaStream_t stream);
/// May sums be kPairs?
bool PairsFitShared(DeviceMatrixView const& matrix, std::uint32_t symbols, DeviceLimits const& limits);
/// Is a row's step from node to node so short that it is not worth while to note where the first move brings it?
inline bool WalksInBytes(DeviceMatrixView const& matrix, bool categories) {
  return matrix.tiles == 1 && matrix.symbol_bytes == 1 && !categories;
}
/// A tree that was grown by paths. Rows walk if it is finished.
struct WalkTree {
  WalkNode const* nodes;
  Node const* made;              ///< the nodes as they were made, level by level: the same ones, without an order
  LevelState const* state;       ///< knows their number
  bool ordered;                  ///< is there an order?
  bool may_go_on;                ///< may further levels be enqueued?
  DeviceCategories categories;   ///< of their splits
  std::uint8_t const* start;     ///< see RowPaths; nullptr: rows walk from the root
  NodeIndex const* start_nodes;  ///< in the tree

  XGBGPU_HD bool finished() const { return !may_go_on || state->families == 0; }
  XGBGPU_HD NodeIndex size() const { return static_cast<NodeIndex>(ordered ? 2 * state->ordered + 1 : state->nodes); }
  /// None of the first `n` nodes is deeper.
  XGBGPU_HD int DepthOfFirst(NodeIndex n) const { return ordered ? state->depth : made[n - 1].depth; }
};
/// After it, for all rows of the matrix: to[row · stride] = from[row · stride] + node_values[leaf]. `from` may be `to`.
/// (level/walk_rows_cuda.cu)
void AddLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, float const* node_values, float const* from,
                    float* to, std::size_t stride, DeviceLimits const& limits, cudaStream_t stream);
/// The same: positions[row] = leaf.
void WriteLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                      DeviceLimits const& limits, cudaStream_t stream);
/// The same, complements outside the sample.
void FindSampledLeaves(DeviceMatrixView const& matrix, WalkTree const& tree, SampleView const& sample,
                       NodeIndex* positions, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_LEVEL_DEVICE_TREE_H_
