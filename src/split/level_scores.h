/// Scores of all candidates of a symmetric tree's level, on the host, and the choice of the best.
#ifndef XGBGPU_SPLIT_LEVEL_SCORES_H_
#define XGBGPU_SPLIT_LEVEL_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "split/category_split.h"
#include "split/split.h"
#include "split/symmetric_ops.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// A split of all nodes of a level. `score` 0: none.
struct LevelSplit {
  double score{0.0};
  FeatureIndex feature{0};
  BinIndex bin{0};  ///< first feature-local bin that goes right, or the number of a set of categories
  bool default_left{false};
  bool categorical{false};
};

/// The kind of a feature's candidates.
enum class CandidateKind : std::uint8_t { kNumbers, kOneByOne, kSorted };

/// The scores of candidates. Every bin of a feature has candidates of two kinds. By numbers: missing values go right,
/// and bins up to this bin go left; or missing values go left, and bins from this bin on go right. By categories: the
/// first and the second kind of category_ops.h.
///
/// Memory  16 bytes a bin
class LevelScores {
 public:
  explicit LevelScores(Cuts const& cuts);

  /// Drops the last tree. `params` must outlive the next tree.
  void BeginTree(SplitParams const& params);
  /// Drops the scores of the last level. `features` of the next level ascend.
  void BeginLevel(std::vector<FeatureIndex> features);
  std::vector<FeatureIndex> const& features() const { return features_; }
  CandidateKind KindOf(FeatureIndex feature) const;

  /// [bins of all features]
  double* first() { return first_.data(); }
  double* second() { return second_.data(); }

  /// Returns the parameters by which categories are sorted: without min_child_weight, reg_alpha and max_delta_step,
  /// because a category is no leaf.
  static SplitParams OrderingParams(SplitParams params);
  /// Sorts the categories of a feature by G / (H + lambda) of `sums` [categories] over all rows of the tree.
  /// Thread-safe for different features.
  void SortCategories(FeatureIndex feature, Span<GradientSum const> sums);
  /// Sorts the categories of a feature in a tree of vectors: by VectorCategoryKeys of the root, and as above if there
  /// is one output. `total`: [outputs]. `sums`: [outputs][categories].
  void SortCategories(FeatureIndex feature, LevelParams const& params, GradientSum const* total,
                      Span<GradientSum const* const> sums);
  /// Returns the categories of a feature: ordered at both ends, where splits are tried; any between.
  std::vector<BinIndex> const& sorted(FeatureIndex feature) const { return sorted_[feature]; }

  /// Returns the candidate with the largest score, with equal scores the first in the order of EvaluateSplits. Writes
  /// its set of categories.
  LevelSplit Best();
  /// Returns the sets of all splits by categories so far.
  CategorySets category_sets() const { return {category_sets_, set_words_}; }

  std::size_t bytes() const { return first_.bytes() + second_.bytes(); }

 private:
  void SetOrder(FeatureIndex feature, Span<std::uint64_t const> keys);
  void WriteCategorySet(LevelSplit* split);

  Cuts const& cuts_;
  SplitParams const* params_{nullptr};
  std::vector<FeatureIndex> features_;  ///< of the level
  Buffer<double> first_, second_;
  std::vector<std::vector<BinIndex>> sorted_;  ///< [features]
  std::size_t set_words_;                      ///< words of one set of categories; 0: no feature is categorical
  std::vector<std::uint32_t> category_sets_;   ///< consecutive
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_LEVEL_SCORES_H_
