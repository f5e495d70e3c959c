#include "core/grid.h"
#include "gradient/gradient_ops.h"
#include "level/clear_slots.cuh"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // one Philox block serves four rows
constexpr int kItemSteps = kPathItemRows / kThreads;
constexpr int kMostPaths = 128;  // of one group at one level

__global__ void __launch_bounds__(kThreads) QuantiseRowsKernel(DeviceTree tree, NarrowGradient* out, std::uint32_t slots) {
  std::uint64_t const rows = tree.matrix.rows;
  GradientState const& gradient = *tree.gradient;
  TreeSettings const& settings = *tree.settings;
  bool const narrow = gradient.format.narrow;
  GradientSum sum;
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads * kLaneRows;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) * kLaneRows; first < rows; first += step) {
    RandomBlock rounding{};
    if (narrow) {
      rounding = RandomStream{settings.seed, RandomPurpose::kRounding, settings.tree, 0}.Block(
          static_cast<std::uint32_t>(first / 4));
    }
    for (int i = 0; i < kLaneRows && first + i < rows; ++i) {
      GradientPair const v = tree.gradients[first + i];
      if (narrow) {
        NarrowGradient const q = QuantiseNarrow(v, gradient.grad_scale, gradient.hess_scale, rounding.word[i]);
        out[first + i] = q;
        sum.grad += q.grad;
        sum.hess += q.hess;
      } else {
        GradientSum const q = QuantiseWide(v, gradient.grad_scale, gradient.hess_scale);
        sum.grad += q.grad;
        sum.hess += q.hess;
      }
    }
  }
  LevelState& state = *tree.state;
  sum.grad = WarpSum(sum.grad);
  sum.hess = WarpSum(sum.hess);
  if (threadIdx.x % 32 == 0) {
    AtomicAdd(&state.sum.grad, sum.grad);
    AtomicAdd(&state.sum.hess, sum.hess);
  }
  if (!IsLastBlock(&state.finished_blocks, gridDim.x)) return;
  for (std::uint32_t s = threadIdx.x; s + 1 < slots; s += kThreads) {
    tree.free_slots[s] = static_cast<std::int32_t>(slots - 1 - s);
  }
  if (threadIdx.x != 0) return;
  RowPaths const& paths = tree.paths;
  auto const n = static_cast<std::uint32_t>(rows);
  Node root;
  root.sum = {__ldcg(&state.sum.grad), __ldcg(&state.sum.hess)};
  root.rows = n;
  root.slot = 0;
  tree.nodes[0] = root;
  tree.families[0] = {kNoNode, 0, 0, -1, 1, 1, 0, 0};
  paths.places[0] = {0, 0};
  paths.walk[0].left = kNoNode;
  paths.groups[0] = {0, n, 0, 0};
  state.sum_units = MakePathJob(tree, 0, {0, 0}, 0, n, n);
  paths.jobs[0].first_unit = 0;
  state.rows = n;
  state.nodes = 1;
  state.level_first = 0;
  state.leaves = 1;
  state.families = 1;
  state.sum_jobs = 1;
  state.free_slots = slots - 1;
  state.groups = 1;
  state.path_items = (n + kPathItemRows - 1) / kPathItemRows;
}

/// A path's rule with the address of the symbol that it looks at.
struct Rule {
  std::uint64_t offset;  ///< of row 0's symbol in the records
  std::uint32_t family;
  std::uint16_t bin;
  std::uint16_t missing_left;
  bool splits;
};

/// What one block does at a time: the rows of a piece of a group, and the rules of the group's paths.
struct Item {
  RowGroup group;
  std::uint32_t number;  ///< of the group
  std::uint32_t first, end;  ///< rows of the store
};

__device__ Item LoadItem(DeviceTree const& tree, std::uint32_t item, Rule* rules) {
  RowPaths const& paths = tree.paths;
  DeviceMatrixView const& m = tree.matrix;
  Item it;
  it.number = FindJob(tree.state->groups, item, [&](std::uint32_t g) { return paths.groups[g].first_item; });
  it.group = paths.groups[it.number];
  it.first = it.group.first_row + (item - it.group.first_item) * kPathItemRows;
  it.end = min(it.first + kPathItemRows, it.group.first_row + it.group.rows);
  if (threadIdx.x < (1U << paths.depth)) {
    PathSplit const s = paths.splits[(it.number << paths.depth) + threadIdx.x];
    Rule& rule = rules[threadIdx.x];
    rule.splits = s.feature != kNoFeature;
    rule.family = s.family;
    rule.bin = s.bin;
    rule.missing_left = s.missing_left;
    FeatureIndex const feature = rule.splits ? s.feature : 0;
    rule.offset = std::uint64_t{feature / m.tile_columns} * m.rows * m.record_bytes() +
                  feature % m.tile_columns * m.symbol_bytes;
  }
  __syncthreads();
  return it;
}

