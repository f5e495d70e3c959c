/// Forests of symmetric trees on the host: a row's leaf is an index, made of one comparison for each level.
/// docs/adr/0022-symmetric-trees.md
#ifndef XGBGPU_PREDICT_LEVEL_FOREST_H_
#define XGBGPU_PREDICT_LEVEL_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "objective/row_views.h"
#include "predict/forest.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Rows go through each tree side by side, level by level, without a branch. Leaves above the last level are repeated,
/// so that trees are full.
///
/// From  Dorogush et al., "CatBoost: gradient boosting with categorical features support", arXiv:1810.11363
class LevelForest {
 public:
  /// More levels have more leaves than the caches hold.
  static constexpr int kMostLevels = 12;

  /// Nothing if a tree of the forest is not symmetric, or splits on categories, or has more than kMostLevels levels.
  static std::optional<LevelForest> Of(Forest const& forest);

  std::size_t trees() const { return trees_.size(); }

  /// Does what host::PredictMargins does (forest.h), with the same bits.
  void PredictMargins(RowSource const& source, std::size_t first, std::size_t last, OutputView<float> margins,
                      int threads) const;

 private:
  /// What all nodes of a level ask of a row.
  struct Test {
    float threshold;       ///< `value < threshold` goes left
    std::uint32_t column;  ///< of the values of a block of rows
    bool default_left;
  };
  struct Tree {
    std::uint32_t output;
    std::uint32_t first_test, end_test;  ///< from the root down
    std::size_t first_leaf;              ///< of 2 to the power of the number of tests
  };
  struct Block;

  template <typename Nodes>
  bool AddTree(ForestWord const* words, std::uint32_t output, float weight);
  std::uint32_t ColumnOf(FeatureIndex feature);
  template <typename Row>
  void LoadRow(Row const& row, std::size_t place, Block* block) const;
  void AddTrees(Block const& block, std::size_t first, std::size_t last, std::uint64_t first_row, std::size_t rows,
                OutputView<float> const& margins) const;

  std::vector<Tree> trees_;
  std::vector<Test> tests_;
  std::vector<float> leaves_;            ///< what each adds to a margin
  std::vector<FeatureIndex> features_;   ///< [columns]
  std::vector<std::int32_t> column_of_;  ///< [features] or -1
  std::uint32_t outputs_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_LEVEL_FOREST_H_
