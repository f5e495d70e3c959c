/// Makes bins from the chosen values of a sorted column, and checks input. All backends share it.
#ifndef XGBGPU_QUANTILE_FEATURE_CUTS_H_
#define XGBGPU_QUANTILE_FEATURE_CUTS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// The bins of one feature, before all features are joined.
struct FeatureCuts {
  float min_value;
  std::vector<float> values;
};

/// Returns the empty bin of a column without values.
FeatureCuts CutsOfEmptyColumn();

/// Returns at most `bins` bins. `first` and `last` are the keys of the column's smallest and largest value. `taken` has
/// the keys of values that become cuts, ascending, without the smallest, which needs no cut.
FeatureCuts CutsOfValues(std::uint32_t first, std::uint32_t last, std::uint64_t bins, Span<std::uint32_t const> taken);

/// Returns bins with `keys` as lower ends, one or more, ascending. `distinct` is the number of the column's distinct
/// values. Throws InvalidArgument (more than kMaxBinLimit).
FeatureCuts CutsOfEdges(FeatureIndex feature, std::uint64_t distinct, Span<std::uint32_t const> keys);

/// Throws InvalidArgument if the bins of all features do not fit a BinIndex.
Cuts JoinCuts(std::vector<FeatureCuts> const& features);

/// Throws InvalidArgument (size, negative, infinite, NaN).
void CheckWeights(std::uint64_t rows, Span<float const> weights);

/// Returns the scale for IntegerWeight(weight, scale). It keeps every weight at 2^45 or below and every sum at 2^62 or
/// below.
double WeightScale(float largest, std::uint64_t rows);
double WeightScale(Span<float const> weights);

/// Throws InvalidArgument: a value is infinite, or its feature does not exist.
[[noreturn]] void ThrowBadValue(std::uint64_t row, Entry const& entry, FeatureIndex features);

/// Throws InvalidArgument if a row has two values of one feature. NaN is no value.
void CheckEachFeatureOnce(std::uint64_t row, Span<Entry const> values);

}  // namespace xgbgpu

#endif  // XGBGPU_QUANTILE_FEATURE_CUTS_H_
