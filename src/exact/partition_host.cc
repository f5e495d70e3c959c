// Moves the rows of a level's split nodes to the children on the host.
#include <algorithm>

#include "base/parallel.h"
#include "exact/exact.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 14;

NodeIndex NodeOf(ExactRow const& row) { return row.node < 0 ? ~row.node : row.node; }
void MoveTo(NodeIndex node, ExactRow* row) { row->node = row->node < 0 ? ~node : node; }

}  // namespace

void ApplyExactSplits(SortedMatrix const& matrix, ExactNodes const& nodes, NodeIndex first, Span<ExactRow> rows,
                      int threads) {
  std::vector<FeatureIndex> features;
  for (std::size_t n = static_cast<std::size_t>(first); n < nodes.nodes.size(); ++n) {
    if (nodes.nodes[n].left != kNoNode) features.push_back(nodes.nodes[n].split.feature);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());

  // First every row moves as if it missed the feature of its node's split. Then rows with a value move again.
  ParallelChunks(threads, rows.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      Node const& node = nodes[NodeOf(rows[r])];
      if (node.left != kNoNode) MoveTo(node.left + (node.split.default_left ? 0 : 1), &rows[r]);
    }
  });
  for (FeatureIndex f : features) {
    Span<SortedValue const> const column = matrix.column(f);
    ParallelChunks(threads, column.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (SortedValue const& value : column.subspan(begin, end - begin)) {
        NodeIndex const parent = nodes[NodeOf(rows[value.row])].parent;
        if (parent < first) continue;  // this level did not split the row's node
        Node const& node = nodes[parent];
        if (node.split.feature != f) continue;
        bool const left = value.value < nodes.thresholds[static_cast<std::size_t>(parent)];
        MoveTo(node.left + (left ? 0 : 1), &rows[value.row]);
      }
    });
  }
}

}  // namespace xgbgpu::host
