/// Exact trees on a CUDA device: the kernels of a level, and their data. CUDA builds only.
///
/// A column's entries are kept node after node, in ascending order of their values: a *list*. A level reads every list
/// twice: once to find the best split of every node and feature, once to divide the nodes' lists among the children.
/// The division is stable, so lists are never sorted again. An entry is a row and one bit, "another value than the
/// entry before it". A scan needs no more of the values than this bit. docs/adr/0014-exact-trees.md
///
/// Every level numbers its rows anew, node after node, so that the look-ups of a node's entries lie close together.
/// Below, a *row* is a row of the level, unless the text says "row of the matrix".
#ifndef XGBGPU_EXACT_EXACT_CUDA_H_
#define XGBGPU_EXACT_EXACT_CUDA_H_

#include <cstdint>

#include "core/random.h"
#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "split/constraint_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kNewValue = 0x80000000U;  ///< the bit of an entry; the other bits are the row
constexpr std::uint64_t kMostExactRows = kNewValue;

constexpr int kTileEntries = 2048;  ///< entries of a column that one block takes
constexpr int kExactThreads = 256;  ///< threads of most blocks
constexpr int kExactItems = kTileEntries / kExactThreads;

/// A tile of a column. ExactColumns::tiles begins with the first tiles of all columns.
struct ExactTile {
  FeatureIndex feature;
  std::uint32_t index;  ///< number of the tile in its column
  std::uint32_t place;  ///< number of the tile over all columns, column after column
};

/// The columns of a matrix, shared by all trees. Arrays are on the device.
struct ExactColumns {
  std::uint64_t rows;
  FeatureIndex features;
  std::uint64_t const* column_ptr;  ///< [features + 1]
  std::uint32_t const* entries;     ///< [column_ptr[features]] column after column
  std::uint8_t const* is_dense;     ///< [features] no row misses the feature: descending scan only
  std::uint8_t const* ascends;      ///< [features] missing values are tried on the right, too
  std::uint8_t const* used;         ///< [features] the tree may split by the feature
  ExactTile const* tiles;           ///< [tile_count]
  std::uint32_t tile_count;
};

/// The part of a column's list that a tile covers at one level.
struct alignas(16) TileSpan {
  std::uint64_t first;  ///< place of the first entry in the lists
  std::int32_t node;    ///< node of the first entry
  std::int16_t count;   ///< number of entries; 0: the list ends before the tile, or the feature is not used
  bool begins_node;     ///< the first entry is the first of its node
  bool is_one_node;     ///< all entries belong to one node
};

/// The lists of one level. Nodes are numbered inside the level. A node's first entry begins a new value.
struct ExactLists {
  std::uint32_t const* entries;
  std::uint64_t const*
      begin;  ///< [features + 1, nodes + 1] offsets of the nodes' entries; the last part: of their rows
  std::uint32_t nodes;
  TileSpan const* spans;  ///< [tiles]
};

/// The rows of one level.
struct ExactRows {
  RowIndex const* origin;      ///< [rows] each row's number in the matrix; nullptr: both numbers are equal
  std::uint64_t const* begin;  ///< [nodes + 1] offsets of the nodes' rows: the last part of ExactLists::begin
  std::uint32_t nodes;
  std::uint64_t most;  ///< number of rows of the matrix
};

/// The states of tiles in a scan by decoupled look-back: each has the sum over the entries of the column's last node so
/// far. A tile waits for earlier tiles. Blocks start in the order of their numbers, as CUB's scans assume, too.
struct TileStates {
  unsigned long long* words;  ///< [tiles, kStateWords] each has 32 bits of a sum and a tag: see StoreState
  std::uint32_t epoch;        ///< 1 to kMostEpochs; every kernel has its own, so that states need no clearing
};
constexpr std::size_t kStateWords = 4;
constexpr std::uint32_t kMostEpochs = 0x7FFFFFFFU;

/// Gradients of rows as integers. One of the two arrays is nullptr.
struct ExactGradients {
  int2 const* compact;      ///< [rows]
  GradientSum const* wide;  ///< [rows]
};
/// Gradients of rows as integers, to be written. One of the two arrays is nullptr.
struct MutableExactGradients {
  int2* compact;      ///< [rows]
  GradientSum* wide;  ///< [rows]
};

