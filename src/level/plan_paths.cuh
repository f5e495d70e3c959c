/// Bookkeeping between the levels of a tree that is grown by paths, done by one block.
#ifndef XGBGPU_LEVEL_PLAN_PATHS_CUH_
#define XGBGPU_LEVEL_PLAN_PATHS_CUH_

#include "level/plan.cuh"

namespace xgbgpu::cuda {

constexpr std::uint32_t kPathItemRows = 2048;  ///< rows of one group that a block advances or moves at a time

/// Sum job of `members` rows, as far as is known, among the `rows` rows of a group. Rows that are only looked at cost a
/// part of those that are summed: units are made alike in cost. Returns their number.
__device__ inline std::uint32_t MakePathJob(DeviceTree const& tree, std::uint32_t job, PathPlace place,
                                            std::int32_t slot, std::uint32_t rows, double members) {
  constexpr double kLookCost = 1.0 / 16;
  auto const cost = static_cast<std::uint32_t>(rows * kLookCost + fmin(fmax(members, 0.0), static_cast<double>(rows)));
  std::uint32_t const wanted = max(1U, cost / tree.unit_rows);
  std::uint32_t const unit_rows = ((rows + wanted - 1) / wanted + 127) / 128 * 128;
  tree.paths.jobs[job].group = place.group;
  tree.paths.jobs[job].path = place.path;
  tree.paths.jobs[job].slot = slot;
  tree.paths.jobs[job].unit_rows = unit_rows;
  return (rows + unit_rows - 1) / unit_rows;
}

/// Units of the jobs one after the other. Called by the whole block.
__device__ inline void NumberUnits(DeviceTree const& tree, std::uint32_t jobs, typename PlanScan::TempStorage& storage) {
  __syncthreads();
  unsigned long long all_units = 0;
  for (std::uint32_t base = 0; base < jobs; base += kPlanThreads) {
    std::uint32_t const j = base + threadIdx.x;
    std::uint32_t const units = j < jobs ? tree.paths.jobs[j].first_unit : 0;  // its number of units so far
    unsigned long long const before = ScanStep(units, &all_units, storage);
    if (j < jobs) tree.paths.jobs[j].first_unit = Low(before);
  }
  if (threadIdx.x == 0) {
    tree.state->sum_jobs = jobs;
    tree.state->sum_units = Low(all_units);
  }
}

/// One block makes the children and families of the next level and tells the rows of every path what to do. Which child
/// is built is decided by the hessian sums: nobody has counted the rows yet, and either choice gives the same tree.
__device__ inline void SelectPaths(DeviceTree const& tree, PathStep step) {
  __shared__ typename PlanScan::TempStorage storage;
  RowPaths const& paths = tree.paths;
  Selection const level{tree};
  unsigned long long candidates = 0, families_and_rows = 0;
  for (std::uint32_t base = level.first; base < level.end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    SplitCandidate const split = n < level.end ? level.LoadSplit(tree, n) : SplitCandidate{};
    bool const candidate = n < level.end && level.IsCandidate(tree, n, split.gain);
    auto const rank = static_cast<std::uint32_t>(ScanStep(candidate ? 1 : 0, &candidates, storage));
    bool const selected = candidate && rank < level.last_rank;
    PathPlace const place = n < level.end ? paths.places[n] : PathPlace{};
    std::uint32_t const entry = (place.group << paths.depth) + place.path;
    std::uint32_t const rows = selected && step.move ? __ldcg(paths.counts + entry) : 0;
    unsigned long long const before = ScanStep(Both(selected ? 1 : 0, rows), &families_and_rows, storage);
    if (n >= level.end) continue;
    if (!selected) {
      paths.splits[entry] = {kNoFeature, 0, kNoSymbol, 0};
      level.FreeSlot(tree, n, rank);
      continue;
    }
    auto const node = static_cast<NodeIndex>(n);
    auto const left = static_cast<NodeIndex>(level.end + 2 * rank);
    DeviceTile const tile = tree.matrix.tile[split.feature / tree.matrix.tile_columns];
    bool const missing_left = split.default_left && tile.symbols > tile.bins;
    PathSplit const rule{split.feature, static_cast<std::uint16_t>(split.bin),
                         missing_left ? static_cast<std::uint16_t>(tile.bins) : kNoSymbol, rank};
    paths.splits[entry] = rule;
    paths.walk[n] = {left, rule};
    bool const left_is_built = split.left.hess <= split.right.hess;
    tree.families[rank] = {node, left, -1, tree.nodes[n].slot, 1, left_is_built ? std::uint8_t{1} : std::uint8_t{0}, 0, 0, 0};
    MakeChildren(tree, node, split, left);
    for (std::uint32_t right = 0; right < 2; ++right) {
      std::uint32_t const child = static_cast<std::uint32_t>(left) + right;
      paths.walk[child].left = kNoNode;
      paths.places[child] = step.move ? PathPlace{2 * rank + right, 0} : PathPlace{place.group, 2 * place.path + right};
    }
    if (step.move) {
      tree.nodes[n].first_row = Low(before);
      tree.nodes[n].rows = rows;
    }
  }
  auto const made = High(families_and_rows);
  level.DealSlots(tree, made);
  __syncthreads();
  for (std::uint32_t f = threadIdx.x; f < made; f += kPlanThreads) {
    Family const& family = tree.families[f];
    tree.nodes[family.built()].slot = family.built_slot;
    tree.nodes[family.sibling()].slot = family.sibling_slot;
    if (step.move || step.last) continue;
    PathPlace const place = paths.places[family.built()];
    RowGroup const& group = paths.groups[place.group];
    double const part = static_cast<double>(tree.nodes[family.built()].sum.hess) /
                        static_cast<double>(tree.nodes[group.root].sum.hess);
    paths.jobs[f].first_unit = MakePathJob(tree, f, place, family.built_slot, group.rows, part * group.rows);
  }
  if (!step.move && !step.last) NumberUnits(tree, made, storage);
}

/// One block, after rows were moved: the nodes of this level are groups, and all rows of a built one are summed.
__device__ inline void PlanGroups(DeviceTree const& tree) {
  __shared__ typename PlanScan::TempStorage storage;
  RowPaths const& paths = tree.paths;
  std::uint32_t const families = tree.state->families;
  unsigned long long all_items = 0;
  for (std::uint32_t base = 0; base < 2 * families; base += kPlanThreads) {
    std::uint32_t const g = base + threadIdx.x;
    RowGroup group{};
    if (g < 2 * families) {
      Family const& family = tree.families[g / 2];
      Node const& parent = tree.nodes[family.parent];
      unsigned long long const moved = __ldcg(&family.moved);
      bool const right = g % 2 != 0;
      group.rows = right ? High(moved) : Low(moved);
      group.first_row = parent.first_row + (right ? Low(moved) : 0);
      group.root = family.left + (right ? 1 : 0);
    }
    group.first_item = Low(ScanStep((group.rows + kPathItemRows - 1) / kPathItemRows, &all_items, storage));
    if (g >= 2 * families) continue;
    paths.next_groups[g] = group;
    if (paths.start_nodes != nullptr) paths.start_nodes[g] = group.root;
    Family const& family = tree.families[g / 2];
    if (group.root == family.built()) {
      paths.jobs[g / 2].first_unit = MakePathJob(tree, g / 2, {g, 0}, family.built_slot, group.rows, group.rows);
    }
  }
  NumberUnits(tree, families, storage);
  if (threadIdx.x == 0) {
    tree.state->groups = 2 * families;
    tree.state->path_items = Low(all_items);
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_LEVEL_PLAN_PATHS_CUH_
