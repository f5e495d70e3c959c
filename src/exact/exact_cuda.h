/// Exact trees on a CUDA device: the kernels of a level, and their data. CUDA builds only.
///
/// A column's entries are kept node after node, in the order of their values: a *list*. A level reads every list twice:
/// once for the best split of every node and feature, once to divide the lists of nodes among those of their children,
/// stably, so that nothing is ever sorted again. An entry is a row and one bit, "another value than the entry before
/// it": that bit is all that a scan has to know of values. docs/adr/0014-exact-trees.md
///
/// Rows are numbered anew at every level, node after node, so that what a node's entries look up lies close together.
/// Below, a *row* is one of the level, unless it is said to be of the matrix.
#ifndef XGBGPU_EXACT_EXACT_CUDA_H_
#define XGBGPU_EXACT_EXACT_CUDA_H_

#include <cstdint>

#include "core/random.h"
#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "split/constraint_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kNewValue = 0x80000000U;  ///< the bit of an entry; the rest is the row
constexpr std::uint64_t kMostExactRows = kNewValue;

constexpr int kTileEntries = 2048;  ///< entries of a column that one block takes
constexpr int kExactThreads = 256;  ///< threads of most blocks
constexpr int kExactItems = kTileEntries / kExactThreads;

/// A tile of a column. Tiles are taken in this order: first those that begin columns.
struct ExactTile {
  FeatureIndex feature;
  std::uint32_t index;  ///< inside the column
  std::uint32_t place;  ///< over all columns, column after column
};

/// The columns of a matrix, which no tree changes. Arrays are on the device.
struct ExactColumns {
  std::uint64_t rows;
  FeatureIndex features;
  std::uint64_t const* column_ptr;  ///< [features + 1]
  std::uint32_t const* entries;     ///< [column_ptr[features]], column after column
  std::uint8_t const* is_dense;     ///< [features] no row misses it: values are scanned from above only
  std::uint8_t const* ascends;      ///< [features] missing values are tried on the right, too
  std::uint8_t const* used;         ///< [features] the tree may split by it
  ExactTile const* tiles;
  std::uint32_t tile_count;
};

/// What a tile holds of its column's list at one level.
struct alignas(16) TileSpan {
  std::uint64_t first;  ///< place of the first entry
  std::int32_t node;    ///< node of the first entry
  std::int16_t count;   ///< number of entries; 0: the list ends before the tile, or the feature is not used
  bool begins_node;     ///< the first entry is the first of its node
  bool is_one_node;     ///< all entries are of one node
};

/// The lists of one level. Nodes are numbered inside the level. A node's first entry begins a new value.
struct ExactLists {
  std::uint32_t const* entries;
  std::uint64_t const* begin;  ///< [features + 1, nodes + 1] where each node's entries begin; in the end, its rows
  std::uint32_t nodes;
  TileSpan const* spans;  ///< [tiles]
};

/// The rows of one level.
struct ExactRows {
  RowIndex const* origin;      ///< [rows] each row's number in the matrix; nullptr: rows have the matrix's numbers
  std::uint64_t const* begin;  ///< [nodes + 1] where each node's rows begin: the last part of ExactLists::begin
  std::uint32_t nodes;
  std::uint64_t most;  ///< number of rows of the matrix
};

/// The sums that tiles tell those after them, each of the last node of its column in the tile, so far. A tile waits for
/// those before it: blocks start in the order of their numbers, which CUB's scans take for granted, too.
struct TileStates {
  unsigned long long* words;  ///< [tiles, kStateWords] in each 32 bits of a sum, and whose: see TellWords
  std::uint32_t epoch;        ///< 1 to kMostEpochs; another for every kernel: nothing has to be cleared
};
constexpr std::size_t kStateWords = 4;
constexpr std::uint32_t kMostEpochs = 0x7FFFFFFFU;

/// Gradients of rows: one of the two arrays has them, and the other is nullptr.
struct ExactGradients {
  int2 const* compact;      ///< [rows]
  GradientSum const* wide;  ///< [rows]
};

/// A node whose best split is looked for.
struct SearchedNode {
  GradientSum total;
  NodeTerms terms;
};

/// The nodes of a level whose splits are looked for.
struct ExactLevel {
  ExactLists lists;
  SearchedNode const* nodes;      ///< [nodes]
  std::int8_t const* directions;  ///< [features] of monotone constraints, or nullptr: there are none
  GradientSum* present;           ///< [features, nodes] of rows that have the feature; for features that some miss
  unsigned long long* best;       ///< [features, nodes] zero before
  std::uint32_t* known;           ///< [nodes] zero before: bits of the best gain found so far, of any feature
  std::uint32_t const* allowed;   ///< [nodes, words] bit sets of features, or nullptr: all that are used
};

/// The best split of a node, as entries tell it.
struct ExactChoice {
  float gain;  ///< 0: the node has no split
  FeatureIndex feature;
  std::uint32_t index;    ///< number of entries of the node's list that go left; missing values are not among them
  std::uint32_t entries;  ///< number of entries of the node's list
  std::uint64_t begin;    ///< where the node's list begins
  GradientSum present;
  std::uint64_t default_left;  ///< 0 or 1; of 8 bytes, so that no byte of a choice is copied to the host unwritten
};

/// A node that is split.
struct ExactSplit {
  std::uint64_t begin;
  std::uint32_t index;
  std::uint32_t entries;
  std::uint32_t default_left;  ///< where the rest of the node's rows go, if any
  std::uint32_t first_piece;   ///< pieces of kPieceEntries entries, over all splits
  std::uint32_t node;
};
constexpr std::uint32_t kPieceEntries = 512;

