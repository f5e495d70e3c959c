// Finds splits by categories on the host, and writes their sets.
#include <algorithm>
#include <vector>

#include "split/category_ops.h"
#include "split/category_split.h"

namespace xgbgpu {

std::size_t CategorySetWords(Cuts const& cuts) {
  BinIndex most = 0;
  for (FeatureIndex f = 0; f < cuts.features(); ++f) {
    if (cuts.IsCategorical(f)) most = std::max(most, cuts.bins(f));
  }
  return (std::size_t{most} + 31) / 32;
}

namespace host {

std::vector<std::uint64_t> SortedCategoryKeys(SplitParams const& params, Span<GradientSum const> sums) {
  std::vector<std::uint64_t> keys(sums.size());
  for (BinIndex c = 0; c < sums.size(); ++c) keys[c] = CategoryKey(params, sums[c], c);
  BinIndex const splits = SortedSplits(params, static_cast<BinIndex>(sums.size()));
  if (2 * std::size_t{splits} >= keys.size()) {
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  auto const front = keys.begin() + splits, back = keys.end() - splits;
  std::nth_element(keys.begin(), front, keys.end());
  std::nth_element(front, back, keys.end());
  std::sort(keys.begin(), front);
  std::sort(back, keys.end());
  return keys;
}

template <bool kMonotone>
void EvaluateCategories(SplitParams const& params, Span<GradientSum const> sums, GradientSum total,
                        NodeTerms const& node, int direction, FeatureIndex feature, SplitCandidate* best) {
  auto const consider = [&](CategoryDivision const& d) {
    float const gain = SplitGain<kMonotone>(params, d.left, d.right, node, direction);
    if (gain > best->gain) *best = {gain, feature, d.bin, d.default_left, true, d.left, d.right};
  };
  auto const n = static_cast<BinIndex>(sums.size());
  if (SplitsOneByOne(params, n)) {
    GradientSum missing = total;
    for (GradientSum const& sum : sums) missing -= sum;
    for (BinIndex i = 0; i < 2 * n; ++i) consider(DivideOneByOne(i, sums[i / 2], missing, total));
    return;
  }
  auto const keys = SortedCategoryKeys(params, sums);
  for (bool from_front : {true, false}) {
    GradientSum end;
    for (BinIndex i = 0; i < SortedSplits(params, n); ++i) {
      end += sums[CategoryOf(keys[from_front ? i : n - 1 - i])];
      consider(DivideSorted(i, from_front, n, end, total));
    }
  }
}

template void EvaluateCategories<false>(SplitParams const&, Span<GradientSum const>, GradientSum, NodeTerms const&, int,
                                        FeatureIndex, SplitCandidate*);
template void EvaluateCategories<true>(SplitParams const&, Span<GradientSum const>, GradientSum, NodeTerms const&, int,
                                       FeatureIndex, SplitCandidate*);

void WriteCategorySet(SplitParams const& params, Span<GradientSum const> sums, SplitCandidate const& split,
                      std::uint32_t* set) {
  auto const add = [&](BinIndex category) { set[category / 32] |= 1U << (category % 32); };
  if (SplitsOneByOne(params, static_cast<BinIndex>(sums.size()))) {
    add(split.bin);
    return;
  }
  auto const keys = SortedCategoryKeys(params, sums);
  for (BinIndex i = 0; i < split.bin; ++i) add(CategoryOf(keys[i]));
}

}  // namespace host
}  // namespace xgbgpu
