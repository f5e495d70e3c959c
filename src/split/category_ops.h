/// A split by categories: which ones are tried, in which order. docs/adr/0011-categories.md
///
/// The best split of a node by a categorical feature is found as `bin`, a number that stands for a set of categories:
/// one by one, that category; by sorted categories, how many of the first go right. Once the split is the node's best,
/// the set is written down, and `bin` becomes the number of the set.
///
/// From  Fisher, "On Grouping for Maximum Homogeneity", JASA 1958: sorted by their best outputs, the best two groups of
///       categories are neighbours; the order of candidates is that of XGBoost's hist
#ifndef XGBGPU_SPLIT_CATEGORY_OPS_H_
#define XGBGPU_SPLIT_CATEGORY_OPS_H_

#include "base/float_bits.h"
#include "base/hd.h"
#include "split/split_ops.h"

namespace xgbgpu {

/// Are there so few categories that each is tried against all others?
XGBGPU_HD bool SplitsOneByOne(SplitParams const& p, BinIndex categories) { return categories < p.max_cat_to_onehot; }

/// How many splits are tried from each end of the sorted categories.
XGBGPU_HD BinIndex SortedSplits(SplitParams const& p, BinIndex categories) {
  return (categories < p.max_cat_threshold ? categories : p.max_cat_threshold) - 1;
}

/// The order of categories: by the best output of their rows, then by number, which is the lower half.
XGBGPU_HD std::uint64_t CategoryKey(SplitParams const& p, GradientSum sum, BinIndex category) {
  auto const weight = static_cast<float>(NodeWeight(p, ToLoss(p, sum)));
  return (std::uint64_t{AscendingKey(weight)} << 32) | category;
}
XGBGPU_HD BinIndex CategoryOf(std::uint64_t key) { return static_cast<BinIndex>(key); }

/// What one split by categories divides a node into.
struct CategoryDivision {
  BinIndex bin;
  bool default_left;
  GradientSum left, right;
};

/// Split i of 2 · categories, one by one: category i / 2 goes right, first without the missing values, then with them.
XGBGPU_HD CategoryDivision DivideOneByOne(BinIndex i, GradientSum category, GradientSum missing, GradientSum total) {
  bool const with_missing = i % 2 != 0;
  GradientSum const right = with_missing ? category + missing : category;
  return {i / 2, !with_missing, total - right, right};
}

/// Split i of SortedSplits from one end: the i + 1 sorted categories at that end, of sum `end`, go right (from the
/// front) or left (from the back); the missing values go with the others.
XGBGPU_HD CategoryDivision DivideSorted(BinIndex i, bool from_front, BinIndex categories, GradientSum end,
                                        GradientSum total) {
  GradientSum const rest = total - end;
  if (from_front) return {i + 1, true, rest, end};
  return {categories - 1 - i, false, end, rest};
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_CATEGORY_OPS_H_
