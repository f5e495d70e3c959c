/// Index types and gradients, which every layer shares.
#ifndef XGBGPU_TYPES_H_
#define XGBGPU_TYPES_H_

#include <cstdint>

namespace xgbgpu {

using RowIndex = std::uint32_t;      ///< a row inside one matrix; at most 2^32 - 2 rows
using FeatureIndex = std::uint32_t;  ///< a column
using BinIndex = std::uint32_t;      ///< a bin over all features: Cuts::ptr[feature] + local bin
using NodeIndex = std::int32_t;      ///< a node of one tree; the root is 0

constexpr NodeIndex kNoNode = -1;

/// First and second derivative of the loss of a row, times the row's weight.
struct GradientPair {
  float grad;
  float hess;
};

/// A sum of gradients in fixed point, in units that the gradients of a tree decide. It is exact, so the order of
/// additions does not matter.
struct GradientSum {
  std::int64_t grad{0};
  std::int64_t hess{0};

  friend constexpr bool operator==(GradientSum const& a, GradientSum const& b) {
    return a.grad == b.grad && a.hess == b.hess;
  }
  friend constexpr bool operator!=(GradientSum const& a, GradientSum const& b) { return !(a == b); }
  constexpr GradientSum& operator+=(GradientSum other) {
    grad += other.grad;
    hess += other.hess;
    return *this;
  }
  constexpr GradientSum& operator-=(GradientSum other) {
    grad -= other.grad;
    hess -= other.hess;
    return *this;
  }
  friend constexpr GradientSum operator+(GradientSum a, GradientSum b) { return a += b; }
  friend constexpr GradientSum operator-(GradientSum a, GradientSum b) { return a -= b; }
};

}  // namespace xgbgpu

#endif  // XGBGPU_TYPES_H_
