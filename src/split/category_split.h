/// Stage 7 for categorical features on the host.
#ifndef XGBGPU_SPLIT_CATEGORY_SPLIT_H_
#define XGBGPU_SPLIT_CATEGORY_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "split/constraint_ops.h"
#include "split/split.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Consecutive bit sets of categories, `words` words each. Bit c: category c goes right.
struct CategorySets {
  Span<std::uint32_t const> bits;
  std::size_t words{0};

  std::uint32_t const* set(BinIndex number) const { return bits.data() + number * words; }
};

/// Returns the words of a set for any feature; 0 if no feature is categorical.
std::size_t CategorySetWords(Cuts const& cuts);

namespace host {

/// Tries the splits of a node by one categorical feature, for EvaluateSplits.
///
/// Fewer categories than max_cat_to_onehot: every category against all others, ascending. Its rows go right alone
/// first, then together with rows that miss the feature. Otherwise categories are sorted by the best output of their
/// rows. The first 1, 2, 3 … go right while missing values go left; then the last 1, 2, 3 … go left while missing
/// values go right: at most max_cat_threshold - 1 of either kind. With equal gains the first in this order wins.
///
/// In      sums   [categories] of the feature
///         node, direction  see constraint_ops.h
/// Cost    O(n log n) for n categories
template <bool kMonotone>
void EvaluateCategories(SplitParams const& params, Span<GradientSum const> sums, GradientSum total,
                        NodeTerms const& node, int direction, FeatureIndex feature, SplitCandidate* best);

/// Returns the keys (CategoryKey) of categories: ascending at both ends, where splits are tried, and unordered between.
std::vector<std::uint64_t> SortedCategoryKeys(SplitParams const& params, Span<GradientSum const> sums);

/// Writes the categories that go right by `split`, a result of EvaluateCategories with the same arguments.
/// Out  set  [words], zero before
void WriteCategorySet(SplitParams const& params, Span<GradientSum const> sums, SplitCandidate const& split,
                      std::uint32_t* set);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_CATEGORY_SPLIT_H_
