// Finds the leaves of rows outside a tree's sample, and adds leaf values, on the host.
#include "base/parallel.h"
#include "predict/predict.h"
#include "predict/predict_ops.h"

namespace xgbgpu::host {

namespace {
constexpr std::size_t kPositionsPerTask = 1 << 14;
}

void FindLeaves(QuantisedMatrix const& matrix, Tree const& tree, Span<NodeIndex> positions, int threads) {
  TreeView const view{tree.left.data(),         tree.feature.data(),
                      tree.split_bin.data(),    tree.default_left.data(),
                      matrix.cuts.ptr.data(),   tree.category_ptr.empty() ? nullptr : tree.category_ptr.data(),
                      tree.category_bits.data()};
  matrix.Visit([&](auto const& rows) {
    ParallelChunks(threads, positions.size(), kPositionsPerTask, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (positions[i] == kUnknownLeaf) positions[i] = ~LeafOfRow(rows, static_cast<RowIndex>(i), view);
      }
    });
  });
}

void AddLeafValues(Span<NodeIndex const> positions, Span<float const> node_values, float* margins, std::size_t stride,
                   int threads) {
  ParallelChunks(threads, positions.size(), kPositionsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      NodeIndex const leaf = positions[i] < 0 ? ~positions[i] : positions[i];
      margins[i * stride] += node_values[static_cast<std::size_t>(leaf)];
    }
  });
}

}  // namespace xgbgpu::host
