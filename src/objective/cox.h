/// survival:cox on the host, and the order of rows by time, for survival:cox and cox-nloglik.
#ifndef XGBGPU_OBJECTIVE_COX_H_
#define XGBGPU_OBJECTIVE_COX_H_

#include <cstdint>

#include "base/buffer.h"
#include "core/ordered_scan_host.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::host {

/// A TimeOrder with its memory.
struct SortedTimes {
  Buffer<std::uint32_t> rows, first;

  TimeOrder view() const { return {rows.data(), first.data()}; }
};

/// Sorts rows by the times in their labels. There are less than 2^32 rows. Cost: a radix sort.
SortedTimes SortTimes(float const* labels, std::uint64_t rows);

/// out[i] = sum of value(row) over the rows from place i of the order on, added as core/ordered_scan.h defines.
template <typename Value>
void SumFromEnd(TimeOrder const& order, std::uint64_t rows, Value const& value, double* out, int threads) {
  OrderedScan<double>(
      rows, threads, [&](std::uint64_t i) { return value(order.rows[rows - 1 - i]); },
      [&](std::uint64_t i, double sum) { out[rows - 1 - i] = sum; });
}

/// host::ComputeGradients for survival:cox.
void ComputeCoxGradients(TargetView const& targets, OutputView<float const> margins, OutputView<GradientPair> gradients,
                         int threads, Collective& collective);

}  // namespace xgbgpu::host

#endif  // XGBGPU_OBJECTIVE_COX_H_
