// Computes gradients of survival:cox and sorts rows by time on the host.
#include <atomic>
#include <limits>

#include "base/parallel.h"
#include "objective/all_rows.h"
#include "objective/cox.h"
#include "objective/cox_ops.h"
#include "objective/objective_ops.h"
#include "quantile/radix_sort.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kRowsPerTask = 1 << 13;  // rows per task

/// Returns the largest margin. Ignores NaN.
float LargestMargin(OutputView<float const> const& margins, int threads) {
  std::atomic<float> all{-std::numeric_limits<float>::infinity()};
  ParallelChunks(threads, margins.rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t row = begin; row < end; ++row) largest = AtLeast(margins.at(row, 0), largest);
    float seen = all.load(std::memory_order_relaxed);
    while (largest > seen && !all.compare_exchange_weak(seen, largest, std::memory_order_relaxed)) {
    }
  });
  return all;
}

}  // namespace

SortedTimes SortTimes(float const* labels, std::uint64_t rows) {
  struct Item {
    std::uint32_t key, row;
  };
  Buffer<Item> items{rows}, scratch{rows};
  for (std::uint64_t row = 0; row < rows; ++row) items[row] = {TimeKey(labels[row]), static_cast<std::uint32_t>(row)};
  auto const sorted = RadixSort(items.span(), scratch.span(), [](Item const& item) { return item.key; });
  SortedTimes times{Buffer<std::uint32_t>{rows}, Buffer<std::uint32_t>{rows}};
  for (std::uint64_t i = 0; i < rows; ++i) {
    times.rows[i] = sorted[i].row;
    bool const tied = i != 0 && sorted[i].key == sorted[i - 1].key;
    times.first[i] = tied ? times.first[i - 1] : static_cast<std::uint32_t>(i);
  }
  return times;
}

void ComputeCoxGradients(TargetView const& targets, OutputView<float const> margins, OutputView<GradientPair> gradients,
                         int threads, Collective& collective) {
  std::uint64_t const rows = margins.rows;
  if (collective.shards() > 1) {
    AllRows const all{targets, margins, collective};
    Buffer<GradientPair> all_gradients{all.rows()};
    ComputeCoxGradients(all.targets(), all.values(), RowMajor(all_gradients.data(), all.rows(), 1), threads,
                        NoOtherShards());
    for (std::uint64_t row = 0; row < rows; ++row) gradients.at(row, 0) = all_gradients[all.first_row() + row];
    return;
  }
  if (rows == 0) return;
  SortedTimes own;
  TimeOrder order = targets.by_time;
  if (order.rows == nullptr) {
    own = SortTimes(targets.labels, rows);
    order = own.view();
  }
  float const largest = LargestMargin(margins, threads);
  Buffer<double> powers{rows}, at_risk{rows};  // by row; by place
  ParallelChunks(threads, rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) powers[row] = CoxPower(margins.at(row, 0), largest);
  });
  SumFromEnd(
      order, rows, [&](std::uint32_t row) { return powers[row]; }, at_risk.data(), threads);
  OrderedScan<CoxSums>(
      rows, threads, [&](std::uint64_t i) { return CoxTerm(targets.labels[order.rows[i]], at_risk[order.first[i]]); },
      [&](std::uint64_t i, CoxSums const& sums) {
        std::uint32_t const row = order.rows[i];
        float const weight = targets.weights == nullptr ? 1.0f : targets.weights[row];
        gradients.at(row, 0) = CoxGradient(powers[row], sums, targets.labels[row], weight);
      });
}

}  // namespace xgbgpu::host
