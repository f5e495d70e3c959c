/// Stage 3: float gradients → fixed point.
#ifndef XGBGPU_GRADIENT_GRADIENT_H_
#define XGBGPU_GRADIENT_GRADIENT_H_

#include <cstdint>

#include "collective/collective.h"
#include "core/fixed_point.h"
#include "core/float_bits.h"
#include "core/hd.h"
#include "core/random.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The gradients of one tree in fixed point: exactly one of the two arrays is in use, as `format.narrow` says.
struct GradientView {
  GradientFormat format;
  NarrowGradient const* narrow{nullptr};  ///< [rows]
  GradientSum const* wide{nullptr};       ///< [rows]
};

/// The narrow format serves where many rows share the work, and few large gradients or hessians do not drown the rest.
///
/// Its unit is 2^-14 of the power of two above the largest magnitude; the rounding noise of a row has a standard
/// deviation of at most half a unit. A mean of at least 1 / kNarrowPeak of that power is 16 units: the noise is at most
/// 1/32 of it, and adds less than 0.001 to the relative variance that a sum has anyway from the rows it happens to
/// hold. Rows far below the mean are rounded to nothing or to much. That does no harm where gradients are small because
/// hessians are, as with rare labels or large weights: min_child_weight and lambda count in hessians. It does where
/// gradients of equal hessians lie decades apart: hence the means of both must lie within a factor of kNarrowApart of
/// each other, each counted from its own largest.
constexpr std::uint64_t kNarrowMinRows = 1 << 16;
constexpr int kNarrowPeak = 1024;
constexpr int kNarrowApart = 64;

/// Largest magnitudes of gradients and hessians, as MagnitudeBits (gradient_ops.h).
struct alignas(8) GradientMaxima {
  std::uint32_t grad, hess;
};
/// Is no gradient NaN or infinite?
XGBGPU_HD bool IsFinite(GradientMaxima const& maxima) {
  return maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
}

namespace host {

/// Largest magnitudes of all shards' gradients; `gradients` are those of this shard's rows, of which messages count
/// `first_row` the first.
///
/// Cost    one pass over the gradients
/// Throws  InvalidArgument if one is NaN or infinite: it names row and value, in the shard that has it
GradientMaxima LargestGradients(Span<GradientPair const> gradients, int threads,
                                Collective& collective = NoOtherShards(), std::uint64_t first_row = 0);

/// Chooses format and unit for one tree from maxima and integer sums, hence from the set of rows, not their order.
///
/// In      gradients, times their weights, of the `rows` rows of all shards that the tree is grown on, and zeros; here
///         those of this shard
/// Cost    one or two passes over the gradients; no allocation
/// Same    bit-equal on every backend, thread count and number of shards
/// Throws  as LargestGradients
GradientFormat ChooseGradientFormat(Span<GradientPair const> gradients, std::size_t rows, int threads,
                                    Collective& collective = NoOtherShards());
inline GradientFormat ChooseGradientFormat(Span<GradientPair const> gradients, int threads) {
  return ChooseGradientFormat(gradients, gradients.size(), threads);
}

/// Writes the gradients as integers of `format` to `narrow` or `wide` ([rows], the other may be empty). The first one
/// is of row `first_row` of all shards.
/// Cost  one pass, no allocation.  Same  bit-equal on every backend, thread count and number of shards.
void QuantiseGradients(Span<GradientPair const> gradients, GradientFormat format, RandomStream const& rounding,
                       Span<NarrowGradient> narrow, Span<GradientSum> wide, int threads, std::uint64_t first_row = 0);

/// Returns the sum over all rows. Exact.
GradientSum SumGradients(GradientView const& gradients, std::size_t rows, int threads);

/// Gives every listed row its narrow gradient, if that is the format, and returns the sum over the rows. Exact.
GradientSum AttachGradients(GradientView const& gradients, Span<RowRecord> rows, int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_GRADIENT_GRADIENT_H_
