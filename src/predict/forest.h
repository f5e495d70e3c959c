/// Stage 9 for whole models: forests on raw feature values → margins, leaves. Contract of the host's side.
///
/// In      rows as a RowSource gives them: no value, or a stored NaN, is "missing"; the last of several values of a
///         feature in a row counts; a feature beyond the source's is missing in every row. Infinite values are allowed.
/// Order   margin = margin + leaf value, in float, tree after tree, from the margin that is there: XGBoost's predictors
///         on the CPU round in the same places. A model gives their bits.
/// Sets    a value of a split on categories is truncated to its category; it goes right if the split lists it. All
///         other values go left, also values that are no category (below 0, or from 2^24 on), as in XGBoost.
/// Same    bit-equal on every backend
/// Cost    depth look-ups a row and tree; two more words where a split is on categories
/// From    XGBoost (the meaning of a tree); Breiman's trees otherwise
#ifndef XGBGPU_PREDICT_FOREST_H_
#define XGBGPU_PREDICT_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/forest_ops.h"
#include "xgbgpu/api.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree_arrays.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// All trees of a model, or the trees added since, in the order of a copy to a device: breadth first. The upper levels
/// lie together, and the children of a node side by side.
class Forest {
 public:
  /// Adds a tree. weight: as for SetWeight.
  /// Throws InvalidArgument (arrays of different lengths or empty; children that do not exist, or that two nodes share;
  /// output from 2^30 on, feature from 2^31 on; words of categories that do not exist). The forest is then as before.
  void Add(TreeArrays const& tree, std::uint32_t output, float weight = 1);

  /// Sets the weight of a tree in margins, as in DART. If the weight is not 1, (0 + value) · weight, rounded once, is
  /// added in place of a leaf's value, as in XGBoost. (XGBoost's DART adds 0 first for a weight of 1, too: a margin of
  /// -0 may become +0 there.) A tree of weight 0, dropped by DART, adds nothing. The tree itself stays unchanged.
  /// Throws InvalidArgument (no such tree).
  void SetWeight(std::size_t tree, float weight);

  std::size_t trees() const { return trees_.size(); }
  ForestTree const& tree(std::size_t i) const { return trees_[i]; }
  /// 1 + the largest feature that a tree tests; 0 if none tests any.
  FeatureIndex features() const { return features_; }
  /// 1 + the largest output of a tree; 0 without trees.
  std::uint32_t outputs() const { return outputs_; }

  /// Weights of all trees.
  Span<float const> weights() const { return weights_; }
  /// Returns true if a weight is not 1.
  bool weighted() const;

  /// The nodes of tree i.
  ForestWord const* words(std::size_t i) const { return words_.data() + trees_[i].first; }
  /// Numbers of the nodes of tree i when it was added. The number of node n is at [n · words of a node].
  NodeIndex const* ids(std::size_t i) const { return ids_.data() + trees_[i].first; }
  /// Returns true if a tree splits on categories.
  bool categorical() const { return !set_words_.empty(); }
  /// Where the sets of tree i begin, among the words of all sets. For i = the number of trees: where they end.
  std::uint64_t first_set(std::size_t i) const { return set_ptr_[i]; }
  std::uint32_t const* set_words() const { return set_words_.data(); }
  PackedSets sets(std::size_t i) const { return {set_words_.data() + set_ptr_[i]}; }

 private:
  bool IsTwin(ForestTree const& tree, std::vector<std::uint32_t> const& sets) const;

  std::vector<ForestTree> trees_;
  std::vector<ForestWord> words_;
  std::vector<NodeIndex> ids_;             ///< [words]
  std::vector<std::uint64_t> set_ptr_{0};  ///< [trees + 1]
  std::vector<std::uint32_t> set_words_;
  std::vector<float> weights_;  ///< [trees]
  FeatureIndex features_{0};
  std::uint32_t outputs_{0};
};

/// Throws InvalidArgument unless first <= last <= trees.
void CheckTreeRange(std::size_t first, std::size_t last, std::size_t trees);
/// Throws InvalidArgument unless margins have as many rows as the data and room for all outputs of the forest.
void CheckMargins(OutputView<float> const& margins, std::uint64_t rows, std::uint32_t outputs);

namespace host {

/// Does margins(row, output of the tree) += value of the row's leaf, for trees first … last - 1 in order. This plain
/// way defines the bits. A row of entries is scattered into an array of all features, and a row of an array is read in
/// place.
void PredictMargins(RowSource const& source, Forest const& forest, std::size_t first, std::size_t last,
                    OutputView<float> margins, int threads);

/// out [rows, last - first], row-major: the number, as float, that the leaf had when its tree was added.
void PredictLeaves(RowSource const& source, Forest const& forest, std::size_t first, std::size_t last, float* out,
                   int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_FOREST_H_
