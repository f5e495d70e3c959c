/// Kernels that count sort keys. CUDA builds only.
#ifndef XGBGPU_QUANTILE_KEY_COUNTS_CUDA_H_
#define XGBGPU_QUANTILE_KEY_COUNTS_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "base/hd.h"
#include "cuda/array_upload.h"
#include "quantile/key_counts_ops.h"
#include "quantile/quantile_ops.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// The weights of a piece's rows, or of its pairs.
struct WeightsView {
  float const* weights;  ///< nullptr: every value counts 1
  double scale;          ///< of IntegerWeight

  XGBGPU_HD std::int64_t Of(std::uint64_t i) const { return weights == nullptr ? 1 : IntegerWeight(weights[i], scale); }
};

/// The ends of columns (KeyEnds) in the pieces of one stream.
struct EndsView {
  std::uint32_t *first, *last;                  ///< [columns] smallest and largest key
  std::uint32_t *weighed_first, *weighed_last;  ///< [columns] keys of the known weights
  unsigned long long* values;                   ///< [columns]
  unsigned long long *first_weight, *last_weight;
};

/// The counters of keys. Weight is std::uint32_t if every value counts 1, else unsigned long long.
template <typename Weight>
struct KeyCountsView {
  FeatureIndex columns;  ///< of the pass
  PrefixView prefixes;
  Weight* counters;
  EndsView ends;  ///< for the first digit
};

/// Adds the keys of a piece's values to their counters, and to the ends of columns.
template <typename Weight>
void CountRows(ArrayPiece const& piece, WeightsView const& weights, KeyCountsView<Weight> const& counts,
               cudaStream_t stream);
/// The same for pairs of PackPairs. A key of kNoKey is a value without weight.
template <typename Weight>
void CountPairs(std::uint64_t const* pairs, std::uint64_t n, WeightsView const& weights,
                KeyCountsView<Weight> const& counts, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_KEY_COUNTS_CUDA_H_
