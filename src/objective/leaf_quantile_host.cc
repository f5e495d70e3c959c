// Computes quantiles of leaves on the host, leaf by leaf.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/message.h"
#include "base/parallel.h"
#include "objective/leaf_quantile.h"
#include "objective/leaf_quantile_ops.h"

namespace xgbgpu {

void CheckQuantiles(Span<float const> node_values) {
  for (std::size_t n = 0; n < node_values.size(); ++n) {
    if (node_values[n] == node_values[n]) continue;
    Throw<InvalidArgument>("The quantile of label - margin over the rows of leaf ", n,
                           " is NaN; allowed: labels and base_margin that are finite, and differ by less than 1e38");
  }
}

namespace host {

namespace {

constexpr std::size_t kResidualsPerTask = 1 << 16;  // a thread that sorts has at least this number

/// The rows that count, leaf by leaf, and inside a leaf in their order.
struct RowsByLeaf {
  std::vector<std::size_t> first;  ///< [nodes + 1]
  Buffer<std::uint64_t> items;     ///< key of the residual, then the row: all are different
};

std::uint64_t ItemOf(float residual, std::size_t row) {
  return std::uint64_t{ResidualKey(residual)} << 32 | static_cast<RowIndex>(row);
}
RowIndex RowOf(std::uint64_t item) { return static_cast<RowIndex>(item); }

RowsByLeaf SortByLeaf(Span<NodeIndex const> positions, Span<float const> residuals, float const* weights,
                      std::size_t nodes, int threads) {
  std::size_t const rows = positions.size();
  std::size_t const chunks = std::max<std::size_t>(1, std::min<std::size_t>(threads, rows / kResidualsPerTask));
  std::size_t const grain = std::max<std::size_t>(1, (rows + chunks - 1) / chunks);
  std::vector<std::vector<std::size_t>> at(chunks, std::vector<std::size_t>(nodes));  // counts, then places
  auto const visit = [&](std::size_t begin, std::size_t end, auto&& f) {
    for (std::size_t row = begin; row < end; ++row)
      if (CountsInLeaf(positions[row], weights, row)) f(at[begin / grain][positions[row]], row);
  };
  ParallelChunks(threads, rows, grain, [&](std::size_t begin, std::size_t end) {
    visit(begin, end, [](std::size_t& count, std::size_t) { ++count; });
  });
  RowsByLeaf result{std::vector<std::size_t>(nodes + 1), Buffer<std::uint64_t>{rows}};
  std::size_t next = 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    result.first[n] = next;
    for (auto& chunk : at) next += std::exchange(chunk[n], next);
  }
  result.first[nodes] = next;
  ParallelChunks(threads, rows, grain, [&](std::size_t begin, std::size_t end) {
    visit(begin, end,
          [&](std::size_t& place, std::size_t row) { result.items[place++] = ItemOf(residuals[row], row); });
  });
  return result;
}

/// Returns the quantile of the residuals of `items`, and reorders the items.
float Quantile(Span<std::uint64_t> items, Span<float const> residuals, double alpha) {
  QuantilePlace const place = PlaceOfQuantile(items.size(), alpha);
  auto* const low = items.begin() + place.low;
  std::nth_element(items.begin(), low, items.end());
  auto const* const next = place.is_end ? low : std::min_element(low + 1, items.end());
  return QuantileOf(place, residuals[RowOf(*low)], residuals[RowOf(*next)]);
}

float WeightedQuantile(Span<std::uint64_t> items, Span<float const> residuals, float const* weights, double alpha) {
  std::sort(items.begin(), items.end());
  Buffer<float> sums{items.size()};
  float sum = 0.0f;
  for (std::size_t i = 0; i < items.size(); ++i) sums[i] = sum += weights[RowOf(items[i])];
  return residuals[RowOf(items[ShareOfWeight(sums.data(), items.size(), alpha)])];
}

}  // namespace

void ComputeResiduals(float const* labels, float const* margins, std::size_t stride, Span<float> residuals,
                      int threads) {
  ParallelChunks(threads, residuals.size(), kResidualsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) residuals[row] = labels[row] - margins[row * stride];
  });
}

void QuantileLeaves(Span<NodeIndex const> positions, Span<float const> residuals, float const* weights, double alpha,
                    Span<float> node_values, int threads, Collective& collective) {
  if (collective.shards() > 1) {
    auto const all_positions = GatherAll(collective, positions);
    auto const all_residuals = GatherAll(collective, residuals);
    auto const all_weights =
        GatherAll(collective, Span<float const>{weights, weights == nullptr ? 0 : residuals.size()});
    if (!all_weights.empty() && all_weights.size() != all_residuals.size()) {
      Throw<InvalidArgument>("Some shards of the rows have weights and some have none; allowed: all or none");
    }
    QuantileLeaves(Span<NodeIndex const>{all_positions}, Span<float const>{all_residuals},
                   all_weights.empty() ? nullptr : all_weights.data(), alpha, node_values, threads);
    return;
  }
  RowsByLeaf const sorted = SortByLeaf(positions, residuals, weights, node_values.size(), threads);
  ParallelTasks(threads, node_values.size(), [&](std::size_t n, int) {
    Span<std::uint64_t> const items =
        sorted.items.span().subspan(sorted.first[n], sorted.first[n + 1] - sorted.first[n]);
    if (items.empty()) return;
    node_values[n] =
        weights == nullptr ? Quantile(items, residuals, alpha) : WeightedQuantile(items, residuals, weights, alpha);
  });
}

}  // namespace host
}  // namespace xgbgpu
