/// Gradients of one output, computed from margins and labels where they are needed.
#ifndef XGBGPU_OBJECTIVE_ROW_GRADIENTS_CUH_
#define XGBGPU_OBJECTIVE_ROW_GRADIENTS_CUH_

#include <cstdint>
#include <type_traits>

#include "objective/objective_cuda.h"
#include "objective/objective_ops.h"

namespace xgbgpu::cuda {

/// Computes the gradients of one Loss (VisitLoss). The caller passes margins: their address changes from tree to tree.
/// All arrays are aligned to 16 bytes.
template <typename Loss>
struct RowGradients {
  Loss loss;
  float const* labels;
  float const* weights;  ///< nullptr: all 1

  __device__ GradientPair Of(std::uint64_t row, float const* margins) const {
    return loss(margins[row], labels[row], weights == nullptr ? 1.0f : weights[row]);
  }
  /// Computes gradients first … first + 3, which must all exist. `first` is a multiple of four.
  __device__ void Four(std::uint64_t first, float const* margins, GradientPair (&v)[4]) const {
    if constexpr (std::is_same_v<Loss, LogisticLoss>) {
      float denominator[4], label[4], weight[4];
      ForFour(first, margins, [&](int i, float f, float y, float w) {
        denominator[i] = OnePlusExp(f);
        label[i] = y;
        weight[i] = w;
      });
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = loss.OfDenominator(denominator[i], label[i], weight[i]);
    } else {
      ForFour(first, margins, [&](int i, float f, float y, float w) { v[i] = loss(f, y, w); });
    }
  }
  /// Calls use(i, margin, label, weight) for the rows first + i, i < 4, which must all exist. `first` is a multiple of
  /// four.
  template <typename F>
  __device__ void ForFour(std::uint64_t first, float const* margins, F&& use) const {
    auto const load = [&](float const* from) { return *reinterpret_cast<float4 const*>(from + first); };
    float4 const f = load(margins), y = load(labels);
    float4 const w = weights == nullptr ? make_float4(1.0f, 1.0f, 1.0f, 1.0f) : load(weights);
    use(0, f.x, y.x, w.x);
    use(1, f.y, y.y, w.y);
    use(2, f.z, y.z, w.z);
    use(3, f.w, y.w, w.w);
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_ROW_GRADIENTS_CUH_
