/// Trees as a model gives them to a forest, and plain code that walks through them.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_GIVEN_TREES_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_GIVEN_TREES_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "predict/contributions.h"
#include "predict/forest.h"
#include "reference/matrix.h"
#include "support/data.h"

namespace xgbgpu::testing {

/// Arrays with one element for each node.
struct GivenTree {
  std::vector<NodeIndex> left{kNoNode};
  std::vector<NodeIndex> right{kNoNode};
  std::vector<FeatureIndex> feature{0};
  std::vector<float> value{0.0f};
  std::vector<std::uint8_t> default_left{0};
  std::vector<std::vector<std::uint32_t>> categories{};  ///< [nodes] those that go right, ascending; or empty
  std::uint32_t output{0};
  float weight{1.0f};

  std::size_t size() const { return left.size(); }
  void Resize(std::size_t nodes);
  void AddTo(Forest* forest) const;
  void AddTo(PathForest* forest, std::vector<float> const& covers) const;
  /// Calls visit(this tree), as a ModelView does.
  void VisitBy(std::function<void(ModelTree const&)> const& visit, std::vector<float> const& covers) const;
  /// Does the row go left at a node that is no leaf? A feature that the values do not have is missing.
  bool GoesLeft(std::size_t node, reference::Values const& values, std::size_t row) const;
  /// Returns the leaf of a row. A feature that the values do not have is missing.
  NodeIndex Leaf(reference::Values const& values, std::size_t row) const;
};

struct GivenShape {
  std::size_t leaves;
  FeatureIndex features;
  std::uint32_t output{0};
  bool chain{false};  ///< each split divides the newest leaf, else any
  /// If not 0, features 0, 3, 6 … have so many categories. In a split one goes right, or any number of them.
  std::uint32_t levels{0};

  bool categorical(FeatureIndex f) const { return levels != 0 && f % 3 == 0; }
};

/// Returns what RandomValues does. If `levels` is not 0, the present values of categorical features are categories
/// below 5/4 · levels, so that some are in no split; some are numbers that are no category, or lie between two.
reference::Values RandomForestValues(DataShape const& shape, std::uint32_t levels, std::uint64_t seed);

/// Thresholds are values of the data, or beyond them. Nodes are numbered in no order, and some numbers are in no tree,
/// as after pruning.
GivenTree RandomTree(GivenShape const& shape, reference::Values const& values, Random* random);

struct SymmetricShape {
  int levels;  ///< at most; all nodes of a level have one test
  FeatureIndex features;
  std::uint32_t outputs{1};     ///< the tree is of one of these
  std::uint32_t categories{0};  ///< as `levels` of GivenShape
};

/// Returns a tree of which some nodes above the last level are leaves, and which may have a weight.
GivenTree SymmetricTree(SymmetricShape const& shape, Random* random);

/// Returns the nodes' sums of hessians: random for leaves, for others the sum of their children, rounded to float.
std::vector<float> RandomCovers(GivenTree const& tree, Random* random);
PathForest MakePathForest(std::vector<GivenTree> const& trees, Random* random);

/// Adds trees first … last - 1 in order to margins [rows × outputs], row-major, by one float addition for each.
void AddByHand(std::vector<GivenTree> const& trees, std::size_t first, std::size_t last,
               reference::Values const& values, std::uint32_t outputs, std::vector<float>* margins);
/// [rows × trees]
std::vector<float> LeavesByHand(std::vector<GivenTree> const& trees, std::size_t first, std::size_t last,
                                reference::Values const& values);

Forest MakeForest(std::vector<GivenTree> const& trees);

/// Returns the bits, for comparisons in which 0 and -0 differ and a NaN equals itself.
std::vector<std::uint32_t> Bits(std::vector<float> const& values);
std::vector<float> RandomMargins(std::size_t n, std::uint64_t seed);

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_GIVEN_TREES_H_
