/// Stage 7 for trees of vectors.
#ifndef XGBGPU_SPLIT_VECTOR_SPLIT_H_
#define XGBGPU_SPLIT_VECTOR_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "histogram/histogram.h"
#include "matrix/matrix.h"
#include "split/constraints.h"
#include "split/node_splits.h"
#include "split/vector_ops.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Returns the sort keys of categories, ascending. The upper half is the dot product, over the outputs, of the weight
/// of the category's rows and the weight of the node. The lower half is the category. `params` and `total` (of the
/// node) are [outputs], `sums` are [outputs][categories].
std::vector<std::uint64_t> VectorCategoryKeys(Span<SplitParams const> params, GradientSum const* total,
                                              Span<GradientSum const* const> sums, BinIndex categories);

/// Finds splits. The gain of a split is the sum of the gains of all outputs. Keeps the sums and weights of nodes, a
/// number for each output. Scans and the order of candidates are EvaluateSplits's. Categories are sorted by a dot
/// product over the outputs: the best outputs of their rows times the best outputs of the node, as in XGBoost 3.4.
///
/// The sums of a SplitCandidate, and the total of a job, only tell which child has fewer rows: their hessians are sums
/// over outputs, in units that may differ.
///
/// Cost    EvaluateSplits's for each output
/// Same    bit-equal for any number of threads: outputs are added in their order
class VectorSplitFinder final : public NodeSplits {
 public:
  /// `matrix` has the cuts and cells of all pages and shards.
  VectorSplitFinder(QuantisedMatrix const& matrix, std::uint32_t outputs, int threads);

  /// Drops the last tree. `formats` and `roots` are [outputs]; the roots are sums over all rows. `constraints` and
  /// `blocks` must outlive the next tree.
  void Begin(TrainParams const& params, Span<GradientFormat const> formats, Span<GradientSum const> roots,
             Constraints const& constraints, std::vector<FeatureBlock> const& blocks);
  void Find(Span<SplitFamily> families) override;
  CategorySets category_sets() const override { return {category_sets_, set_words_}; }
  void AddChildren(NodeIndex parent, NodeIndex left) override;

  Span<float const> weights(NodeIndex node) const { return {weights_.data() + First(node), outputs()}; }
  Span<GradientSum const> sums(NodeIndex node) const { return {sums_.data() + First(node), outputs()}; }
  /// Returns [outputs] with units.
  Span<SplitParams const> params() const { return params_; }

 private:
  /// The facts about a node that all candidates share.
  struct Terms {
    GradientSum const* total;    ///< [outputs]
    WeightBounds const* bounds;  ///< [outputs] with monotone constraints
    double gain;
  };

  std::size_t outputs() const { return params_.size(); }
  std::size_t First(NodeIndex node) const { return static_cast<std::size_t>(node) * outputs(); }
  Terms TermsOf(NodeIndex node) const;
  template <bool kMonotone>
  float GainOf(Terms const& node, GradientSum const* moved, bool moved_is_left, int direction) const;
  template <bool kForward, bool kMonotone>
  bool Scan(Terms const& node, GradientSum const* sums, FeatureIndex feature, SplitCandidate* best) const;
  std::vector<std::uint64_t> SortedKeys(Terms const& node, GradientSum const* sums, FeatureIndex feature) const;
  template <bool kMonotone>
  void TryCategories(Terms const& node, GradientSum const* sums, FeatureIndex feature, SplitCandidate* best) const;
  template <bool kMonotone>
  SplitCandidate FindInBlock(SplitJob const& job, Span<FeatureIndex const> features) const;
  std::vector<GradientSum> MissingOf(Terms const& node, GradientSum const* sums, FeatureIndex feature) const;
  void TakeBest(SplitJob* job);
  void TakeCategories(SplitJob* job);

  QuantisedMatrix const& matrix_;
  int threads_;
  double min_child_weight_{0};
  std::vector<SplitParams> params_;  ///< [outputs]
  Constraints const* constraints_{nullptr};
  std::vector<FeatureBlock> const* blocks_{nullptr};
  std::size_t set_words_;                     ///< words of one set of categories; 0: no feature is categorical
  std::vector<std::uint32_t> category_sets_;  ///< consecutive

  // [nodes, outputs]
  std::vector<GradientSum> sums_;
  std::vector<GradientSum> left_;  ///< of the rows that go left by the best split
  std::vector<int> directions_;    ///< [nodes] of the feature of the best split
  std::vector<float> weights_;
  std::vector<WeightBounds> bounds_;  ///< empty without monotone constraints
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_SPLIT_VECTOR_SPLIT_H_
