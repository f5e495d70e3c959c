/// Tuning numbers of the histogram stage. Changing one changes speed, never a result.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct HostHistogramPolicy {
  /// Most rows of one task. It must not grow: the overflow proof of packed sums allows 2^16.
  std::uint32_t chunk_rows{1 << 16};
  /// Least rows of one task of a divided node. With fewer rows the scratch costs more to clear and merge than it saves.
  std::uint32_t least_chunk_rows{1 << 11};
  /// Values of a chunk for each cell of the scratch that it clears and merges: the least number, and the preferred
  /// number.
  double least_values_per_cell{2};
  double values_per_cell{16};
  /// Preferred tasks per thread, so that uneven tasks balance.
  std::uint32_t tasks_per_thread{4};
  /// Cells of one block of features: 256 KiB of packed sums, half of a usual second-level cache.
  std::uint32_t block_cells{1 << 15};
  /// Least values per cell of a node that is summed in scratch. A smaller node is summed directly.
  std::uint32_t scratch_values_per_cell{1};
  /// Rows to prefetch ahead of the current one.
  std::uint32_t prefetch_rows{16};
  /// Memory for histograms of nodes that wait for their split. A histogram that does not fit is summed again when
  /// needed.
  std::size_t cache_bytes{std::size_t{1} << 30};
};

struct DeviceHistogramPolicy {
  /// Histograms take at most this part of the memory that is free at the start of a trainer, …
  double part{0.4};
  /// … and never more than this.
  std::size_t most_bytes{std::size_t{8} << 30};
  /// Least number of units (RowLists::unit_rows) of a block. With more units fewer blocks clear and merge sums.
  std::uint32_t least_units{1};
};

}  // namespace xgbgpu

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_
