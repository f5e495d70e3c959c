// Moves the rows in lists to their positions in a finished tree, in jobs that the host lists.
#include "trees_cuda/list_positions_cuda.h"

#include <vector>

namespace xgbgpu::cuda {

void WriteListPositions(TreeParts* parts, Span<Node const> made, Span<NodeIndex const> leaf) {
  TreeDevice const& device = parts->device;
  std::uint32_t const item_rows = parts->rows.Lists().item_rows;
  std::vector<MoveJob> jobs;
  std::uint32_t items = 0;
  for (std::size_t n = 0; n < leaf.size(); ++n) {
    if (leaf[n] == kNoNode) continue;
    jobs.push_back({static_cast<NodeIndex>(n), ~leaf[n], items});
    items += (made[n].rows + item_rows - 1) / item_rows;
  }
  LevelState state{};
  state.move_jobs = static_cast<std::uint32_t>(jobs.size());
  state.move_items = items;
  parts->rows.ReserveMoves(jobs.size());
  CopyToDevice(parts->rows.Lists().move_jobs, jobs.data(), jobs.size(), device.stream, "writing positions");
  CopyToDevice(&parts->memory.header()->state, &state, 1, device.stream, "writing positions");
  MoveRows(parts->Partition(parts->matrix.view), parts->rows.Lists(), {1, parts->rows.symbols()}, LevelKind::kFinal,
           device.limits, device.stream);
  device.stream.Wait("writing positions");  // the sources of the copies may change from here on
}

}  // namespace xgbgpu::cuda
