/// Exact trees on a CUDA device: the kernels of a level, and their data. CUDA builds only.
///
/// A column's entries are kept node after node, in the order of their values: a *list*. A level reads every list twice:
/// once for the best split of every node and feature, once to divide the lists of nodes among those of their children,
/// stably, so that nothing is ever sorted again. An entry is a row and one bit, "another value than the entry before
/// it": that bit is all that a scan has to know of values. docs/adr/0014-exact-trees.md
#ifndef XGBGPU_EXACT_EXACT_CUDA_H_
#define XGBGPU_EXACT_EXACT_CUDA_H_

#include <cstdint>

#include "core/device.h"
#include "core/random.h"
#include "gradient/gradient_cuda.h"
#include "split/constraint_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kNewValue = 0x80000000U;  ///< the bit of an entry; the rest is the row
constexpr std::uint64_t kMostExactRows = kNewValue;

constexpr int kExactThreads = 256;
constexpr int kExactItems = 8;
constexpr int kTileEntries = kExactThreads * kExactItems;  ///< entries of a column that one block takes

/// A tile of a column. Tiles are taken in this order: first those that begin columns.
struct ExactTile {
  FeatureIndex feature;
  std::uint32_t index;  ///< inside the column
  std::uint32_t place;  ///< over all columns, column after column
};

/// What columns are, which no tree changes. Arrays are on the device.
struct ExactColumns {
  std::uint64_t rows;
  FeatureIndex features;
  std::uint64_t const* column_ptr;  ///< [features + 1]
  std::uint32_t const* entries;     ///< [column_ptr[features]], column after column
  std::uint8_t const* is_dense;     ///< [features] no row misses it: values are scanned from above only
  std::uint8_t const* ascends;      ///< [features] missing values are tried on the right, too
  std::uint8_t const* used;         ///< [features] the tree may split by it
  FeatureIndex const*
      counts_as;  ///< [features] a feature that has as many entries in every node: of all dense ones the first
  ExactTile const* tiles;
  std::uint32_t tile_count;
};

/// The lists of one level. Nodes are numbered inside the level.
struct ExactLists {
  std::uint32_t const* entries;
  std::uint64_t const* begin;  ///< [features, nodes + 1] where each node's entries begin in `entries`
  std::uint32_t nodes;
};

/// Sums that tiles tell those after them: of a column's last node in the tile, so far.
struct TileStates {
  std::uint32_t* ticket;  ///< zero before the kernel
  std::uint32_t*
      status;  ///< [tiles] 2 · epoch + 1: the sum of the tile alone is there; + 2: that with all before it, too
  std::int64_t* grad;   ///< [tiles, 2]: alone, and with all before it
  std::int64_t* hess;   ///< [tiles, 2]
  std::uint32_t epoch;  ///< another for every kernel: nothing has to be cleared
};

/// Gradients of rows: one of the two.
struct ExactGradients {
  int2 const* compact;      ///< [rows]
  GradientSum const* wide;  ///< [rows]
};

/// The nodes of a level whose splits are looked for.
struct ExactLevel {
  ExactLists lists;
  GradientSum const* totals;      ///< [nodes]
  NodeTerms const* terms;         ///< [nodes]
  std::int8_t const* directions;  ///< [features] of monotone constraints, or nullptr: there are none
  GradientSum* present;           ///< [features, nodes] of rows that have the feature; for features that some miss
  unsigned long long* best;       ///< [features, nodes] zero before
  std::uint32_t const* allowed;   ///< [nodes, words] bit sets of features, or nullptr: all that are used
};

/// The best split of a node, as entries tell it.
struct ExactChoice {
  float gain;  ///< 0: none
  FeatureIndex feature;
  std::uint32_t index;    ///< entries of the node's list that go left, but those missing
  std::uint32_t entries;  ///< of the node's list
  std::uint64_t begin;    ///< of the list
  GradientSum present;
  std::uint32_t default_left;
};

/// A node that is split.
struct ExactSplit {
  std::uint64_t begin;
  std::uint32_t index;
  std::uint32_t entries;
  std::uint32_t default_left;
  std::uint32_t first_piece;  ///< pieces of kPieceEntries entries, over all splits
};
constexpr std::uint32_t kPieceEntries = 512;

