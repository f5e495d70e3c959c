/// Bookkeeping between the levels of a tree that is grown by paths, done by one block.
#ifndef XGBGPU_LEVEL_PLAN_PATHS_CUH_
#define XGBGPU_LEVEL_PLAN_PATHS_CUH_

#include "level/level_policy.h"
#include "level/plan.cuh"

namespace xgbgpu::cuda {

constexpr std::uint32_t kPathItemRows = 2048;  ///< rows of one group that a block advances or moves at a time

/// What a row costs that is looked at, if one that is summed costs 1; what one does that is told its path, too; what it
/// costs a block to go from one job to the next.
constexpr float kLookCost = 1.0f / 32, kTellCost = 1.0f / 4;
constexpr std::uint32_t kNextJobCost = 4096;
/// Of a unit at most, see MakePathJob.
constexpr std::uint32_t kMostUnitRows = 2 * static_cast<std::uint32_t>(1.0f / kLookCost) * LevelPolicy{}.most_unit_rows;

/// Sum job of `members` rows, as far as is known, among those of a group; slot and first unit are 0. Units are made
/// alike in cost, which is counted in rows that are summed: on the way from one job to the next a block hands on its
/// sums and begins to look for rows again. *units: their number, spare ones included.
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

/// One thread makes the root of the first `rows` rows of the store, its group and its sum job.
__device__ inline void MakePathRoot(DeviceTree const& tree, std::uint32_t rows) {
  RowPaths const& paths = tree.paths;
  LevelState& state = *tree.state;
  GradientSum const root = MakeRoot(tree, rows);
  paths.places[0] = {0, 0};
  paths.walk[0].left = kNoNode;
  RowGroup const group{0, rows, 0, static_cast<float>(root.hess)};
  paths.groups[0] = group;
  paths.jobs[0] =
      MakePathJob(tree.unit_rows, group, {0, 0}, static_cast<float>(rows), PathSums::kTold, &state.sum_units);
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

/// What a node of the level is planned by; empty from level.end on.
struct PathNode {
  PathPlace place;
  int depth;
  std::int32_t slot;
  RowGroup group;
  std::uint32_t rows;  ///< if the next level is moved
  SplitCandidate split;
};

template <bool kOrdered>
__device__ inline PathNode LoadPathNode(DeviceTree const& tree, Selection<kOrdered> const& level, PathStep step,
                                        std::uint32_t n) {
  if (n >= level.end) return {};
  RowPaths const& paths = tree.paths;
  PathNode node{paths.places[n], tree.nodes[n].depth, tree.nodes[n].slot, {}, 0, {}};
  SplitCandidate const* const split = level.FindSplit(tree, n);
  node.group = paths.groups[node.place.group];
  if (step.move) node.rows = __ldcg(paths.counts + (node.place.group << paths.depth) + node.place.path);
  node.split = level.LoadSplit(tree, n, split);
  return node;
}

/// The part of SelectPaths for kThreads nodes, of which a thread has node n. *all: candidates so far, and their units,
/// or rows if they will be moved.
template <bool kMonotone, int kThreads, bool kOrdered>
__device__ inline void PlanPathNode(DeviceTree const& tree, Selection<kOrdered> const& level, PathStep step,
                                    std::uint32_t n, PathNode const& node, unsigned long long* all) {
  using Scan = PlanScanOf<kThreads>;
  __shared__ typename Scan::TempStorage storage;
  RowPaths const& paths = tree.paths;
  SplitCandidate const& split = node.split;
  auto const number = static_cast<NodeIndex>(n);
  bool const in = n < level.end;
  bool const candidate = in && level.Wants(node.depth, split.gain);
  bool const left_is_built = split.left.hess <= split.right.hess;
  std::uint32_t const entry = (node.place.group << paths.depth) + node.place.path;
  PathPlace const child{node.place.group, 2 * node.place.path};
  std::uint32_t const built_path = child.path + (left_is_built ? 0 : 1);
  auto const rows_of_group = static_cast<float>(node.group.rows);
  float members =
      static_cast<float>(left_is_built ? split.left.hess : split.right.hess) / node.group.hess * rows_of_group;
  // Siblings are neighbours. The first one's job is for both, if both are split.
  bool pair = false;
  std::uint32_t other_path = 0;
  if (step.sums == PathSums::kPairs) {
    std::uint32_t const other_group = __shfl_xor_sync(kAllLanes, node.place.group, 1);
    bool const other_is_candidate = __shfl_xor_sync(kAllLanes, candidate, 1);
    float const other_members = __shfl_xor_sync(kAllLanes, members, 1);
    other_path = __shfl_xor_sync(kAllLanes, built_path, 1);
    pair = candidate && other_is_candidate && other_group == node.place.group;
    if (pair) members += other_members;
  }
  bool const first_of_pair = pair && (n - level.first) % 2 == 0;
  PathJob job{};
  std::uint32_t units = 0;
  if (candidate && !step.move) {
    job = MakePathJob(tree.unit_rows, node.group, {child.group, built_path}, members, step.sums, &units);
    if (pair && !first_of_pair) units = 0;
  }
  // Those selected are the first candidates: what is before one of them is of selected ones only.
  unsigned long long const before =
      ScanStep<Scan>(candidate ? Both(1, step.move ? node.rows : units) : 0, all, storage);
  std::uint32_t const rank = High(before);
  bool const selected = candidate && rank < level.last_rank;
  if (!in) return;
  if (!selected) {
    paths.splits[entry].feature = kNoFeature;
    return;
  }
  Family const family = level.MakeFamily(tree, number, node.slot, rank, left_is_built);
  PathSplit const rule = MakePathSplit(tree.matrix, split, rank);
  paths.splits[entry] = rule;
  StoreWhole(paths.walk + n, WalkNode{family.left, rule});
  StoreWhole(tree.families + rank, family);
  std::int32_t const left_slot = left_is_built ? family.built_slot : node.slot;
  std::int32_t const right_slot = left_is_built ? node.slot : family.built_slot;
  MakeChildren<kMonotone>(tree, number, node.depth, split, family.left, left_slot, right_slot);
  for (std::uint32_t right = 0; right < 2; ++right) {
    NodeIndex const c = family.left + static_cast<NodeIndex>(right);
    paths.walk[c].left = kNoNode;
    if (step.count) paths.counts[2 * entry + right] = 0;
    paths.places[c] = step.move ? PathPlace{2 * rank + right, 0} : PathPlace{child.group, child.path + right};
  }
  if (step.move) {
    tree.nodes[n].first_row = Low(before);
    tree.nodes[n].rows = node.rows;
  } else {
    job.slot = family.built_slot;
    job.first_unit = Low(before);
    if (first_of_pair && rank + 1 < level.last_rank) {
      job.other_path = other_path;
      job.other_slot = level.NewSlot(tree, rank + 1);
    }
    StoreWhole(paths.jobs + rank, job);
  }
}

template <bool kOrdered>
__device__ inline void EndPaths(DeviceTree const& tree, Selection<kOrdered> const& level, unsigned long long all) {
  if (threadIdx.x != 0) return;
  LevelState& state = *tree.state;
  std::uint32_t const families = min(High(all), level.last_rank);
  level.Store(&state, families);
  bool const is_last = families == level.last_rank;  // all leaves that there may be are made: nobody need look at them
  state.sum_jobs = is_last ? 0 : families;
  state.sum_units = is_last ? 0 : Low(all);
  if (is_last) {
    state.families = 0;
    state.level_first = level.end + 2 * families;
  }
  if (is_last || families == 0) state.path_items = 0;
}

/// One block makes the children and families of the next level and tells the rows of every path what to do. Which child
/// is built is decided by the hessian sums: nobody has counted the rows yet, and either choice gives the same tree.
template <bool kMonotone>
__device__ inline void SelectPaths(DeviceTree const& tree, Selection<false> const& level, PathStep step) {
  unsigned long long all = 0;
  for (std::uint32_t base = level.first; base < level.end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    PlanPathNode<kMonotone, kPlanThreads>(tree, level, step, n, LoadPathNode(tree, level, step, n), &all);
  }
  EndPaths(tree, level, all);
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
        job = MakePathJob(tree.unit_rows, group, {g, 0}, static_cast<float>(group.rows), PathSums::kTold, &units);
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

#endif  // XGBGPU_LEVEL_PLAN_PATHS_CUH_
