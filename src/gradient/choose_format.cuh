/// Chooses the format of gradients in the kernels that read them.
#ifndef XGBGPU_GRADIENT_CHOOSE_FORMAT_CUH_
#define XGBGPU_GRADIENT_CHOOSE_FORMAT_CUH_

#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "gradient/gradient_cuda.h"
#include "gradient/gradient_ops.h"

namespace xgbgpu::cuda {

/// Writes the chosen format. One thread calls it.
__device__ inline void WriteFormat(std::uint64_t rows, GradientMaxima maxima, bool narrow, GradientState* state) {
  state->format = MakeGradientFormat(rows, maxima.grad, maxima.hess, narrow);
  state->grad_scale = ScaleByPowerOfTwo(1.0, state->format.grad_shift);
  state->hess_scale = ScaleByPowerOfTwo(1.0, state->format.hess_shift);
}

/// Chooses the format from the sums over all `rows` rows, and writes it. `looked`: there are sums. One thread calls it.
__device__ inline void WriteFormatFromSums(std::uint64_t rows, GradientMaxima maxima, bool looked,
                                           FormatSums const& sums, float min_child_weight, GradientState* state) {
  bool const narrow = looked && MayBeNarrow(sums, rows, min_child_weight, maxima);
  WriteFormat(rows, maxima, narrow, state);
  // The largest hessian is then 2^(bits - 1) units.
  state->high_hessians =
      looked && !narrow && WideBits(rows) > 32 && AreHessiansAlike(sums.coarse.hess, rows, maxima.hess);
}

/// Writes the predicted format and returns true if it is the format of `rows` early gradients. Returns false if it is
/// wrong or uncertain: a kernel must then read the gradients. All threads of all blocks get the same result.
__device__ inline bool WriteForeseen(std::uint64_t rows, EarlyGradients const& early, float min_child_weight,
                                     GradientState* state) {
  GradientMaxima const maxima = state->maxima;
  if (!early.ForeseeNarrow() || rows < kNarrowMinRows || !AreAlike(*early.maxima_before, maxima) ||
      !MustBeNarrow(state->early.magnitudes, rows) ||
      (state->early.vanishing != 0 && !MayVanish(min_child_weight, maxima.hess))) {
    return false;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    WriteFormat(rows, maxima, true, state);
    state->foreseen = true;
  }
  return true;
}

/// Sums the gradients that for_each(f) passes to f, of some or all of `rows` rows. If the device is `alone`, these are
/// all rows, and the last block chooses the format. Otherwise FinishFormat does. All threads of all blocks call it.
template <int kBlockThreads, typename ForEach>
__device__ void ChooseBySums(std::uint64_t rows, GradientMaxima maxima, bool alone, float min_child_weight,
                             GradientState* state, ForEach&& for_each) {
  // The caller reports values that are not finite. Until then they must only do no harm.
  bool const looked = rows >= kNarrowMinRows && maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
  if (looked) {
    FloatScale const grad_scale = CoarseScale(maxima.grad), hess_scale = CoarseScale(maxima.hess);
    NarrowScales const narrow = MakeNarrowScales(MakeGradientFormat(1, maxima.grad, maxima.hess, true));
    std::int64_t grad = 0, hess = 0;
    bool vanishes = false;
    for_each([&](GradientPair v) {
      grad += CoarseMagnitude(v.grad, grad_scale);
      hess += CoarseMagnitude(v.hess, hess_scale);
      vanishes |= HessianVanishes(v, narrow);
    });
    AddBlockSum<kBlockThreads>({grad, hess}, &state->sums.coarse);
    CountBlockIfAny(vanishes, &state->sums.vanishing);
  }
  if (!alone) return;
  if (IsLastBlock(&state->finished_blocks, gridDim.x) && threadIdx.x == 0) {
    state->maxima = maxima;
    WriteFormatFromSums(rows, maxima, looked, LoadFresh(&state->sums), min_child_weight, state);
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_CHOOSE_FORMAT_CUH_
