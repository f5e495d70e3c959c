/// Stage 9, explained: how much each feature of a row adds to its margin. Contract of the host's side.
///
/// In      rows as in forest.h; trees with the sum of the hessians of every node ("cover")
/// Out     [rows, outputs, features + 1], row-major. The last column is the mean of the trees' output over their
///         training rows, the same in every row. The caller adds the base score, or the row's base margin, to that
///         column; the columns of a row and output then sum to its margin.
/// Exact   The Shapley values of the game whose players are the features: the worth of a set of features is the mean
///         of the tree's leaves where only these features are known, an unknown feature sending the row both ways with
///         the shares of the cover. Features that a path tests several times are one player.
/// Approx  Each step from a node to its child gives the tested feature the difference of the means of the two (Saabas).
/// Same    bit-equal on every backend, for any number of threads: per row and feature, a double sum over paths (approx:
///         steps), tree after tree, path after path, rounded to float once
/// Cost    exact: for a row, 1.5 D^2 multiplications for each path that tests D features. Approx: depth of the trees.
///
/// How. A path asks its features i for an interval each: o_i is 1 if the row is inside, else 0; z_i is the product of
/// the shares. The worth of a set S, of this path alone, is v · Π_{i ∈ S} o_i · Π_{i ∉ S} z_i. Shapley values
/// are the integral of the gradient of the game's multilinear extension along the diagonal (Owen), here
///     phi_i = v (o_i - z_i) ∫ Π_{j ≠ i} (t o_j + (1 - t) z_j) dt over [0, 1],
/// a polynomial of degree D - 1 in t: the Gauss-Legendre rule of D/2 nodes, rounded up, gives it exactly. All its
/// factors and weights are positive, so nothing cancels, at any depth: where weights of permutations are extended and
/// unwound, a subtraction at each step loses digits. For o_i = 0 the factor z_i cancels: all such features of a path
/// share one value. For o_i = 1 the factor and its inverse depend on the path alone; rows share them.
///
/// Error   With u = 2^-24, of one path: a factor is right to 4 u (z, t, 1 - t rounded, a product, a sum), the
///         product of D factors to 5 D u, and what follows (weight, leaf, inverse, at most D/2 additions, 1 - z, two
///         products) to (D/2 + 12) u more. Together (6 D + 12) u |v| max(o_i, z_i) ∫…, the path's terms before o_i
///         - z_i is taken.
///
/// From  Lundberg, Erion, Lee, "Consistent Individualized Feature Attribution for Tree Ensembles", arXiv:1802.03888
///       (2018): the game; Mitchell, Frank, Holmes, "GPUTreeShap", PeerJ CS 8:e880 (2022): paths taken out of the trees
///       once, with the tests of a feature merged; Owen, "Multilinear Extensions of Games", Management Science 18
///       (1972); Saabas, "Interpreting random forests" (2014); XGBoost (shape and meaning of the output)
#ifndef XGBGPU_PREDICT_CONTRIBUTIONS_H_
#define XGBGPU_PREDICT_CONTRIBUTIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/contributions_ops.h"
#include "predict/forest.h"
#include "xgbgpu/api.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The most weights of a chunk of paths: 16 KiB.
constexpr std::uint32_t kChunkEntries = 512;

/// A forest, the means of its nodes, and its paths from root to leaf. A tree of L leaves with D features a path takes
/// 16 L D bytes; a tree of one leaf has no path. With splits on categories an element takes 8 bytes more, and each
/// child of such a split has a set: the categories that pass all tests of the feature from the root to the child.
class PathForest {
 public:
  /// Adds a tree, as Forest::Add, with its weight for good; sum_hess [nodes]. Of a node with sum_hess 0 each child has
  /// one half of the rows. Throws InvalidArgument: as Forest::Add; sum_hess of another length, negative, infinite or
  /// NaN. The forest is then as before.
  void Add(TreeArrays const& tree, Span<float const> sum_hess, std::uint32_t output, float weight = 1);

