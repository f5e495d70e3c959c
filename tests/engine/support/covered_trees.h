/// Trees with the covers of their nodes, and plain code for the game that explains them.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_COVERED_TREES_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_COVERED_TREES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "support/given_trees.h"

namespace xgbgpu::testing {

constexpr double kUnit = 0x1p-24;  ///< the relative rounding of a float

/// A tree with the covers of its nodes.
struct CoveredTree {
  GivenTree tree;
  std::vector<float> covers;

  double Leaf(std::size_t n) const {
    return tree.weight == 1.0f ? tree.value[n] : (0.0f + tree.value[n]) * tree.weight;
  }
  double Share(std::size_t parent, std::size_t child) const {
    return covers[parent] > 0 ? double{covers[child]} / covers[parent] : 0.5;
  }
};

/// Returns the mean of the leaves if only the features in `known` are known: a bit for each of the first 32.
double MeanKnowing(CoveredTree const& t, reference::Values const& values, std::size_t row, std::uint32_t known,
                   std::size_t n = 0);
/// Returns the mean of all leaves.
double Mean(CoveredTree const& t);

/// A feature on a path. one: 1 if the row goes this way, else 0. zero: the share of all rows that do.
struct Player {
  double one{1};
  double zero{1};
};
using Players = std::map<FeatureIndex, Player>;

/// Calls use(features, leaf value) for all paths of a tree, which may be deep.
void ForEachPath(CoveredTree const& t, reference::Values const& values, std::size_t row,
                 std::function<void(Players const&, double)> const& use);

/// Returns a sum for each size of a set of players, without those in `but` (one or two): over all sets of that size,
/// the product of its players' ones and the others' zeros. No term is negative, so sums of long doubles lose nothing.
std::vector<long double> SumsOverSets(Players const& players, std::vector<FeatureIndex> const& but);

struct CoveredModel {
  std::vector<CoveredTree> trees;

  PathForest Forest() const;
};

/// Makes one tree for each number of leaves; every third has a weight. levels: as in GivenShape.
CoveredModel RandomCoveredModel(std::vector<std::size_t> const& leaves, FeatureIndex features, std::uint32_t outputs,
                                bool chains, reference::Values const& values, std::uint64_t seed,
                                std::uint32_t levels = 0);

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_COVERED_TREES_H_
