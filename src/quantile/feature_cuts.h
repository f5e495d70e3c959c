/// From the values chosen in a sorted column to its bins, and what is checked before: one source for all backends.
#ifndef XGBGPU_QUANTILE_FEATURE_CUTS_H_
#define XGBGPU_QUANTILE_FEATURE_CUTS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// The bins of one feature while its neighbours are still being worked on.
struct FeatureCuts {
  float min_value;
  std::vector<float> values;
};

/// Returns the one empty bin of a column without values.
FeatureCuts CutsOfEmptyColumn();

/// Returns at most `bins` bins. `first` and `last` are the keys of the column's smallest and largest value. `taken` are
/// the keys of the values that become cuts, ascending, without the smallest, below which nothing lies.
FeatureCuts CutsOfValues(std::uint32_t first, std::uint32_t last, std::uint64_t bins, Span<std::uint32_t const> taken);

/// Returns bins whose lower ends are `keys`, ascending and one at least. `distinct` is how many the column has in all.
/// Throws InvalidArgument (more than kMaxBinLimit).
FeatureCuts CutsOfEdges(FeatureIndex feature, std::uint64_t distinct, Span<std::uint32_t const> keys);

/// Throws InvalidArgument where bins of all features do not fit a BinIndex.
Cuts JoinCuts(std::vector<FeatureCuts> const& features);

/// Throws InvalidArgument (size, negative, infinite, NaN).
void CheckWeights(std::uint64_t rows, Span<float const> weights);

/// Returns the scale for IntegerWeight(weight, scale). With it no weight is above 2^45 and no sum above 2^62.
double WeightScale(float largest, std::uint64_t rows);
double WeightScale(Span<float const> weights);

/// Throws InvalidArgument: a value is infinite, or of a column that does not exist.
[[noreturn]] void ThrowBadValue(std::uint64_t row, Entry const& entry, FeatureIndex features);

/// Throws InvalidArgument if a row has two values of one feature; NaN is no value.
void CheckEachFeatureOnce(std::uint64_t row, Span<Entry const> values);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_FEATURE_CUTS_H_
