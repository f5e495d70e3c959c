/// Scores of all candidates of a level of a symmetric tree, on the host: which one is best, and what it divides.
#ifndef XGBGPU_SPLIT_LEVEL_SCORES_H_
#define XGBGPU_SPLIT_LEVEL_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "split/category_split.h"
#include "split/split.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A way to divide all nodes of a level. `score` 0 means that there is none.
struct LevelSplit {
  double score{0.0};
  FeatureIndex feature{0};
  BinIndex bin{0};  ///< first feature-local bin that goes right, or the number of a set of categories
  bool default_left{false};
  bool categorical{false};
};

/// What a feature's candidates are.
enum class CandidateKind : std::uint8_t { kNumbers, kOneByOne, kSorted };

/// Every feature has as many candidates of two kinds as it has bins, at the places of its bins. By numbers: missing
/// values go right, and bins up to the place's own go left; missing values go left, and bins from the place's own on go
/// right. By categories: the first and the second kind of category_ops.h.
///
/// Memory  16 bytes a bin
class LevelScores {
 public:
  explicit LevelScores(Cuts const& cuts);

  /// Forgets the last tree. `params` must outlive the next one.
  void BeginTree(SplitParams const& params);
  /// Forgets the scores of the last level. `features` of the next, ascending.
  void BeginLevel(std::vector<FeatureIndex> features);
  std::vector<FeatureIndex> const& features() const { return features_; }
  CandidateKind KindOf(FeatureIndex feature) const;

  /// [bins of all features]
  double* first() { return first_.data(); }
  double* second() { return second_.data(); }

  /// Sorts the categories of a feature by G / (H + lambda) of `sums` [categories] over all rows of the tree, whatever
  /// min_child_weight, reg_alpha and max_delta_step are: a category is no leaf. May be called for several features at
  /// the same time.
  void SortCategories(FeatureIndex feature, Span<GradientSum const> sums);
  /// The categories of a feature in order: those at either end, where splits are tried; any between them.
  std::vector<BinIndex> const& sorted(FeatureIndex feature) const { return sorted_[feature]; }

  /// The best candidate: that of the largest score, of equal ones that which comes first in the order of
  /// EvaluateSplits. Writes its set of categories.
  LevelSplit Best();
  /// The sets of all splits by categories that were found.
  CategorySets category_sets() const { return {category_sets_, set_words_}; }

  std::size_t bytes() const { return first_.bytes() + second_.bytes(); }

 private:
  void WriteCategorySet(LevelSplit* split);

  Cuts const& cuts_;
  SplitParams const* params_{nullptr};
  std::vector<FeatureIndex> features_;  ///< of the level
  Buffer<double> first_, second_;
  std::vector<std::vector<BinIndex>> sorted_;  ///< [features]
  std::size_t set_words_;                      ///< of one set of categories; 0: no feature is categorical
  std::vector<std::uint32_t> category_sets_;   ///< one after the other
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_LEVEL_SCORES_H_
