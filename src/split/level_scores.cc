// Chooses the best candidate of a symmetric tree's level from the scores.
#include "split/level_scores.h"

#include <algorithm>
#include <utility>

#include "split/category_ops.h"
#include "split/vector_split.h"

namespace xgbgpu {

LevelScores::LevelScores(Cuts const& cuts) : cuts_{cuts}, set_words_{CategorySetWords(cuts)} {}

void LevelScores::BeginTree(SplitParams const& params) {
  params_ = &params;
  category_sets_.clear();
  if (set_words_ != 0) sorted_.assign(cuts_.features(), {});
  first_.Reserve(cuts_.ptr.back());
  second_.Reserve(cuts_.ptr.back());
}

void LevelScores::BeginLevel(std::vector<FeatureIndex> features) {
  features_ = std::move(features);
  for (FeatureIndex const f : features_) {
    std::fill_n(first_.data() + cuts_.ptr[f], cuts_.bins(f), 0.0);
    std::fill_n(second_.data() + cuts_.ptr[f], cuts_.bins(f), 0.0);
  }
}

CandidateKind LevelScores::KindOf(FeatureIndex feature) const {
  if (!cuts_.IsCategorical(feature)) return CandidateKind::kNumbers;
  return SplitsOneByOne(*params_, cuts_.bins(feature)) ? CandidateKind::kOneByOne : CandidateKind::kSorted;
}

SplitParams LevelScores::OrderingParams(SplitParams params) {
  params.min_child_weight = params.reg_alpha = params.max_delta_step = 0.0;
  return params;
}

void LevelScores::SortCategories(FeatureIndex feature, Span<GradientSum const> sums) {
  SetOrder(feature, host::SortedCategoryKeys(OrderingParams(*params_), sums));
}

void LevelScores::SortCategories(FeatureIndex feature, LevelParams const& params, GradientSum const* total,
                                 Span<GradientSum const* const> sums) {
  BinIndex const categories = cuts_.bins(feature);
  if (params.outputs == 1) return SortCategories(feature, {sums[0], std::size_t{categories}});
  std::vector<SplitParams> ordering;
  for (std::uint32_t k = 0; k < params.outputs; ++k) ordering.push_back(OrderingParams(params.of_outputs[k]));
  SetOrder(feature, host::VectorCategoryKeys(ordering, total, sums, categories));
}

/// Takes the order of a feature's categories from sorted keys, whose lower halves are the categories.
void LevelScores::SetOrder(FeatureIndex feature, Span<std::uint64_t const> keys) {
  for (std::uint64_t const key : keys) sorted_[feature].push_back(CategoryOf(key));
}

LevelSplit LevelScores::Best() {
  LevelSplit best;
  for (FeatureIndex const f : features_) {
    BinIndex const n = cuts_.bins(f);
    CandidateKind const kind = KindOf(f);
    double const* const first = first_.data() + cuts_.ptr[f];
    double const* const second = second_.data() + cuts_.ptr[f];
    auto const consider = [&](double score, BinIndex bin, bool default_left) {
      if (score > best.score) best = {score, f, bin, default_left, kind != CandidateKind::kNumbers};
    };
    if (kind == CandidateKind::kNumbers) {
      for (BinIndex b = 0; b < n; ++b) consider(first[b], b + 1, false);
      for (BinIndex b = n; b-- > 0;) consider(second[b], b, true);
    } else if (kind == CandidateKind::kOneByOne) {
      for (BinIndex c = 0; c < n; ++c) {
        consider(first[c], c, true);
        consider(second[c], c, false);
      }
    } else {
      BinIndex const splits = SortedSplits(*params_, n);
      for (BinIndex i = 0; i < splits; ++i) consider(first[i], i + 1, true);
      for (BinIndex i = 0; i < splits; ++i) consider(second[i], n - 1 - i, false);
    }
  }
  if (best.categorical) WriteCategorySet(&best);
  return best;
}

void LevelScores::WriteCategorySet(LevelSplit* split) {
  std::size_t const number = category_sets_.size() / set_words_;
  category_sets_.resize(category_sets_.size() + set_words_);
  std::uint32_t* const set = category_sets_.data() + number * set_words_;
  auto const add = [&](BinIndex category) { set[category / 32] |= 1U << (category % 32); };
  if (KindOf(split->feature) == CandidateKind::kOneByOne) {
    add(split->bin);
  } else {
    for (BinIndex i = 0; i < split->bin; ++i) add(sorted_[split->feature][i]);
  }
  split->bin = static_cast<BinIndex>(number);
}

}  // namespace xgbgpu