__device__ std::uint32_t LoadSymbol(DeviceTree const& tree, std::uint64_t offset, std::uint32_t row) {
  std::uint8_t const* const at = tree.paths.store.records + offset + std::uint64_t{row} * tree.matrix.record_bytes();
  return tree.matrix.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
}

/// Paths of the children that this thread's rows go to: row first + k · kThreads + thread, kDeadPath if none.
__device__ void NextPaths(DeviceTree const& tree, Item const& it, Rule const* rules, std::uint32_t* next) {
  RowPaths const& paths = tree.paths;
  std::uint32_t path[kItemSteps], symbol[kItemSteps];
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
    path[k] = row < it.end ? (paths.path == nullptr ? 0 : paths.path[row]) : kDeadPath;
  }
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
    bool const live = path[k] != kDeadPath && rules[path[k]].splits;
    symbol[k] = live ? LoadSymbol(tree, rules[path[k]].offset, row) : 0;
    if (!live) path[k] = kDeadPath;
  }
#pragma unroll
  for (int k = 0; k < kItemSteps; ++k) {
    if (path[k] == kDeadPath) {
      next[k] = kDeadPath;
      continue;
    }
    Rule const& rule = rules[path[k]];
    bool const left = symbol[k] < rule.bin || symbol[k] == rule.missing_left;
    next[k] = 2 * path[k] + (left ? 0 : 1);
  }
}

/// Adds one to counters[key] for every lane with the same key, by one of them; returns this lane's place among the rows
/// of its key in the block. kDeadPath is not counted.
__device__ std::uint32_t CountRows(std::uint32_t* counters, std::uint32_t key) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const peers = __match_any_sync(kAllLanes, key);
  std::uint32_t const leader = static_cast<std::uint32_t>(__ffs(static_cast<int>(peers)) - 1);
  std::uint32_t place = 0;
  if (lane == leader && key != kDeadPath) place = atomicAdd(counters + key, static_cast<std::uint32_t>(__popc(peers)));
  return __shfl_sync(kAllLanes, place, static_cast<int>(leader)) + __popc(peers & ((1U << lane) - 1));
}

template <bool kCount>
__global__ void __launch_bounds__(kThreads) AdvancePathsKernel(DeviceTree tree) {
  __shared__ Rule rules[kMostPaths];
  __shared__ std::uint32_t counters[2 * kMostPaths];
  RowPaths const& paths = tree.paths;
  ClearSlots(tree);
  std::uint32_t const items = tree.state->path_items, children = 2U << paths.depth;
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    if (kCount && threadIdx.x < children) counters[threadIdx.x] = 0;
    Item const it = LoadItem(tree, item, rules);
    std::uint32_t next[kItemSteps];
    NextPaths(tree, it, rules, next);
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) {
      std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
      if (row < it.end) paths.next_path[row] = static_cast<std::uint8_t>(next[k]);
      if (kCount) CountRows(counters, next[k]);
    }
    __syncthreads();
    if (kCount && threadIdx.x < children && counters[threadIdx.x] != 0) {
      atomicAdd(paths.counts + it.number * children + threadIdx.x, counters[threadIdx.x]);
    }
    if (kCount) __syncthreads();  // before the counters are cleared
  }
}

/// Copies one record of `bytes` bytes: 4, 8, 16 or 32.
__device__ void CopyRecord(std::uint8_t const* from, std::uint8_t* to, std::uint32_t bytes) {
  if (bytes == 32) {
    uint4 const a = reinterpret_cast<uint4 const*>(from)[0], b = reinterpret_cast<uint4 const*>(from)[1];
    reinterpret_cast<uint4*>(to)[0] = a;
    reinterpret_cast<uint4*>(to)[1] = b;
  } else if (bytes == 16) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<uint4 const*>(from);
  } else if (bytes == 8) {
    *reinterpret_cast<uint2*>(to) = *reinterpret_cast<uint2 const*>(from);
  } else {
    *reinterpret_cast<std::uint32_t*>(to) = *reinterpret_cast<std::uint32_t const*>(from);
  }
}

__device__ void MoveRow(DeviceTree const& tree, std::uint32_t from, std::uint32_t to, bool narrow) {
  RowPaths const& paths = tree.paths;
  std::uint32_t const bytes = tree.matrix.record_bytes();
  CopyRecord(paths.store.records + std::uint64_t{from} * bytes, paths.next_records + std::uint64_t{to} * bytes, bytes);
  if (narrow) {
    paths.next_narrow[to] = paths.store.narrow[from];
  } else if (paths.next_wide != nullptr) {
    paths.next_wide[to] = paths.store.wide[from];
  }
}

