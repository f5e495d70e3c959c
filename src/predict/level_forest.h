/// Forests of symmetric trees: a row's leaf is an index with one comparison for each level. Contract of the host's
/// functions; input, output and bits are forest.h's. docs/adr/0022-symmetric-trees.md
#ifndef XGBGPU_PREDICT_LEVEL_FOREST_H_
#define XGBGPU_PREDICT_LEVEL_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "predict/forest.h"
#include "predict/level_forest_ops.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Walks rows through each tree side by side, level by level, without a branch. Leaves above the last level are
/// repeated, so that trees are full.
///
/// From  Dorogush et al., "CatBoost: gradient boosting with categorical features support", arXiv:1810.11363
class LevelForest {
 public:
  /// A tree of 16 levels has leaves of 256 KB.
  static constexpr int kMostLevels = 16;
  /// Most leaves of all trees together: 512 MB. Trees with many levels have far fewer leaves of their own.
  static constexpr std::size_t kMostLeaves = std::size_t{1} << 27;

  /// Returns nothing if a tree of the forest is not symmetric, or has more than kMostLevels levels, or if full trees
  /// would have more than `most_leaves` leaves.
  static std::optional<LevelForest> Of(Forest const& forest, std::size_t most_leaves = kMostLeaves);

  std::size_t trees() const { return trees_.size(); }
  /// Returns 1 + the largest output of a tree; 0 without trees.
  std::uint32_t outputs() const { return outputs_; }
  Span<LevelTree const> level_trees() const { return trees_; }
  Span<LevelTest const> tests() const { return tests_; }
  /// Returns each leaf's term in a margin: its value, or its value times the tree's weight.
  Span<float const> leaves() const { return leaves_; }
  /// Returns the tested features. A test has the number of a column, not of a feature.
  Span<FeatureIndex const> columns() const { return features_; }
  /// Returns [features] the feature's column, or -1.
  Span<std::int32_t const> column_of() const { return column_of_; }
  Span<std::uint32_t const> set_words() const { return set_words_; }

  /// host::PredictMargins (forest.h) with the same bits.
  void PredictMargins(RowSource const& source, std::size_t first, std::size_t last, OutputView<float> margins,
                      int threads) const;

 private:
  struct Block;

  template <typename Nodes>
  bool AddTree(Forest const& forest, std::size_t t);
  LevelTest TestOf(ForestNode const& node, PackedSets const& sets);
  std::uint32_t ColumnOf(FeatureIndex feature);
  template <typename Row>
  void LoadRow(Row const& row, std::size_t place, Block* block) const;
  void AddTrees(Block const& block, std::size_t first, std::size_t last, std::uint64_t first_row, std::size_t rows,
                OutputView<float> const& margins) const;

  std::vector<LevelTree> trees_;
  std::vector<LevelTest> tests_;
  std::vector<float> leaves_;
  std::vector<FeatureIndex> features_;   ///< [columns]
  std::vector<std::int32_t> column_of_;  ///< [features] or -1
  std::vector<std::uint32_t> set_words_;
  std::uint32_t outputs_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_LEVEL_FOREST_H_
