/// Candidate splits by categories, and their order. docs/adr/0011-categories.md
///
/// The search represents a split by categories as a number, `bin`. One by one: the category that goes right. By sorted
/// categories: the number of first categories that go right. When the split is the node's best, its set is written, and
/// `bin` becomes the number of the set.
///
/// From  Fisher, "On Grouping for Maximum Homogeneity", JASA 1958: sorted by their best outputs, the best two groups of
///       categories are neighbours; the order of candidates is XGBoost hist's
#ifndef XGBGPU_SPLIT_CATEGORY_OPS_H_
#define XGBGPU_SPLIT_CATEGORY_OPS_H_

#include "base/float_bits.h"
#include "base/hd.h"
#include "split/split_ops.h"

namespace xgbgpu {

/// Returns true if each category is tried against all others.
XGBGPU_HD bool SplitsOneByOne(SplitParams const& p, BinIndex categories) { return categories < p.max_cat_to_onehot; }

/// Returns the number of splits from each end of the sorted categories.
XGBGPU_HD BinIndex SortedSplits(SplitParams const& p, BinIndex categories) {
  return (categories < p.max_cat_threshold ? categories : p.max_cat_threshold) - 1;
}

/// Returns the sort key of a category: the best output of its rows, then its number, which is the lower half.
XGBGPU_HD std::uint64_t CategoryKey(SplitParams const& p, GradientSum sum, BinIndex category) {
  auto const weight = static_cast<float>(NodeWeight(p, ToLoss(p, sum)));
  return (std::uint64_t{AscendingKey(weight)} << 32) | category;
}
XGBGPU_HD BinIndex CategoryOf(std::uint64_t key) { return static_cast<BinIndex>(key); }

/// The sides of one split by categories.
struct CategoryDivision {
  BinIndex bin;
  bool default_left;
  GradientSum left, right;
};

/// Split i of 2 · categories, one by one: category i / 2 goes right, first without missing values, then with them.
XGBGPU_HD CategoryDivision DivideOneByOne(BinIndex i, GradientSum category, GradientSum missing, GradientSum total) {
  bool const with_missing = i % 2 != 0;
  GradientSum const right = with_missing ? category + missing : category;
  return {i / 2, !with_missing, total - right, right};
}

/// Split i of SortedSplits from one end: the i + 1 sorted categories at the end, of sum `end`, go right (from the
/// front) or left (from the back). Missing values go to the other side.
XGBGPU_HD CategoryDivision DivideSorted(BinIndex i, bool from_front, BinIndex categories, GradientSum end,
                                        GradientSum total) {
  GradientSum const rest = total - end;
  if (from_front) return {i + 1, true, rest, end};
  return {categories - 1 - i, false, end, rest};
}

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_CATEGORY_OPS_H_
