/// Bookkeeping between the levels of a tree that is grown by paths, done by one block.
#ifndef XGBGPU_LEVEL_PLAN_PATHS_CUH_
#define XGBGPU_LEVEL_PLAN_PATHS_CUH_

#include "level/plan.cuh"

namespace xgbgpu::cuda {

constexpr std::uint32_t kPathItemRows = 2048;  ///< rows of one group that a block advances or moves at a time

/// Sum job of `members` rows, as far as is known, among the `rows` rows of a group; its first unit is not set. Rows
/// that are only looked at cost a part of those that are summed: units are made alike in cost. *units: their number.
__device__ inline PathJob MakePathJob(std::uint32_t least_unit_rows, PathPlace place, std::int32_t slot,
                                      std::uint32_t rows, float members, std::uint32_t* units) {
  constexpr float kLookCost = 1.0f / 16;
  auto const all = static_cast<float>(rows);
  auto const cost = static_cast<std::uint32_t>(all * kLookCost + fminf(fmaxf(members, 0.0f), all));
  std::uint32_t const wanted = max(1U, cost / least_unit_rows);
  std::uint32_t const unit_rows = ((max(rows, 1U) + wanted - 1) / wanted + 127) / 128 * 128;
  *units = (rows + unit_rows - 1) / unit_rows;
  return {place.group, place.path, slot, 0, unit_rows};
}

/// One thread makes the root of the first `rows` rows of the store, its group and its sum job.
__device__ inline void MakePathRoot(DeviceTree const& tree, std::uint32_t rows) {
  RowPaths const& paths = tree.paths;
  LevelState& state = *tree.state;
  MakeRoot(tree, rows);
  paths.places[0] = {0, 0};
  paths.walk[0].left = kNoNode;
  paths.groups[0] = {0, rows, 0, static_cast<float>(tree.nodes[0].sum.hess)};
  paths.jobs[0] = MakePathJob(tree.unit_rows, {0, 0}, 0, rows, static_cast<float>(rows), &state.sum_units);
  state.groups = 1;
  state.path_items = (rows + kPathItemRows - 1) / kPathItemRows;
}

/// What the rows of a node do that is split: symbols as they are in the records.
__device__ inline PathSplit MakePathSplit(DeviceMatrixView const& matrix, SplitCandidate const& split,
                                          std::uint32_t family) {
  if (split.categorical) {
    return {split.feature, static_cast<std::uint16_t>(split.bin), static_cast<std::uint16_t>(split.bin >> 16),
            family | kByCategories};
  }
  DeviceTile const tile = matrix.tile[split.feature / matrix.tile_columns];
  bool const missing_left = split.default_left && tile.symbols > tile.bins;
  return {split.feature, static_cast<std::uint16_t>(split.bin),
          missing_left ? static_cast<std::uint16_t>(tile.bins) : kNoSymbol, family};
}

/// Does a row with this symbol go left? `split`: a PathSplit or alike, that is by categories or not.
template <typename Split>
__device__ inline bool GoesLeft(std::uint32_t symbol, Split const& split, bool by_categories,
                                DeviceCategories const& categories) {
  if (!by_categories) return symbol < split.bin || symbol == split.missing_left;
  std::uint32_t const* const right = categories.set(split.bin | std::uint32_t{split.missing_left} << 16);
  return ((right[symbol / 32] >> (symbol % 32)) & 1U) == 0;  // missing values are in the set, too
}

/// One block makes the children and families of the next level and tells the rows of every path what to do. Which child
/// is built is decided by the hessian sums: nobody has counted the rows yet, and either choice gives the same tree.
template <bool kMonotone, bool kOrdered>
__device__ inline void SelectPaths(DeviceTree const& tree, PathStep step) {
  __shared__ typename PlanScan::TempStorage storage;
  RowPaths const& paths = tree.paths;
  Selection<kOrdered> const level{tree};
  unsigned long long candidates = 0, families_and_units = 0;  // units, or rows if they will be moved
  for (std::uint32_t base = level.first; base < level.end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    bool const in = n < level.end;
    auto const node = static_cast<NodeIndex>(n);
    PathPlace const place = in ? paths.places[n] : PathPlace{};
    int const depth = in ? tree.nodes[n].depth : 0;
    std::int32_t const slot = in ? tree.nodes[n].slot : 0;
    std::uint32_t const entry = (place.group << paths.depth) + place.path;
    std::uint32_t const rows = in && step.move ? __ldcg(paths.counts + entry) : 0;
    RowGroup const group = paths.groups[place.group];
    SplitCandidate const split = in ? level.LoadSplit(tree, n) : SplitCandidate{};
    bool const candidate = in && level.IsCandidate(tree, n, depth, split.gain);
    auto const rank = static_cast<std::uint32_t>(ScanStep(candidate ? 1 : 0, &candidates, storage));
    bool const selected = candidate && rank < level.last_rank;
    bool const left_is_built = split.left.hess <= split.right.hess;
    Family const family = level.MakeFamily(tree, node, slot, rank, left_is_built);
    PathPlace const child{place.group, 2 * place.path};
    PathJob job{};
    std::uint32_t units = 0;
    if (selected && !step.move) {
      float const part = static_cast<float>(left_is_built ? split.left.hess : split.right.hess) / group.hess;
      job = MakePathJob(tree.unit_rows, {child.group, child.path + (left_is_built ? 0 : 1)}, family.built_slot,
                        group.rows, part * static_cast<float>(group.rows), &units);
    }
    unsigned long long const before =
        ScanStep(selected ? Both(1, step.move ? rows : units) : 0, &families_and_units, storage);
    if (!in) continue;
    if (!selected) {
      paths.splits[entry].feature = kNoFeature;
      continue;
    }
    PathSplit const rule = MakePathSplit(tree.matrix, split, rank);
    paths.splits[entry] = rule;
    paths.walk[n] = {family.left, rule};
    tree.families[rank] = family;
    MakeChildren<kMonotone>(tree, node, split, family.left);
    for (std::uint32_t right = 0; right < 2; ++right) {
      NodeIndex const c = family.left + static_cast<NodeIndex>(right);
      tree.nodes[c].slot = c == family.built() ? family.built_slot : slot;
      paths.walk[c].left = kNoNode;
      paths.places[c] = step.move ? PathPlace{2 * rank + right, 0} : PathPlace{child.group, child.path + right};
    }
    if (step.move) {
      tree.nodes[n].first_row = Low(before);
      tree.nodes[n].rows = rows;
    } else {
      job.first_unit = Low(before);
      paths.jobs[rank] = job;
    }
  }
  if (threadIdx.x != 0) return;
  level.Store(tree.state, High(families_and_units));
  tree.state->sum_jobs = High(families_and_units);
  tree.state->sum_units = Low(families_and_units);
}

/// One block, after rows were moved: the nodes of this level are groups, and all rows of a built one are summed.
__device__ inline void PlanGroups(DeviceTree const& tree) {
  __shared__ typename PlanScan::TempStorage storage;
  RowPaths const& paths = tree.paths;
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
        job =
            MakePathJob(tree.unit_rows, {g, 0}, family.built_slot, group.rows, static_cast<float>(group.rows), &units);
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

#endif  // XGBGPU_LEVEL_PLAN_PATHS_CUH_
