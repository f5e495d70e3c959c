/// Rows in leaves, for tests of adaptive leaves.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_LEAF_QUANTILE_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_LEAF_QUANTILE_CASE_H_

#include <string>
#include <vector>

#include "objective/leaf_quantile.h"
#include "support/data.h"

namespace xgbgpu::testing {

struct LeafRows {
  std::string name;
  std::size_t nodes;
  std::vector<NodeIndex> positions;
  std::vector<float> residuals, weights;

  std::vector<float> Quantiles(double alpha, bool weighted, int threads) const {
    std::vector<float> values = OldValues();
    host::QuantileLeaves(positions, residuals, weighted ? weights.data() : nullptr, alpha, values, threads);
    return values;
  }
  std::vector<float> Medians(bool weighted, int threads) const { return Quantiles(0.5, weighted, threads); }
  /// Returns the values before quantiles are taken, which nodes without rows keep.
  std::vector<float> OldValues() const {
    std::vector<float> values(nodes);
    for (std::size_t n = 0; n < nodes; ++n) values[n] = 1000.0f + static_cast<float>(n);
    return values;
  }
};

/// What random rows look like.
struct LeafShape {
  std::size_t rows;
  std::size_t nodes;             ///< leaves are nodes with odd numbers, or the only node
  std::size_t levels{0};         ///< distinct residuals; 0: random floats
  std::size_t sampled_out{0};    ///< one row in this number is outside the sample; 0: none
  std::size_t weightless{0};     ///< one row in this number has weight 0; 0: none
  std::size_t in_first_leaf{0};  ///< rows that are in node 1 in any case
};

inline LeafRows RandomLeafRows(std::string name, LeafShape const& shape) {
  LeafRows made{std::move(name), shape.nodes, {}, {}, {}};
  Random random{shape.rows * 131 + shape.nodes};
  std::size_t const leaves = shape.nodes == 1 ? 1 : shape.nodes / 2;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    std::size_t const leaf = row < shape.in_first_leaf ? 0 : random.Below(leaves);
    auto const node = static_cast<NodeIndex>(shape.nodes == 1 ? 0 : 2 * leaf + 1);
    bool const out = shape.sampled_out != 0 && random.Below(shape.sampled_out) == 0;
    made.positions.push_back(out ? ~node : node);
    made.residuals.push_back(shape.levels == 0 ? random.Between(-10, 10)
                                               : static_cast<float>(random.Below(shape.levels)) - 2.0f);
    bool const weighs = shape.weightless == 0 || random.Below(shape.weightless) != 0;
    made.weights.push_back(weighs ? random.Between(0.1f, 4) : 0.0f);
  }
  return made;
}

/// Quantiles to take, as parameters have them: with 0 and 1, the ends.
constexpr float kAlphas[] = {0.5f, 0.0f, 0.05f, 0.3f, 0.9f, 1.0f};

inline std::vector<LeafRows> LeafQuantileCases() {
  std::vector<LeafRows> cases{
      RandomLeafRows("a row", {1, 1}),
      RandomLeafRows("two rows", {2, 1}),
      RandomLeafRows("one leaf", {1001, 1}),
      RandomLeafRows("leaves of a row or none", {40, 127}),
      RandomLeafRows("leaves", {5003, 31}),
      RandomLeafRows("ties", {5003, 31, 5}),
      RandomLeafRows("sampled", {5003, 31, 0, 2}),
      RandomLeafRows("without weight", {5003, 31, 0, 0, 3}),
      RandomLeafRows("everything", {20000, 63, 40, 3, 4}),
      RandomLeafRows("nobody sampled", {300, 7, 0, 1}),
      RandomLeafRows("no weight at all", {300, 7, 0, 0, 1}),
      RandomLeafRows("a large leaf", {150001, 31, 0, 0, 0, 100000}),
      RandomLeafRows("a large leaf of ties", {200000, 3, 3, 5, 7, 100000}),
      RandomLeafRows("many leaves", {100000, 8191}),
  };
  // The median of a leaf of one row has the row's bits. 0 and -0 are equal, and keep the order of their rows.
  LeafRows zeros{"zeros", 9, {1, 3, 3, 5, 5, 5, 7, 7, 7, 7}, {}, {}};
  zeros.residuals = {-0.0f, -0.0f, 0.0f, 0.0f, -0.0f, -0.0f, 1.0f, -0.0f, 0.0f, -1.0f};
  zeros.weights = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  cases.push_back(zeros);
  LeafRows extreme{"extreme", 3, {1, 1, 1, 1, 2, 2}, {}, {}};
  extreme.residuals = {-3e38f, -1e-45f, 1e-45f, 3e38f, 1e38f, -2e38f};
  extreme.weights = {1e-45f, 1e-45f, 1e-45f, 1e-45f, 3e38f, 3e38f};
  cases.push_back(extreme);
  return cases;
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_LEAF_QUANTILE_CASE_H_
