/// The plan of a level with rows by paths, made by one block.
#ifndef XGBGPU_GROWTH_PLAN_PATHS_CUH_
#define XGBGPU_GROWTH_PLAN_PATHS_CUH_

#include "growth/plan_level.cuh"
#include "partition/path_jobs.cuh"

namespace xgbgpu::cuda {

/// The plan reads this of a node of the level. It is empty from level.end on.
struct PathNode {
  PathPlace place;
  int depth;
  std::int32_t slot;
  RowGroup group;
  std::uint32_t rows;  ///< rows of the node, if the next level is moved
  SplitCandidate split;
};

template <bool kOrdered>
__device__ inline PathNode LoadPathNode(PlanView const& plan, Selection<kOrdered> const& level, PathStep step,
                                        std::uint32_t n) {
  if (n >= level.end) return {};
  RowPaths const& paths = plan.paths;
  PathNode node{paths.places[n], plan.tree.nodes[n].depth, plan.tree.nodes[n].slot, {}, 0, {}};
  SplitCandidate const* const split = level.FindSplit(plan, n);
  node.group = paths.groups[node.place.group];
  if (step.move) node.rows = __ldcg(paths.counts + (node.place.group << paths.depth) + node.place.path);
  node.split = level.LoadSplit(plan, n, split);
  return node;
}

/// Does the part of SelectPaths for kThreads nodes. A thread has node n. *all: candidates so far, and their units, or
/// rows if they will be moved.
template <bool kMonotone, int kThreads, bool kOrdered>
__device__ inline void PlanPathNode(PlanView const& plan, Selection<kOrdered> const& level, PathStep step,
                                    std::uint32_t n, PathNode const& node, unsigned long long* all) {
  using Scan = PlanScanOf<kThreads>;
  __shared__ typename Scan::TempStorage storage;
  RowPaths const& paths = plan.paths;
  SplitCandidate const& split = node.split;
  auto const number = static_cast<NodeIndex>(n);
  bool const in = n < level.end;
  bool const candidate = in && level.Wants(node.depth, split.gain);
  bool const left_is_built = LeftIsBuilt(split.left, split.right);
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
    job = MakePathJob(plan.paths.unit_rows, node.group, {child.group, built_path}, members, step.sums, &units);
    if (pair && !first_of_pair) units = 0;
  }
  // The first candidates are selected: all sums before a selected candidate are of selected candidates.
  unsigned long long const before =
      ScanStep<Scan>(candidate ? Both(1, step.move ? node.rows : units) : 0, all, storage);
  std::uint32_t const rank = High(before);
  bool const selected = candidate && rank < level.last_rank;
  if (!in) return;
  if (!selected) {
    paths.splits[entry].column = kNoColumn;
    return;
  }
  Family const family = level.MakeFamily(plan, number, node.slot, rank, split);
  PathSplit const rule = MakePathSplit(plan.matrix, split, rank);
  paths.splits[entry] = rule;
  PathSplit walked = rule;
  if (paths.walk_whole) walked.column = split.feature;
  StoreWhole(paths.walk + n, WalkNode{family.left, walked});
  StoreWhole(plan.tree.families + rank, family);
  MakeChildren<kMonotone>(plan, family, node.depth, split);
  for (std::uint32_t right = 0; right < 2; ++right) {
    NodeIndex const c = family.left + static_cast<NodeIndex>(right);
    paths.walk[c].left = kNoNode;
    if (step.count) paths.counts[2 * entry + right] = 0;
    paths.places[c] = step.move ? PathPlace{2 * rank + right, 0} : PathPlace{child.group, child.path + right};
  }
  if (step.move) {
    plan.tree.nodes[n].first_row = Low(before);
    plan.tree.nodes[n].rows = node.rows;
  } else {
    job.slot = family.built_slot;
    job.first_unit = Low(before);
    if (first_of_pair && rank + 1 < level.last_rank) {
      job.other_path = other_path;
      job.other_slot = level.NewSlot(plan, rank + 1);
    }
    StoreWhole(paths.jobs + rank, job);
  }
}

template <bool kOrdered>
__device__ inline void EndPaths(PlanView const& plan, Selection<kOrdered> const& level, unsigned long long all) {
  if (threadIdx.x != 0) return;
  LevelState& state = *plan.tree.state;
  std::uint32_t const families = min(High(all), level.last_rank);
  level.Store(&state, families);
  bool const is_last = families == level.last_rank;  // all leaves are made: no block need look at them
  state.sum_jobs = is_last ? 0 : families;
  state.sum_units = is_last ? 0 : Low(all);
  if (is_last) {
    state.families = 0;
    state.level_first = level.end + 2 * families;
  }
  if (is_last || families == 0) state.path_items = 0;
}

/// One block makes the children and families of the next level, and the rules of every path. The hessian sums decide
/// which child is built: rows have not been counted yet, and either choice gives the same tree.
template <bool kMonotone>
__device__ inline void SelectPaths(PlanView const& plan, Selection<false> const& level, PathStep step) {
  unsigned long long all = 0;
  for (std::uint32_t base = level.first; base < level.end; base += kPlanThreads) {
    std::uint32_t const n = base + threadIdx.x;
    PlanPathNode<kMonotone, kPlanThreads>(plan, level, step, n, LoadPathNode(plan, level, step, n), &all);
  }
  EndPaths(plan, level, all);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_PLAN_PATHS_CUH_