/// Left children fill their parent's range from the front, right ones from its end: no order is kept inside a node, and
/// no sum depends on it.
__global__ void __launch_bounds__(kThreads) MovePathsKernel(DeviceTree tree) {
  __shared__ Rule rules[kMostPaths];
  __shared__ std::uint32_t counters[2 * kMostPaths];  // rows of each child, then the place of its first one
  RowPaths const& paths = tree.paths;
  bool const narrow = tree.gradient->format.narrow;
  if (!narrow && paths.next_wide == nullptr && blockIdx.x == 0 && threadIdx.x == 0) tree.state->no_room = 1;
  ClearSlots(tree);
  std::uint32_t const items = tree.state->path_items, parents = 1U << paths.depth;
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    if (threadIdx.x < 2 * parents) counters[threadIdx.x] = 0;
    Item const it = LoadItem(tree, item, rules);
    std::uint32_t next[kItemSteps], place[kItemSteps];
    NextPaths(tree, it, rules, next);
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) place[k] = CountRows(counters, next[k]);
    __syncthreads();
    if (threadIdx.x < parents && rules[threadIdx.x].splits) {
      std::uint32_t const left = counters[2 * threadIdx.x], right = counters[2 * threadIdx.x + 1];
      Family& family = tree.families[rules[threadIdx.x].family];
      Node const& parent = tree.nodes[family.parent];
      unsigned long long const before = left + right != 0 ? atomicAdd(&family.moved, Both(right, left)) : 0;
      counters[2 * threadIdx.x] = parent.first_row + Low(before);
      counters[2 * threadIdx.x + 1] = parent.first_row + parent.rows - High(before) - right;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItemSteps; ++k) {
      std::uint32_t const row = it.first + k * kThreads + threadIdx.x;
      if (row >= it.end) continue;
      bool const live = next[k] != kDeadPath;
      if (paths.start != nullptr) {
        std::uint32_t const group = live ? 2 * rules[next[k] / 2].family + next[k] % 2 : kDeadPath;
        paths.start[row] = static_cast<std::uint8_t>(group);
      }
      if (live) MoveRow(tree, row, counters[next[k]] + place[k], narrow);
    }
    __syncthreads();  // before the rules and counters are written again
  }
  if (IsLastBlock(&tree.state->finished_blocks, gridDim.x)) PlanGroups(tree);
}

__global__ void __launch_bounds__(kThreads) WalkRowsKernel(DeviceTree tree, bool from_start) {
  DeviceMatrixView const& m = tree.matrix;
  RowPaths const& paths = tree.paths;
  std::uint32_t const record_bytes = m.record_bytes();
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < m.rows; row += step) {
    NodeIndex n = 0;
    if (from_start) {
      std::uint8_t const start = paths.start[row];
      if (start != kDeadPath) n = paths.start_nodes[start];
    }
    for (;;) {
      WalkNode const node = paths.walk[n];
      if (node.left == kNoNode) break;
      std::uint8_t const* const at =
          m.records + (std::uint64_t{node.split.feature / m.tile_columns} * m.rows + row) * record_bytes +
          node.split.feature % m.tile_columns * m.symbol_bytes;
      std::uint32_t const symbol = m.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
      bool const left = symbol < node.split.bin || symbol == node.split.missing_left;
      n = node.left + (left ? 0 : 1);
    }
    tree.positions[row] = n;
  }
}

}  // namespace

void StartPaths(DeviceTree const& tree, NarrowGradient* narrow, std::uint32_t slots, DeviceLimits const& limits,
                cudaStream_t stream) {
  unsigned const blocks = Blocks(tree.matrix.rows, kThreads * kLaneRows, limits, kResident);
  QuantiseRowsKernel<<<blocks, kThreads, 0, stream>>>(tree, narrow, slots);
  CheckLaunch("quantising gradients");
}

void AdvancePaths(DeviceTree const& tree, PathStep step, DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(tree.matrix.rows, kPathItemRows, limits, kResident);
  if (step.counts) {
    AdvancePathsKernel<true><<<blocks, kThreads, 0, stream>>>(tree);
  } else {
    AdvancePathsKernel<false><<<blocks, kThreads, 0, stream>>>(tree);
  }
  CheckLaunch("dividing rows");
}

void MovePaths(DeviceTree const& tree, DeviceLimits const& limits, cudaStream_t stream) {
  MovePathsKernel<<<Blocks(tree.matrix.rows, kPathItemRows, limits, kResident), kThreads, 0, stream>>>(tree);
  CheckLaunch("moving rows");
}

void WalkRows(DeviceTree const& tree, bool from_start, DeviceLimits const& limits, cudaStream_t stream) {
  WalkRowsKernel<<<Blocks(tree.matrix.rows, kThreads, limits, kResident), kThreads, 0, stream>>>(tree, from_start);
  CheckLaunch("looking for the leaves of rows");
}

}  // namespace xgbgpu::cuda
