/// Gauss-Legendre quadrature: exact integrals of polynomials over [0, 1] as sums.
#ifndef XGBGPU_PREDICT_QUADRATURE_H_
#define XGBGPU_PREDICT_QUADRATURE_H_

#include <vector>

namespace xgbgpu {

struct QuadratureNode {
  double at;      ///< t, inside (0, 1)
  double rest;    ///< 1 - t, not computed from t
  double weight;  ///< > 0; the sum of all is 1
};

/// Returns the rule of n > 0 nodes, t ascending: ∫ p(t) dt over [0, 1] = Σ weight · p(at) for polynomials p of degree <
/// 2 n. Uses + - * / alone, so every machine has the same rule.
///
/// Cost  about 50 n^2
/// From  Legendre polynomials by their recurrence, which is a Sturm sequence: its changes of sign at x count the zeros
///       beyond x (Golub, Welsch, "Calculation of Gauss quadrature rules", Math. Comp. 23 (1969), for the background)
std::vector<QuadratureNode> GaussLegendre(int n);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_QUADRATURE_H_
