/// The order of the columns of trees with features sampled by level. docs/adr/0042-columns-of-a-tree.md
#ifndef XGBGPU_SAMPLE_LEVEL_COLUMNS_H_
#define XGBGPU_SAMPLE_LEVEL_COLUMNS_H_

#include <vector>

#include "sample/sample.h"
#include "xgbgpu/params.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A level needs the features that its nodes, or nodes of levels below it, may be split by: a sibling is subtracted
/// from its parent. Features of the last levels come first, so that each level needs the first columns. Trees alike
/// have equal numbers of columns, and of columns of each level. Most trees do not fill them.
class LevelColumns {
 public:
  /// Sizes are the approximate needs of trees of `params` with `levels` levels.
  LevelColumns(TrainParams const& params, FeatureIndex features, int levels);

  /// Tells whether both are of trees alike.
  bool IsLike(LevelColumns const& other) const {
    return of_tree_ == other.of_tree_ && of_level_ == other.of_level_ && expected_ == other.expected_;
  }
  /// Takes the features of a tree. Sizes grow to the needs of the tree. Returns true if they have grown.
  /// Cost  a draw for each feature and level
  bool Take(FeatureSampler const& sampler);
  /// The number of columns.
  FeatureIndex columns() const { return sizes_.front(); }
  /// Returns how many of the first columns the nodes of this level need.
  FeatureIndex columns(int level) const { return sizes_[static_cast<std::size_t>(level)]; }
  int levels() const { return static_cast<int>(sizes_.size()); }
  /// [levels] The features of the levels of the tree that was taken last.
  std::vector<std::vector<FeatureIndex>> const& sets() const { return sets_; }
  /// Returns the features of the columns of the tree that was taken last. They ascend within each run of `run` columns.
  std::vector<FeatureIndex> Order(FeatureIndex run) const;

 private:
  FeatureIndex of_tree_;
  FeatureIndex of_level_;
  std::vector<FeatureIndex> expected_;  ///< [levels] sizes at first
  std::vector<FeatureIndex> sizes_;     ///< [levels]
  std::vector<std::vector<FeatureIndex>> sets_;
  std::vector<FeatureIndex> order_;  ///< features of the tree: the last level's first
};

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_LEVEL_COLUMNS_H_
