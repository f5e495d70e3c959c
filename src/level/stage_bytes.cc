/// For timelines: what the stages of a tree move.
#include <algorithm>

#include "core/stages.h"
#include "level/level_cuda.h"

namespace xgbgpu::cuda {

/// What the stages of a tree had to read and write at least, from its nodes. Rows that are grown by paths are not
/// counted: their numbers are taken in proportion to the hessian sums.
void LevelBuilder::ReportBytes(Span<Node const> nodes) {
  Timeline& timeline = *timer_.timeline();
  double const all_rows = static_cast<double>(matrix_.view.rows);
  double const rows = CopiesSample() ? nodes[0].rows : all_rows;  // of the matrix that the tree is grown on
  DeviceMatrixView const& m = matrix_.view;
  double const places = m.sparse_in_tiles() ? m.tiles * sizeof(std::uint32_t) : sizeof(std::uint64_t);  // of a row
  double const record =
      m.dense ? m.tiles * m.record_bytes() : static_cast<double>(matrix_.stored) * m.symbol_bytes / all_rows + places;
  double const sector = std::min(32.0, record);  // that holds a row's symbol
  double const gradient = by_paths_ ? sizeof(NarrowGradient) : sizeof(RowRecord);
  auto const histogram = static_cast<double>(HistogramBytes());
  auto const rows_of = [&](Node const& node) {
    if (!by_paths_) return static_cast<double>(node.rows);
    return rows *
           std::max(0.0, static_cast<double>(node.sum.hess) / std::max(1.0, static_cast<double>(nodes[0].sum.hess)));
  };
  auto const set = [&](char const* stage, int level, double bytes) {
    timeline.SetBytes(stage, level, static_cast<std::uint64_t>(bytes));
  };
  double const sampled = nodes[0].rows;
  double const for_maxima = gradients_.maxima == nullptr ? 1 : 0, keys = Weighted() ? 2 * sizeof(std::uint16_t) : 0;
  double const passes = for_maxima + (Sampled() ? (Weighted() ? 1 : 0) : (all_rows < kNarrowMinRows ? 0 : 1));
  double const drawn = Sampled() ? sampled * (3 * sizeof(GradientPair) + (CopiesSample() ? 2 * record : 0)) : 0;
  set(kGradients, 0, all_rows * (sizeof(GradientPair) * passes + keys) + drawn);
  set(kRoot, 0, sampled * (sizeof(GradientPair) + gradient));
  set(kSum, 0, sampled * (record + gradient) + histogram);
  set(kSplit, 0, histogram);
  if (!CopiesSample()) set(kWalk, enqueued_levels_, rows * (record + sizeof(NodeIndex)));
  if (!unattended_) return;  // batches are no levels
  for (int level = 1; level <= enqueued_levels_; ++level) {
    double moved = 0, stayed = 0, summed = 0, families = 0;
    for (Node const& node : nodes) {
      if (node.depth != level - 1) continue;
      if (node.left == kNoNode) {
        stayed += rows_of(node);
        continue;
      }
      moved += rows_of(node);
      auto const left = static_cast<std::size_t>(node.left);
      summed += std::min(rows_of(nodes[left]), rows_of(nodes[left + 1]));
      ++families;
    }
    double const list_out = level == shape_.possible_levels ? sizeof(NodeIndex) : sizeof(RowRecord);
    double const copied = paths_.IsMoved(level, shape_.levels) ? 2 * (record + gradient) : 0;
    set(kMove, level,
        by_paths_ ? moved * (sector + 2 + copied) : moved * (sizeof(RowRecord) + sector + list_out) + stayed * 12);
    set(kSum, level, summed * (record + gradient) + families * histogram + (by_paths_ ? moved : 0));
    set(kSplit, level, 3 * families * histogram);
  }
}

}  // namespace xgbgpu::cuda
