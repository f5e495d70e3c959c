/// Stage 3: float gradients → fixed point.
#ifndef XGBGPU_GRADIENT_GRADIENT_H_
#define XGBGPU_GRADIENT_GRADIENT_H_

#include <cstdint>

#include "base/float_bits.h"
#include "base/hd.h"
#include "core/fixed_point.h"
#include "core/random.h"
#include "xgbgpu/collective.h"
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
///
/// A hessian vanishes if it lies between 0 and one unit, and the row's gradient, counted from its own largest, is more
/// than kNarrowApart times as large (outliers of reg:pseudohubererror). The narrow format rounds such a hessian to 0 as
/// a rule, a sum of 0 is no side of a split, and the gradient is lost with it. So no hessian may vanish, unless
/// min_child_weight is kNarrowLeastWeight units or more. Then such rows make no side alone, and the noise of a side that
/// counts is at most 1 / sqrt(kNarrowLeastWeight) of its hessian sum: a hessian of p < 1 units is rounded with a
/// variance of p (1 - p) < p. If no hessian vanishes, a side of less than one unit has gradients of less than
/// kNarrowApart units, 1/256 of the largest.
constexpr std::uint64_t kNarrowMinRows = 1 << 16;
constexpr int kNarrowPeak = 1024;
constexpr int kNarrowApart = 64;
constexpr int kNarrowLeastWeight = 256;

/// Largest magnitudes of gradients and hessians, as MagnitudeBits (gradient_ops.h).
struct alignas(8) GradientMaxima {
  std::uint32_t grad, hess;
};
/// Is no gradient NaN or infinite?
XGBGPU_HD bool IsFinite(GradientMaxima const& maxima) {
  return maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
}

/// Sums over the rows of a tree that tell whether its gradients may have the narrow format.
struct FormatSums {
  GradientSum coarse;         ///< sums of CoarseMagnitude (gradient_ops.h)
  std::int64_t vanishing{0};  ///< above 0: the hessian of some row vanishes
};

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
///         min_child_weight of the tree
/// Cost    one or two passes over the gradients; no allocation
/// Same    bit-equal on every backend, thread count and number of shards
/// Throws  as LargestGradients
GradientFormat ChooseGradientFormat(Span<GradientPair const> gradients, std::size_t rows, float min_child_weight,
                                    int threads, Collective& collective = NoOtherShards());

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
