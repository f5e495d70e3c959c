/// Tuning numbers of the histogram stage. Changing one changes speed, never a result.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct HostHistogramPolicy {
  /// Rows of one task at most. Not free to grow: 2^16 is what the overflow proof of packed sums allows.
  std::uint32_t chunk_rows{1 << 16};
  /// Rows of one task at least, if a node is cut at all: below, clearing and merging the scratch costs more than it
  /// saves.
  std::uint32_t least_chunk_rows{1 << 11};
  /// Values that a chunk must have, and better has, for each cell of the scratch that it clears and merges.
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
  /// Memory for histograms at most, if the device has that much: this part of what is free when a trainer starts, …
  double part{0.4};
  /// … and never more than this.
  std::size_t most_bytes{std::size_t{8} << 30};
  /// Units (RowLists::unit_rows) that a block sums at least: one; with more, fewer blocks would clear and merge sums.
  std::uint32_t least_units{1};
};

}  // namespace xgbgpu

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_POLICY_H_