/// What comes of a split.
struct ExactOutcome {
  GradientSum below;  ///< over the first `index` entries
  RowIndex lower;     ///< rows of the entries before and at `index`, if there are
  RowIndex upper;
};

/// Where rows go at one level.
enum class Side : std::uint8_t { kNone = 0, kLeft = 1, kRight = 2 };

// Each enqueues; none waits.

/// Gradients as integers, to the array that is not null; the sum over the sample. Rows outside the sample, if there is
/// one, are at ~0, the rest at 0, and `sides` tells kLeft for those inside (it may be null without a sample).
void QuantiseExact(GradientPair const* gradients, std::uint64_t rows, double grad_scale, double hess_scale,
                   RandomStream const& sample, std::uint64_t threshold, bool sampled, int2* compact, GradientSum* wide,
                   NodeIndex* positions, Side* sides, GradientSum* sum, DeviceLimits const& limits,
                   cudaStream_t stream);

/// level.present of the features that some row misses; zero before.
void SumPresent(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                cudaStream_t stream);
/// level.best.
void FindExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                     SplitParams const& params, TileStates const& states, cudaStream_t stream);
/// Of all features the best one of each node.
void ChooseExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactChoice* choices, cudaStream_t stream);

/// Sides of all rows: of those in nodes `first` … first + nodes - 1 that are split (split_of[node - first] >= 0) by
/// their entries, or by default; kNone for the rest. outcomes[splits], zero before.
void MarkSides(ExactLists const& lists, ExactSplit const* splits, std::uint32_t split_count, std::uint32_t pieces,
               std::int32_t const* split_of, NodeIndex first, NodeIndex const* positions, std::uint64_t rows,
               ExactGradients const& gradients, Side* sides, ExactOutcome* outcomes, DeviceLimits const& limits,
               cudaStream_t stream);
/// Rows whose side is not kNone to node left_child + 2 · (number of their split), or one more on the right.
void MoveExactRows(std::int32_t const* split_of, std::uint32_t nodes, NodeIndex first, NodeIndex left_child,
                   Side const* sides, NodeIndex* positions, std::uint64_t rows, DeviceLimits const& limits,
                   cudaStream_t stream);

/// How the next level's lists come from this one's. split_nodes[s] is the level's number of the s-th node that is
/// split. Its children get the numbers 2s and 2s + 1; with `left_only` the left one s, and rows on the right are
/// dropped.
struct ExactPartition {
  ExactLists from;
  std::int32_t const* split_of;      ///< [from.nodes]
  std::uint32_t const* split_nodes;  ///< [splits]
  std::uint32_t splits;
  bool left_only;
  Side const* sides;            ///< [rows]
  std::uint32_t* left_entries;  ///< [features, from.nodes], zero before
  std::uint64_t* begin;         ///< [features, children + 1], written
  std::uint32_t* entries;       ///< written
  std::uint32_t children;       ///< of all splits
};
void PartitionLists(ExactColumns const& columns, ExactPartition const& partition, TileStates const& states,
                    cudaStream_t stream);

/// Where the columns name a row: places[i] is the entry of rows[i], ascending for each feature f from row_ptr[f] to
/// row_ptr[f + 1]. marks: [rows] of the matrix, changed.
void LocateRows(ExactColumns const& columns, std::uint32_t const* row_ptr, RowIndex const* rows, std::uint32_t count,
                std::uint8_t* marks, std::uint64_t* places, DeviceLimits const& limits, cudaStream_t stream);

/// A node of the finished tree, for rows that did not grow it.
struct ExactStep {
  NodeIndex parent;
  NodeIndex left;
  FeatureIndex feature;
  std::int32_t depth;
  std::uint64_t place;  ///< entries of the column before this one go left
  std::uint32_t default_left;
};
/// Rows at ~n, n a node of `depth`, to its children. nodes: all of the tree.
void StepUnsampled(ExactColumns const& columns, ExactStep const* nodes, int depth, NodeIndex* positions,
                   DeviceLimits const& limits, cudaStream_t stream);

/// positions[i] = node_of[positions[i]], of complements the complement.
void RenumberPositions(NodeIndex const* node_of, NodeIndex* positions, std::uint64_t rows, DeviceLimits const& limits,
                       cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_EXACT_CUDA_H_