  Forest const& forest() const { return forest_; }
  std::size_t trees() const { return forest_.trees(); }
  FeatureIndex features() const { return forest_.features(); }
  std::uint32_t outputs() const { return forest_.outputs(); }

  /// Means of the nodes of tree i; that of node n, in the order of the forest, is at [n · words of a node].
  float const* means(std::size_t i) const { return means_.data() + forest_.tree(i).first; }
  /// The mean of the leaves of tree i.
  double mean(std::size_t i) const { return root_means_[i]; }
  /// Chunks of tree i are chunks()[first_chunk(i)] … chunks()[first_chunk(i + 1) - 1].
  std::size_t first_chunk(std::size_t i) const { return i == 0 ? 0 : last_chunk_[i - 1]; }
  std::vector<PathChunk> const& chunks() const { return chunks_; }
  std::vector<Path> const& paths() const { return paths_; }
  std::vector<PathElement> const& elements() const { return elements_; }
  std::vector<QuadratureGroup> const& groups() const { return groups_; }
  /// Sets of the elements and their words, if the forest splits on categories.
  ElementSets element_sets() const { return {{set_words_.data()}, set_of_element_.data()}; }
  std::vector<std::uint64_t> const& set_of_element() const { return set_of_element_; }
  std::vector<std::uint32_t> const& set_words() const { return set_words_; }

 private:
  /// Adds a path. Its elements are the last `count` of elements_ already.
  void AddPath(std::uint32_t count, float value, bool first_of_tree);
  /// Returns the number of the first group of the rule for paths of `elements` elements.
  std::uint32_t RuleFor(std::uint32_t elements);

  Forest forest_;
  std::vector<float> means_;  ///< [words of the forest]
  std::vector<double> root_means_;
  std::vector<PathElement> elements_;
  std::vector<std::uint64_t> set_of_element_;  ///< [elements_]; empty until a tree splits on categories
  std::vector<std::uint32_t> set_words_;
  std::vector<Path> paths_;
  std::vector<PathChunk> chunks_;
  std::vector<std::size_t> last_chunk_;  ///< [trees]
  std::vector<QuadratureGroup> groups_;
  std::vector<std::uint32_t> rules_;  ///< number of nodes → first group; kNoRule if there is none yet
};

/// Where contributions go: [rows, outputs, features + 1].
struct ContributionsView {
  float* data;
  std::uint64_t rows;
  std::uint32_t outputs;
  FeatureIndex features;

  XGBGPU_HD std::size_t columns() const { return std::size_t{features} + 1; }
  XGBGPU_HD float* at(std::uint64_t row, std::uint32_t output) const {
    return data + (row * outputs + output) * columns();
  }
  std::size_t row_size() const { return outputs * columns(); }
};

/// Some trees of a forest by output, in order.
struct PathSelection {
  std::vector<std::uint32_t> trees;
  std::vector<std::size_t> tree_ptr;  ///< [outputs + 1]
  std::vector<PathChunk> chunks;
  std::vector<std::size_t> chunk_ptr;  ///< [outputs + 1]
  std::vector<float> means;            ///< [outputs] the last column
};

/// Trees first … last - 1, for `outputs` outputs. Throws InvalidArgument (range of trees).
PathSelection SelectPaths(PathForest const& forest, std::size_t first, std::size_t last, std::uint32_t outputs);

/// Throws InvalidArgument unless the view has the rows of the source, and room for the features of source and forest
/// and for the outputs of the forest.
void CheckContributions(ContributionsView const& out, RowSource const& source, PathForest const& forest);

namespace host {

/// Computes the contributions of trees first … last - 1, or with `approximate` their approximation.
///
/// Throws  InvalidArgument (range of trees, shape of `out`, a row with a feature that `out` does not have)
void PredictContributions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                          bool approximate, ContributionsView out, int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_CONTRIBUTIONS_H_
