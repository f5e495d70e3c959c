/// Tuning numbers of the histogram stage. Changing one changes speed, never a result.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct HostHistogramPolicy {
  /// Most rows of one task. It must not grow: 2^16 is what the overflow proof of packed sums allows.
  std::uint32_t chunk_rows{1 << 16};
  /// Least rows of one task, if a node is cut at all: with fewer, clearing and merging the scratch costs more than it
  /// saves.
  std::uint32_t least_chunk_rows{1 << 11};
  /// Values for each cell of the scratch that a chunk clears and merges: those it must have, and those it should have.
  double least_values_per_cell{2};
  double values_per_cell{16};
  /// Tasks per thread to aim for, so that uneven ones balance.
  std::uint32_t tasks_per_thread{4};
  /// Cells of one block of features: 256 KiB of packed sums, half of a usual second-level cache.
  std::uint32_t block_cells{1 << 15};
  /// A node is summed in scratch only if it has this many values per cell; a smaller one goes straight to the sums.
  std::uint32_t scratch_values_per_cell{1};
  /// Rows to fetch ahead of the one being added.
  std::uint32_t prefetch_rows{16};
  /// Memory for the histograms that wait for their node to be split; what does not fit is summed again when needed.
  std::size_t cache_bytes{std::size_t{1} << 30};
};

struct DeviceHistogramPolicy {
  /// Histograms take at most this part of the memory that is free when a trainer starts, …
  double part{0.4};
  /// … and never more than this.
  std::size_t most_bytes{std::size_t{8} << 30};
  /// Least number of units (RowLists::unit_rows) that a block sums. With more, fewer blocks would clear and merge sums.
  std::uint32_t least_units{1};
};

}  // namespace xgbgpu

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_
