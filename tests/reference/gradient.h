/// Fixed point gradients and samples of rows, as src/core/fixed_point.h and src/sample/sample.h describe them in words.
#ifndef XGBGPU_TESTS_REFERENCE_GRADIENT_H_
#define XGBGPU_TESTS_REFERENCE_GRADIENT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "xgbgpu/params.h"
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

/// Makes integers of gradients. The tree is grown on `counted` rows; the gradients of the others are zero.
FixedPoint Quantise(std::vector<GradientPair> const& gradients, std::size_t counted, float min_child_weight,
                    std::uint64_t seed, std::uint32_t tree);

/// The rows of a sample, ascending, and the gradients that a tree on it uses: [rows of the data], zero outside it.
struct Sample {
  std::vector<RowIndex> rows;
  std::vector<GradientPair> gradients;
};

/// Draws a sample as `params` say, by the keys, thresholds and chances that src/sample/sample_ops.h describes in words.
Sample SampleRows(std::vector<GradientPair> const& gradients, TrainParams const& params, std::uint32_t tree);

/// Returns the rows whose draw is below subsample · 2^32, ascending.
std::vector<RowIndex> SampleRows(std::size_t rows, float subsample, std::uint64_t seed, std::uint32_t tree);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_GRADIENT_H_
