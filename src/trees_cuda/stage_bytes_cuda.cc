// Estimates for timelines how many bytes the stages of a tree move.
#include <algorithm>

#include "base/stages.h"
#include "trees_cuda/hist_tree_cuda.h"

namespace xgbgpu::cuda {

/// Tells the timeline, from the tree's nodes, how much its stages had to read and write at least. Rows that are grown
/// by paths are not counted: their numbers are taken in proportion to the hessian sums.
void HistTree::ReportBytes(Span<Node const> nodes) {
  Timeline& timeline = *parts_.device.timer.timeline();
  DeviceMatrix const& matrix = parts_.matrix;
  bool const by_paths = parts_.rows.by_paths(), sampled_rows = parts_.request.sampled(),
             weighted = parts_.request.weighted();
  int const levels = device_driven_.enqueued_levels();
  TreeShape const& shape = device_driven_.shape();
  double const all_rows = static_cast<double>(matrix.view.rows);
  double const rows = parts_.rows.copies_sample() ? nodes[0].rows : all_rows;  // rows of the tree's matrix
  DeviceMatrixView const& m = parts_.rows.matrix();
  // Bytes that tell where a sparse row begins.
  double const places = m.sparse_in_tiles() ? m.tiles * sizeof(std::uint32_t) : sizeof(std::uint64_t);
  double const record =
      m.dense ? m.tiles * m.record_bytes() : static_cast<double>(matrix.stored) * m.symbol_bytes / all_rows + places;
  double const sector = std::min(32.0, record);  // bytes read for a row's symbol
  double const gradient = by_paths ? sizeof(NarrowGradient) : sizeof(RowRecord);
  auto const histogram = static_cast<double>(parts_.histograms.View().cells * sizeof(GradientSum));
  auto const rows_of = [&](Node const& node) {
    if (!by_paths) return static_cast<double>(node.rows);
    return rows *
           std::max(0.0, static_cast<double>(node.sum.hess) / std::max(1.0, static_cast<double>(nodes[0].sum.hess)));
  };
  auto const set = [&](char const* stage, int level, double bytes) {
    timeline.SetBytes(stage, level, static_cast<std::uint64_t>(bytes));
  };
  double const sampled = nodes[0].rows;
  double const for_maxima = parts_.gradients.all_rows().maxima == nullptr ? 1 : 0,
               keys = weighted ? 2 * sizeof(std::uint16_t) : 0;
  double const passes = for_maxima + (sampled_rows ? (weighted ? 1 : 0) : (all_rows < kNarrowMinRows ? 0 : 1));
  double const drawn =
      sampled_rows ? sampled * (3 * sizeof(GradientPair) + (parts_.rows.copies_sample() ? 2 * record : 0)) : 0;
  set(kGradients, 0, all_rows * (sizeof(GradientPair) * passes + keys) + drawn);
  set(kRoot, 0, sampled * (sizeof(GradientPair) + gradient));
  set(kSum, 0, sampled * (record + gradient) + histogram);
  set(kSplit, 0, histogram);
  if (!leaves_.WalksLate()) set(kWalk, levels, all_rows * (record + sizeof(NodeIndex)));
  if (growth_ != &device_driven_) return;  // batches are no levels
  for (int level = 1; level <= levels; ++level) {
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
    double const list_out = level == shape.possible_levels ? sizeof(NodeIndex) : sizeof(RowRecord);
    double const copied = parts_.rows.IsMoved(level, shape.levels) ? 2 * (record + gradient) : 0;
    set(kMove, level,
        by_paths ? moved * (sector + 2 + copied) : moved * (sizeof(RowRecord) + sector + list_out) + stayed * 12);
    set(kSum, level, summed * (record + gradient) + families * histogram + (by_paths ? moved : 0));
    set(kSplit, level, 3 * families * histogram);
  }
}

}  // namespace xgbgpu::cuda
