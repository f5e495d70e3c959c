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

/// The gradients of one tree in fixed point. One of the two arrays is in use, as `format.narrow` says.
struct GradientView {
  GradientFormat format;
  NarrowGradient const* narrow{nullptr};  ///< [rows]
  GradientSum const* wide{nullptr};       ///< [rows]
};

/// The narrow format is for many rows, if no few large gradients or hessians drown all other rows.
///
/// Its unit is 2^-14 of the power of two above the largest magnitude. The rounding noise of a row has a standard
/// deviation of at most half a unit. A mean of at least 1 / kNarrowPeak of the power of two is 16 units. So the noise
/// is at most 1/32 of the mean, and adds less than 0.001 to the relative variance that a sum has from its selection of
/// rows. Rows far below the mean are rounded to nothing or to much. That is harmless if their hessians are small, too,
/// as with rare labels or large weights, because min_child_weight and lambda count in hessians. It is harmful if
/// gradients with equal hessians lie decades apart. So the means of gradients and hessians, each relative to its
/// largest magnitude, must lie within a factor of kNarrowApart of each other.
///
/// A hessian vanishes if it lies between 0 and one unit, and the row's gradient, relative to the largest, is more than
/// kNarrowApart times as large (outliers of reg:pseudohubererror). The narrow format usually rounds such a hessian to
/// 0. A sum of 0 is no side of a split, so the gradient is lost, too. So no hessian may vanish, unless min_child_weight
/// is at least kNarrowLeastWeight units. Then such rows alone make no side, and the noise of a valid side is at most 1
/// / sqrt(kNarrowLeastWeight) of its hessian sum: a hessian of p < 1 units is rounded with a variance of p (1 - p) < p.
/// If no hessian vanishes, a side of less than one unit has gradients of less than kNarrowApart units, 1/256 of the
/// largest.
constexpr std::uint64_t kNarrowMinRows = 1 << 16;
constexpr int kNarrowPeak = 1024;
constexpr int kNarrowApart = 64;
constexpr int kNarrowLeastWeight = 256;

/// The end of every error about gradients that are not finite.
constexpr char const* kCausesOfBadGradients =
    "The usual causes: a label, weight or base_margin that is NaN or infinite, a custom objective that returns such "
    "numbers, or margins that have grown so large that the objective overflows (learning_rate or base_margin is too "
    "large)";

/// Largest magnitudes of gradients and hessians, as MagnitudeBits (gradient_ops.h).
struct alignas(8) GradientMaxima {
  std::uint32_t grad, hess;
};
/// Returns true if no gradient is NaN or infinite.
XGBGPU_HD bool IsFinite(GradientMaxima const& maxima) {
  return maxima.grad < kNotFiniteBits && maxima.hess < kNotFiniteBits;
}

/// Sums over the rows of a tree that decide if its gradients may have the narrow format.
struct FormatSums {
  GradientSum coarse;         ///< sums of CoarseMagnitude (gradient_ops.h)
  std::int64_t vanishing{0};  ///< above 0: a row's hessian vanishes
};

namespace host {

/// Returns the largest magnitudes of all shards' gradients. `gradients` are this shard's. In messages its first row has
/// the number `first_row`.
///
/// Cost    one pass over the gradients
/// Throws  InvalidArgument if a gradient is NaN or infinite: the shard with the gradient names row and value
GradientMaxima LargestGradients(Span<GradientPair const> gradients, int threads,
                                Collective& collective = NoOtherShards(), std::uint64_t first_row = 0);

/// Chooses format and unit of one tree from maxima and integer sums: a function of the set of rows, not of their order.
///
/// In      gradients, times their weights, of this shard's part of the `rows` rows that the tree is grown on, and zeros
///         min_child_weight of the tree
/// Cost    one or two passes over the gradients; no allocation
/// Same    bit-equal on every backend, thread count and number of shards
/// Throws  as LargestGradients
GradientFormat ChooseGradientFormat(Span<GradientPair const> gradients, std::size_t rows, float min_child_weight,
                                    int threads, Collective& collective = NoOtherShards(), std::uint64_t first_row = 0);

/// Brings the formats of the outputs of one tree, each chosen alone for `rows` rows, to one kind: narrow if all are.
void AgreeOnFormats(Span<GradientFormat> formats, std::size_t rows);

/// Writes the gradients as integers of `format` to `narrow` or `wide` ([rows]; the unused array may be empty). The
/// first gradient belongs to row `first_row` of all shards.
/// Cost  one pass, no allocation.  Same  bit-equal on every backend, thread count and number of shards.
void QuantiseGradients(Span<GradientPair const> gradients, GradientFormat format, RandomStream const& rounding,
                       Span<NarrowGradient> narrow, Span<GradientSum> wide, int threads, std::uint64_t first_row = 0);

/// Returns the sum over all rows. Exact.
GradientSum SumGradients(GradientView const& gradients, std::size_t rows, int threads);

/// Writes the narrow gradient of every listed row, if the format is narrow, and returns the sum over the rows. Exact.
GradientSum AttachGradients(GradientView const& gradients, Span<RowRecord> rows, int threads);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_GRADIENT_GRADIENT_H_
