/// Stage 9, explained in pairs: the joint terms of two features in a row's margin. Contract of the host's functions.
///
/// In      as for contributions (contributions.h)
/// Out     [rows, outputs, features + 1, features + 1], row-major, symmetric. Off the diagonal: the Shapley interaction
///         index of two features, half of it in each of the two places. On the diagonal: the feature's remaining term,
///         so that the sum of a line is its contribution. The last line and column are 0, except their common element,
///         which is the mean of the trees' output. The caller adds the base score to the mean.
/// Same    bit-equal on every backend, for any number of threads: per row and pair a double sum over paths, tree after
///         tree, rounded to float once; shared terms are subtracted from a contribution in the order of features, in
///         double
/// Cost    for a row, D^3 / 4 multiplications for each path that tests D features
///
/// Method. With o, z, v of contributions.h, the index of a pair is the integral of the second derivative of the
/// multilinear extension along the diagonal (Grabisch, Roubens): one half of
///     v (o_i - z_i) (o_j - z_j) ∫ Π_{l ≠ i, j} (t o_l + (1 - t) z_l) dt over [0, 1],
/// a polynomial of degree D - 2, for which the path's rule is exact. Factors are divided out as in contributions.h.
///
/// Error   With u = 2^-24, of one path: the product of D factors to 5 D u, weight and leaf 3 u, for each of the two
///         features a factor and its inverse (5 u), 1 - z (2 u), two products (2 u), and at most D/2 additions.
///         Together (6 D + 24) u |v| / 2 max(o_i, z_i) max(o_j, z_j) ∫…
///
/// From  Fujimoto, Kojadinovic, Marichal, "Axiomatic characterizations of probabilistic and cardinal-probabilistic
///       interaction indices", Games and Economic Behavior 55 (2006); Grabisch, Roubens, "An axiomatic approach to the
///       concept of interaction among players in cooperative games", Int. J. Game Theory 28 (1999); XGBoost (shape and
///       meaning of the output)
#ifndef XGBGPU_PREDICT_INTERACTIONS_H_
#define XGBGPU_PREDICT_INTERACTIONS_H_

#include <cstddef>
#include <cstdint>

#include "predict/contributions.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The output array of interactions: [rows, outputs, features + 1, features + 1].
struct InteractionsView {
  float* data;
  std::uint64_t rows;
  std::uint32_t outputs;
  FeatureIndex features;

  XGBGPU_HD std::size_t columns() const { return std::size_t{features} + 1; }
  XGBGPU_HD float* at(std::uint64_t row, std::uint32_t output) const {
    return data + (row * outputs + output) * columns() * columns();
  }
  std::size_t row_size() const { return outputs * columns() * columns(); }
};

/// Checks `out` like CheckContributions.
void CheckInteractions(InteractionsView const& out, RowSource const& source, PathForest const& forest);

namespace host {

/// Computes the interactions by trees first … last - 1.
///
/// Throws  InvalidArgument (range of trees, shape of `out`, a row with a feature that `out` does not have)
void PredictInteractions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                         InteractionsView out, int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_INTERACTIONS_H_
