/// Plans of rows by paths: the jobs of the summing kernel, and the sides of rows.
#ifndef XGBGPU_PARTITION_PATH_JOBS_CUH_
#define XGBGPU_PARTITION_PATH_JOBS_CUH_

#include "cuda/block_scan.cuh"
#include "partition/partition_cuda.h"
#include "partition/partition_ops.h"
#include "partition/partition_policy.h"
#include "tree/make_root.cuh"

namespace xgbgpu::cuda {

constexpr std::uint32_t kPathItemRows = 2048;  ///< rows of one group that a block advances or moves at a time

/// Costs relative to the sum of a row: to read a row's path, to write a row's path as well, and to go from one job to
/// the next.
constexpr float kLookCost = 1.0f / 32, kTellCost = 1.0f / 4;
constexpr std::uint32_t kNextJobCost = 4096;
/// Most rows of a unit of MakePathJob.
constexpr std::uint32_t kMostUnitRows =
    2 * static_cast<std::uint32_t>(1.0f / kLookCost) * PartitionPolicy{}.most_unit_rows;

/// Returns the sum job of about `members` rows of a group, with slot and first unit 0. Units have equal costs, counted
/// in summed rows: between two jobs a block merges its sums and starts a new search for rows. *units: number of units,
/// spare ones included.
__device__ inline PathJob MakePathJob(std::uint32_t least_unit_rows, RowGroup const& group, PathPlace place,
                                      float members, PathSums sums, std::uint32_t* units) {
  std::uint32_t const rows = group.rows;
  auto const all = static_cast<float>(rows);
  float const look = all * (sums == PathSums::kTold ? kLookCost : kTellCost);
  auto const cost = static_cast<std::uint32_t>(look + fminf(fmaxf(members, 0.0f), all));
  std::uint32_t const wanted = max(1U, cost / least_unit_rows);
  std::uint32_t const unit_rows = ((max(rows, 1U) - 1) / wanted + 128) / 128 * 128;
  std::uint32_t const spare = kNextJobCost / least_unit_rows;
  *units = spare + (rows + unit_rows - 1) / unit_rows;
  return {group.first_row, rows, place.path, 0, 0, spare, unit_rows, place.group, 0, kNoSlot};
}

/// Makes the root of the store's first `rows` rows, its group and its sum job. One thread calls it.
__device__ inline void MakePathRoot(GrowingTree const& tree, RowPaths const& paths, std::uint32_t rows) {
  LevelState& state = *tree.state;
  GradientSum const root = MakeRoot(tree, rows);
  paths.places[0] = {0, 0};
  paths.walk[0].left = kNoNode;
  RowGroup const group{0, rows, 0, static_cast<float>(root.hess)};
  paths.groups[0] = group;
  paths.jobs[0] =
      MakePathJob(paths.unit_rows, group, {0, 0}, static_cast<float>(rows), PathSums::kTold, &state.sum_units);
  state.groups = 1;
  state.path_items = (rows + kPathItemRows - 1) / kPathItemRows;
}

/// Returns the split of a node's rows in terms of columns and symbols in the records.
__device__ inline PathSplit MakePathSplit(DeviceMatrixView const& matrix, SplitCandidate const& split,
                                          std::uint32_t family) {
  if (split.categorical) {
    return {split.feature, static_cast<std::uint16_t>(split.bin), static_cast<std::uint16_t>(split.bin >> 16),
            family | kByCategories};
  }
  DeviceTile const tile = matrix.tile_of(split.feature);
  bool const missing_left = split.default_left && tile.symbols > tile.bins;
  return {matrix.column(split.feature), static_cast<std::uint16_t>(split.bin),
          missing_left ? static_cast<std::uint16_t>(tile.bins) : kNoSymbol, family};
}

/// Returns true if a row with this symbol goes left. `split` is a PathSplit or similar, by categories or by numbers.
template <typename Split>
__device__ inline bool GoesLeft(std::uint32_t symbol, Split const& split, bool by_categories,
                                DeviceCategories const& categories) {
  if (!by_categories) return SymbolGoesLeft(symbol, split.bin, split.missing_left);
  // The set has missing values, too.
  return SymbolGoesLeft(symbol, categories.set(split.bin | std::uint32_t{split.missing_left} << 16));
}

/// Plans the groups after a move: this level's nodes become groups, and all rows of a built node are summed. One block.
__device__ inline void PlanGroups(GrowingTree const& tree, RowPaths const& paths) {
  __shared__ typename PlanScan::TempStorage storage;
  std::uint32_t const families = tree.state->families;
  unsigned long long all = 0;  // items and units
  for (std::uint32_t base = 0; base < 2 * families; base += kPlanThreads) {
    std::uint32_t const g = base + threadIdx.x;
    bool const in = g < 2 * families;
    RowGroup group{};
    NodeIndex root = kNoNode;
    PathJob job{};
    bool built = false;
    std::uint32_t units = 0;
    if (in) {
      Family const& family = tree.families[g / 2];
      Node const& parent = tree.nodes[family.parent];
      unsigned long long const moved = __ldcg(&family.moved);
      bool const right = g % 2 != 0;
      group.rows = right ? High(moved) : Low(moved);
      group.first_row = parent.first_row + (right ? Low(moved) : 0);
      root = family.left + (right ? 1 : 0);
      group.hess = static_cast<float>(tree.nodes[root].sum.hess);
      built = root == family.built();
      if (built) {
        job = MakePathJob(paths.unit_rows, group, {g, 0}, static_cast<float>(group.rows), PathSums::kTold, &units);
        job.slot = family.built_slot;
      }
    }
    unsigned long long const before =
        ScanStep(Both((group.rows + kPathItemRows - 1) / kPathItemRows, units), &all, storage);
    group.first_item = High(before);
    job.first_unit = Low(before);
    if (!in) continue;
    paths.next_groups[g] = group;
    if (paths.start_nodes != nullptr) paths.start_nodes[g] = root;
    if (built) paths.jobs[g / 2] = job;
  }
  if (threadIdx.x == 0) {
    tree.state->groups = 2 * families;
    tree.state->path_items = High(all);
    tree.state->sum_jobs = families;
    tree.state->sum_units = Low(all);
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PATH_JOBS_CUH_
