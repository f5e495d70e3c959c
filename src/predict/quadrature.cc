// Computes the nodes of Gauss-Legendre rules by bisection.
#include "predict/quadrature.h"

#include <cstddef>

namespace xgbgpu {

namespace {

/// Values of Legendre polynomials at x, up to degree n.
struct Legendre {
  int zeros_beyond;  ///< zeros of the polynomial of degree n that are greater than x
  double before;     ///< value of the polynomial of degree n - 1
};

Legendre Evaluate(int n, double x) {
  double before = 0, value = 1;
  int changes = 0;
  for (int m = 0; m < n; ++m) {
    double const next = ((2 * m + 1) * x * value - m * before) / (m + 1);
    if ((next < 0) != (value < 0)) ++changes;
    before = value;
    value = next;
  }
  return {changes, before};
}

/// Returns the zero in (0, 1) that has `beyond` zeros above it.
double PositiveZero(int n, int beyond) {
  double low = 0, high = 1;
  for (;;) {
    double const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;  // neighbours
    if (Evaluate(n, middle).zeros_beyond > beyond) {
      low = middle;
    } else {
      high = middle;
    }
  }
}

}  // namespace

std::vector<QuadratureNode> GaussLegendre(int n) {
  std::vector<QuadratureNode> nodes(static_cast<std::size_t>(n));
  for (int i = 0; 2 * i < n; ++i) {
    double const x = 2 * i + 1 == n ? 0.0 : PositiveZero(n, i);
    double const scaled = n * Evaluate(n, x).before;
    double const weight = (1 - x) * (1 + x) / (scaled * scaled);
    nodes[static_cast<std::size_t>(n - 1 - i)] = {(1 + x) / 2, (1 - x) / 2, weight};
    nodes[static_cast<std::size_t>(i)] = {(1 - x) / 2, (1 + x) / 2, weight};
  }
  return nodes;
}

}  // namespace xgbgpu
