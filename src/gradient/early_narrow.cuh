/// Quantises gradients in the kernel that computes them, before the format of their tree is known: in the narrow format
/// for maxima like the last tree's. docs/adr/0012-samples.md
#ifndef XGBGPU_GRADIENT_EARLY_NARROW_CUH_
#define XGBGPU_GRADIENT_EARLY_NARROW_CUH_

#include "cuda/block_totals.cuh"
#include "gradient/gradient_cuda.h"
#include "gradient/gradient_ops.h"

namespace xgbgpu::cuda {

/// Quantises gradients early. If the tree gets another format, gradients may exceed the early format's range.
/// Conversions saturate then, and the results are not used.
class EarlyNarrow {
 public:
  explicit __device__ EarlyNarrow(EarlyGradients const& early) : on_{early.ForeseeNarrow()} {
    if (!on_) return;
    GradientMaxima const like = *early.maxima_before;
    scales_ = MakeNarrowScales(MakeGradientFormat(1, like.grad, like.hess, true));
  }
  /// Returns true if there are early gradients.
  __device__ bool on() const { return on_; }
  /// Quantises gradients, each with its random word, and adds them to the sums.
  template <int kRows>
  __device__ void Add(GradientPair const (&v)[kRows], std::uint32_t const (&random)[kRows],
                      NarrowGradient (&narrow)[kRows]) {
    // Each is at most 2^15, so the sum fits 32 bits, which takes half the additions.
    static_assert(kRows < 1 << 16);
    std::int32_t grad = 0, hess = 0, of_grad = 0, of_hess = 0;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      NarrowGradient const q = QuantiseNarrow(v[i], scales_, random[i]);
      narrow[i] = q;
      vanishes_ |= HessianVanishes(v[i], scales_);
      grad += q.grad;
      hess += q.hess;
      of_grad += abs(q.grad);
      of_hess += abs(q.hess);
    }
    sum_.grad += grad;
    sum_.hess += hess;
    magnitudes_.grad += of_grad;
    magnitudes_.hess += of_hess;
  }
  /// Adds the sums of the block to *to. All threads of the block call it once.
  template <int kBlockThreads>
  __device__ void HandOn(EarlySums* to) const {
    if (!on_) return;
    AddBlockSum<kBlockThreads>(sum_, &to->narrow);
    AddBlockSum<kBlockThreads, 1>(magnitudes_, &to->magnitudes);
    CountBlockIfAny(vanishes_, &to->vanishing);
  }

 private:
  bool on_;
  NarrowScales scales_{};
  GradientSum sum_, magnitudes_;
  bool vanishes_{false};  ///< a row's hessian vanishes
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_EARLY_NARROW_CUH_
