/// Fixed point gradients and samples of rows, as src/core/fixed_point.h and src/sample/sample.h describe them in words.
#ifndef XGBGPU_TESTS_REFERENCE_GRADIENT_H_
#define XGBGPU_TESTS_REFERENCE_GRADIENT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "xgbgpu/types.h"

namespace xgbgpu::reference {

/// Philox-4x32-10 (Salmon et al. 2011).
std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Gradients as integers: value ≈ integer · 2^-shift.
struct FixedPoint {
  bool narrow;
  int grad_shift;
  int hess_shift;
  std::vector<GradientSum> rows;
};

FixedPoint Quantise(std::vector<GradientPair> const& gradients, std::uint64_t seed, std::uint32_t tree);

/// The rows whose draw is below subsample · 2^32, ascending.
std::vector<RowIndex> SampleRows(std::size_t rows, float subsample, std::uint64_t seed, std::uint32_t tree);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_GRADIENT_H_
