/// Consecutive rows of a source, as a source of their own.
#ifndef XGBGPU_CORE_ROW_SLICE_H_
#define XGBGPU_CORE_ROW_SLICE_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Shards and pages of a device begin at multiples of kRowStep rows. Metrics sum rows in blocks of kSumBlock
/// (metric/metric_sum.h), and blocks of random numbers divide it.
inline constexpr std::uint64_t kRowStep = 2048;

/// Rows [first, first + n) of another source, numbered from 0. An array stays an array; its values are not copied.
/// Batches and arrays lose the rows outside the slice. A batch or array without rows in the slice is left out.
class RowSlice final : public RowSource {
 public:
  /// `whole` must outlive the slice. Throws InvalidArgument if `whole` has fewer than first + n rows.
  RowSlice(RowSource const& whole, std::uint64_t first, std::uint64_t n);

  std::uint64_t rows() const override { return n_; }
  FeatureIndex features() const override { return whole_.features(); }
  Span<std::uint8_t const> categorical() const override { return whole_.categorical(); }
  std::optional<DenseValues> dense() const override;
  std::optional<DenseValues> arrays() const override;
  /// Cost  the other source makes all its arrays, unless the slice has no rows
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override;
  /// Cost  the other source makes all its batches, unless the slice has no rows
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override;

 private:
  RowSource const& whole_;
  std::uint64_t first_;
  std::uint64_t n_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_ROW_SLICE_H_