/// A node that a search takes.
struct SearchedNode {
  GradientSum total;
  NodeTerms terms;
};

/// The input and the working arrays of a search for the best splits of a level.
struct ExactLevel {
  ExactLists lists;
  SearchedNode const* nodes;      ///< [nodes]
  std::int8_t const* directions;  ///< [features] of monotone constraints; nullptr: the tree has none
  GradientSum* present;           ///< [features, nodes] sums over rows with a value, of features that are not dense
  unsigned long long* best;       ///< [features, nodes] best candidates; zero before
  std::uint32_t* known;           ///< [nodes] bits of the best gain of any feature so far; zero before
  std::uint32_t const* allowed;   ///< [nodes, words] bit sets of features; nullptr: all used features
};

/// The best split of a node, in terms of entries.
struct ExactChoice {
  float gain;  ///< 0: the node has no split
  FeatureIndex feature;
  std::uint32_t index;    ///< number of entries of the node's list that go left
  std::uint32_t entries;  ///< number of entries of the node's list
  std::uint64_t begin;    ///< offset of the node's list
  GradientSum present;
  std::uint64_t default_left;  ///< 0 or 1; 8 bytes wide, so that a choice has no padding
};

/// A split of a node.
struct ExactSplit {
  std::uint64_t begin;  ///< offset of the node's list
  std::uint32_t index;
  std::uint32_t entries;
  std::uint32_t default_left;  ///< side of the node's rows that have no entry
  std::uint32_t first_piece;   ///< number of the split's first piece of kPieceEntries entries, over all splits
  std::uint32_t node;
};
constexpr std::uint32_t kPieceEntries = 512;

/// The splits of a level.
struct ExactSplits {
  ExactSplit const* splits;  ///< [count] ascending by node
  std::uint32_t count;
  std::uint32_t pieces;          ///< of all splits
  std::int32_t const* split_of;  ///< [nodes of the level] number of the node's split; -1: the node is not split
};

/// The sum and the two neighbouring rows that determine a split's children and threshold.
struct ExactOutcome {
  GradientSum below;  ///< over the first `index` entries
  RowIndex lower;     ///< row of the matrix of the entry before `index`, if there is one
  RowIndex upper;     ///< row of the matrix of the entry at `index`, if there is one
};

/// The sides of 32 rows, and the number of earlier rows that go left.
struct RowWord {
  std::uint32_t left;  ///< bit r: row r of the word goes left
  std::uint32_t before;
};
/// Returns the number of words of `rows` rows. The last word begins at the last row or beyond.
constexpr std::uint64_t RowWords(std::uint64_t rows) { return rows / 32 + 1; }
constexpr std::uint32_t kPackRows = 32 * kExactThreads;  ///< rows that one block packs into words

/// Offsets modulo 2^32 from a row's rank on its side, over the whole level, to its number in the child.
struct ChildRows {
  std::uint32_t left;
  std::uint32_t right;
};

// Every function below enqueues work and returns at once.

/// The rows of a tree before its first level. Arrays are on the device.
struct ExactRootView {
  GradientPair const* gradients;  ///< [rows]
  std::uint64_t rows;
  double grad_scale;
  double hess_scale;
  RandomStream draws;               ///< of the sample
  std::uint64_t threshold;          ///< SampleThreshold of the sample
  bool sampled;                     ///< false: all rows are in the sample
  MutableExactGradients quantised;  ///< written
  NodeIndex* positions;             ///< [rows] written: 0 in the sample, ~0 outside
  std::uint8_t* sides;              ///< [rows] written if `sampled`: 1 in the sample, 0 outside
  GradientSum* sum;                 ///< the sample's gradients are added
};
/// Quantises the gradients of all rows and draws the sample.
void QuantiseExact(ExactRootView const& root, DeviceLimits const& limits, cudaStream_t stream);