/// The sum and the two neighbouring rows that a split's threshold and children are made from.
struct ExactOutcome {
  GradientSum below;  ///< over the first `index` entries
  RowIndex lower;     ///< row of the matrix of the entry before `index`, if there is one
  RowIndex upper;     ///< row of the matrix of the entry at `index`, if there is one
};

/// A word tells which of 32 rows go left, and how many rows before them do.
struct RowWord {
  std::uint32_t left;
  std::uint32_t before;
};
/// Returns the number of words for so many rows. The last word begins at the last row or beyond.
constexpr std::uint64_t RowWords(std::uint64_t rows) { return rows / 32 + 1; }
constexpr std::uint32_t kPackRows = 32 * kExactThreads;  ///< rows that one block packs into words

/// What is added to the number of rows that go left before a row, or right, to get its number in the child.
struct ChildRows {
  std::uint32_t left;
  std::uint32_t right;
};

// Each enqueues; none waits.

/// Writes gradients as integers to the array that is not null, and adds those of the sample to *sum. Rows outside the
/// sample, if there is one, get the position ~0, and the rest 0. With a sample `sides` becomes 1 for rows inside it and
/// 0 for the rest; without one it may be null.
void QuantiseExact(GradientPair const* gradients, std::uint64_t rows, double grad_scale, double hess_scale,
                   RandomStream const& sample, std::uint64_t threshold, bool sampled, int2* compact, GradientSum* wide,
                   NodeIndex* positions, std::uint8_t* sides, GradientSum* sum, DeviceLimits const& limits,
                   cudaStream_t stream);

/// Writes spans [columns.tile_count] of the lists; lists.spans is not read.
void SpanTiles(ExactColumns const& columns, ExactLists const& lists, TileSpan* spans, cudaStream_t stream);
/// Writes level.present of the features that some row misses. It must be zero before.
void SumPresent(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                cudaStream_t stream);
/// Writes level.best.
void FindExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                     SplitParams const& params, TileStates const& states, cudaStream_t stream);
/// Writes the best split of each node, among those of all features in level.best, to choices.
void ChooseExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactChoice* choices, cudaStream_t stream);

/// Writes sides [32 · RowWords(rows.most)]: 1 for rows that go left. Rows of nodes that are split (split_of >= 0) go
/// by their entries, or by default; the other rows get 0. Writes outcomes [splits], which must be zero before.
void MarkSides(ExactLists const& lists, ExactRows const& rows, ExactSplit const* splits, std::uint32_t split_count,
               std::uint32_t pieces, std::int32_t const* split_of, ExactGradients const& gradients, std::uint8_t* sides,
               ExactOutcome* outcomes, DeviceLimits const& limits, cudaStream_t stream);
/// Writes words [RowWords(rows)] from sides.
void PackSides(std::uint8_t const* sides, std::uint64_t rows, RowWord* words, TileStates const& states,
               cudaStream_t stream);

/// How the next level comes from this one. Of a split only the node counts here. The children of the s-th node that is
/// split get the numbers 2s and 2s + 1. With `left_only` the left one gets the number s, and the right one is dropped.
struct ExactPartition {
  ExactLists from;
  ExactRows rows;
  std::int32_t const* split_of;  ///< [from.nodes]
  ExactSplit const* splits;
  std::uint32_t split_count;
  bool left_only;
  RowWord const* words;
  std::uint32_t* left_entries;  ///< [features, from.nodes], zero before; of columns that are not dense; or nullptr
  std::uint64_t* begin;         ///< [features + 1, children + 1], written
  ChildRows* child_rows;        ///< [splits], written
  std::uint32_t* entries;       ///< written
  std::uint32_t children;       ///< of all splits
};
/// Makes all of the next level but the gradients and origins of rows. Lists of features that are not used are left as
/// they are.
void PartitionLists(ExactColumns const& columns, ExactPartition const& partition, TileStates const& states,
                    cudaStream_t stream);

/// Tells where rows go. Those of nodes that are not split have come to their leaf.
struct ExactMove {
  ExactRows rows;
  std::int32_t const* split_of;  ///< [rows.nodes]
  std::uint8_t const* sides;
  RowWord const* words;
  ChildRows const* child_rows;  ///< nullptr: the children are leaves, too
  bool left_only;
  ExactGradients from;
  int2* compact;  ///< gradients of the children's rows, where `from` has them
  GradientSum* wide;
  RowIndex* origin;  ///< of the children's rows
  NodeIndex first;   ///< number of the level's first node, and of the first child, in the tree
  NodeIndex left_child;
  NodeIndex* positions;  ///< [rows of the matrix] of those that have come to a leaf
};
void MoveExactRows(ExactMove const& move, DeviceLimits const& limits, cudaStream_t stream);

/// Finds where the columns name rows of the matrix: places[i] becomes the place, over all columns, of the entry that
/// names rows[i] in the column of feature f with row_ptr[f] <= i < row_ptr[f + 1]. The rows of a feature ascend. marks:
/// [rows] of the matrix, changed.
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
/// Moves rows at ~n, where n is a node of `depth`, to the children of n. `nodes` are all nodes of the tree.
void StepUnsampled(ExactColumns const& columns, ExactStep const* nodes, int depth, NodeIndex* positions,
                   DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_EXACT_CUDA_H_
