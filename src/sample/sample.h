/// Stage 4: samples the rows and features of one tree.
#ifndef XGBGPU_SAMPLE_SAMPLE_H_
#define XGBGPU_SAMPLE_SAMPLE_H_

#include <cstdint>
#include <vector>

#include "core/fixed_point.h"
#include "core/random.h"
#include "sample/feature_ops.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

namespace host {

/// Lists a shard's rows of a uniform sample in ascending order. A row is in the sample if its 32-bit draw is below
/// subsample · 2^32. The shard's first row is row `first_row` of all shards, and number 0 in the list.
///
/// Out     rows [n]: writes the first elements, without gradients, and returns their number
/// Cost    one draw per row; writes 8 bytes per sampled row; `counts` is scratch, [SampleChunks(n)]
/// Same    bit-equal on every backend and thread count
std::size_t SampleRows(RandomStream const& stream, float subsample, std::size_t n, Span<std::size_t> counts,
                       Span<RowRecord> rows, int threads, std::uint64_t first_row = 0);

/// Lists all rows of a shard: [rows of the shard]. Cost  writes 8 bytes per row.
void ListAllRows(Span<RowRecord> rows, int threads);

/// Lists the shard's rows of the sample that `params` define, in ascending order. Divides their gradients by their
/// chances (sample_ops.h), if chances differ.
///
/// In      gradients [n], of the shard's rows
/// Out     rows [n]: writes the first elements, without gradients, and returns their number; sampled [n]: the rows'
///         gradients, zero outside the sample
/// Cost    three passes over the rows; four if chances depend on gradients
/// Same    bit-equal on every backend, thread count and number of shards
/// Throws  as LargestGradients (gradient/gradient.h), for any gradient that is not finite
std::size_t SampleRows(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                       Span<std::size_t> counts, Span<RowRecord> rows, Span<GradientPair> sampled, int threads,
                       Shard const& shard);

/// Draws the sample of SampleRows, and marks its rows instead of listing them.
///
/// Out     positions [n], 0 for rows in the sample, ~0 for rows outside; sampled as above. Returns the number of
///         sampled rows
std::size_t MarkSampledRows(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                            Span<NodeIndex> positions, Span<GradientPair> sampled, int threads, Shard const& shard);

/// Returns the size of the scratch of SampleRows.
std::size_t SampleChunks(std::size_t n);

}  // namespace host

/// The features by which a tree, a level and a node may be split. Each set is sampled without replacement from the set
/// above: max(1, floor(fraction · size)) features (the product as a float) with the smallest draws. With feature
/// weights w the draw u becomes -log(u) / w, which takes a feature with a chance proportional to its weight.
///
/// From  Efraimidis & Spirakis, "Weighted random sampling with a reservoir", IPL 97(5), 2006
class FeatureSampler {
 public:
  /// Throws InvalidArgument if feature_weights has another size than `features`.
  FeatureSampler(TrainParams const& params, FeatureIndex features, std::uint32_t tree);

  bool all() const { return all_; }  ///< no level samples features: every set has every feature
  bool per_level() const { return bylevel_ < 1.0f; }
  bool per_node() const { return bynode_ < 1.0f; }
  std::vector<FeatureIndex> const& Tree() const { return tree_; }  ///< ascending
  FeatureCounts counts() const;
  /// Returns the features of a level, ascending: a function of (seed, tree, depth).
  std::vector<FeatureIndex> Level(int depth) const;
  /// Returns the features of a node, ascending: a function of (seed, tree, depth) and, with colsample_bynode, of the
  /// node.
  std::vector<FeatureIndex> Node(int depth, NodeIndex node) const;

 private:
  std::vector<FeatureIndex> Choose(std::vector<FeatureIndex> const& from, float fraction,
                                   RandomStream const& stream) const;

  std::uint64_t seed_;
  std::uint32_t tree_number_;
  float bylevel_;
  float bynode_;
  bool all_;
  std::vector<float> weights_;
  std::vector<FeatureIndex> tree_;
};

/// Returns the size of a tree's set of features: FeatureSampler::Tree().size().
FeatureIndex FeaturesOfTree(TrainParams const& params, FeatureIndex features);
/// Returns the size of a level's set of features.
FeatureIndex FeaturesOfLevel(TrainParams const& params, FeatureIndex features);

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_SAMPLE_H_