/// Writes spans [columns.tile_count] of the lists. lists.spans is not read.
void SpanTiles(ExactColumns const& columns, ExactLists const& lists, TileSpan* spans, cudaStream_t stream);
/// Adds to level.present the sums of features that are not dense. The array must be zero before.
void SumPresent(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                cudaStream_t stream);
/// Writes level.best.
void FindExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                     SplitParams const& params, TileStates const& states, cudaStream_t stream);
/// Writes the best split of each node over all features to choices [nodes]. Reads level.best.
void ChooseExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactChoice* choices, cudaStream_t stream);

/// Sides of a level's rows, which MarkSides writes.
struct ExactSidesView {
  ExactLists lists;
  ExactRows rows;
  ExactSplits splits;
  ExactGradients gradients;
  std::uint8_t* sides;     ///< [32 · RowWords(rows.most)] written: 1 for rows that go left
  ExactOutcome* outcomes;  ///< [splits.count] written; zero before
};
/// Writes the sides of all rows and the outcomes of all splits. Rows of split nodes go by their entries or by default.
/// All other rows get 0.
void MarkSides(ExactSidesView const& view, DeviceLimits const& limits, cudaStream_t stream);
/// Writes words [RowWords(rows)] from sides.
void PackSides(std::uint8_t const* sides, std::uint64_t rows, RowWord* words, TileStates const& states,
               cudaStream_t stream);

/// The lists of the next level, which PartitionLists writes.
struct ChildLists {
  std::uint64_t* begin;    ///< [features + 1, nodes + 1]
  std::uint32_t* entries;  ///< of used features
  ChildRows* rows;         ///< [splits]
  std::uint32_t nodes;     ///< children of all splits
};

/// The division of a level's lists among the children. It reads only the node of each split. The children of split s
/// get the numbers 2s and 2s + 1. With `left_only` the left child gets the number s, and the right child is dropped.
struct ExactPartition {
  ExactLists from;
  ExactRows rows;
  ExactSplits splits;
  bool left_only;
  RowWord const* words;
  std::uint32_t* left_entries;  ///< [features, from.nodes] zero before; nullptr if all columns are dense
  ChildLists to;
};
/// Makes the lists and the row offsets of the next level. MoveExactRows writes gradients and origins. Lists of unused
/// features keep their contents.
void PartitionLists(ExactColumns const& columns, ExactPartition const& partition, TileStates const& states,
                    cudaStream_t stream);

/// The move of a level's rows to the children. Rows of nodes that are not split have reached their leaf.
struct ExactMove {
  ExactRows rows;
  ExactSplits splits;
  std::uint8_t const* sides;
  RowWord const* words;
  ChildRows const* child_rows;  ///< nullptr: the children are leaves
  bool left_only;
  ExactGradients from;
  MutableExactGradients to;  ///< of the children's rows
  RowIndex* origin;          ///< of the children's rows
  NodeIndex first;           ///< number in the tree of the level's first node
  NodeIndex left_child;      ///< number in the tree of the first child
  NodeIndex* positions;      ///< [rows of the matrix] written for rows that have reached a leaf
};
void MoveExactRows(ExactMove const& move, DeviceLimits const& limits, cudaStream_t stream);

/// Rows of the matrix whose entries LocateRows finds, feature after feature.
struct WantedRows {
  std::uint32_t const* row_ptr;  ///< [features + 1]
  RowIndex const* rows;          ///< [count] ascending in each feature
  std::uint32_t count;
};
/// Finds the entries of wanted rows: places[i] becomes the place, over all columns, of the entry of rows[i] in the
/// column of feature f with row_ptr[f] <= i < row_ptr[f + 1]. `marks` [rows of the matrix] is scratch.
void LocateRows(ExactColumns const& columns, WantedRows const& wanted, std::uint8_t* marks, std::uint64_t* places,
                DeviceLimits const& limits, cudaStream_t stream);

/// A node of the finished tree, for rows outside the sample.
struct ExactStep {
  NodeIndex parent;
  NodeIndex left;
  FeatureIndex feature;
  std::int32_t depth;
  std::uint64_t place;  ///< entries of the column before this place go left
  std::uint32_t default_left;
};
/// Moves rows at ~n, where n is a node of `depth`, to the children of n. `nodes` has all nodes of the tree.
void StepUnsampled(ExactColumns const& columns, ExactStep const* nodes, int depth, NodeIndex* positions,
                   DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_EXACT_CUDA_H_
