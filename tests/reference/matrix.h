/// Slow, obvious versions of what the engine does, to test it against. They share only public types with it, keep all
/// data dense, and follow each rule in the plainest way.
#ifndef XGBGPU_TESTS_REFERENCE_MATRIX_H_
#define XGBGPU_TESTS_REFERENCE_MATRIX_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "xgbgpu/cuts.h"
#include "xgbgpu/types.h"

namespace xgbgpu::reference {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// [rows, features] raw values; NaN where there is none.
struct Values {
  Values(std::size_t n_rows, std::size_t n_features)
      : rows{n_rows}, features{n_features}, at(n_rows * n_features, kMissing) {}

  float& operator()(std::size_t r, std::size_t f) { return at[r * features + f]; }
  float operator()(std::size_t r, std::size_t f) const { return at[r * features + f]; }

  std::size_t rows;
  std::size_t features;
  std::vector<float> at;
};

constexpr int kNoBin = -1;

/// [rows, features] feature-local bins; kNoBin where the value is missing.
struct Bins {
  int operator()(std::size_t r, std::size_t f) const { return at[r * features + f]; }

  std::size_t rows;
  std::size_t features;
  std::vector<int> at;
};

/// Makes exact weighted quantiles of every column. `weights`: [rows] multiples of 2^-16 below 2^16, or empty.
/// `categorical`: [features], or empty: where it is 1, bin b is category b, up to the largest.
Cuts MakeCuts(Values const& values, std::vector<float> const& weights, int max_bin,
              std::vector<std::uint8_t> const& categorical = {});

/// Bin b holds [cut b-1, cut b); the first has no lower end, the last no upper end.
Bins MakeBins(Values const& values, Cuts const& cuts);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_MATRIX_H_
