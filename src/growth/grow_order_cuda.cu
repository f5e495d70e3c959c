// The kernel that keeps the order of a loss-guided tree and plans its next level.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "growth/growth_policy.h"
#include "growth/plan_lists.cuh"
#include "growth/plan_paths.cuh"

namespace xgbgpu::cuda {

namespace {

/// The order before a level and the level's nodes: one of either for each thread, and room in the order for one more.
/// TreeShape says why a level has not more nodes than the tree may have leaves.
constexpr std::uint32_t kMostThreads = 1024;
static_assert(GrowthPolicy{}.most_ordered_leaves <= kMostThreads && kMostThreads <= kMostOrdered);

template <int kThreads>
struct OrderShared {
  OrderKey least[2 * kThreads];    ///< the tree of least precedences of the old order (GapOf)
  OrderKey keys[2][kThreads];      ///< keys of the nodes of the level, while they are sorted
  std::uint32_t places[kThreads];  ///< places in the new order of the nodes of the old one
  std::uint32_t freed;             ///< number of slots that are freed
};

/// A node of the level, as far as it counts here.
struct LevelNode {
  bool in;  ///< there is one for this thread
  NodeIndex n;
  float gain;
  std::uint32_t parent;  ///< place of its parent in the old order; 0 for the root
  std::int32_t slot;
  bool candidate;
};

/// The tree that GapOf looks at, from its last level, of which each thread has one.
template <int kThreads>
__device__ void BuildLeast(OrderKey own, OrderKey* least) {
  constexpr std::uint32_t kWarps = kThreads / 32;
  auto const up = [&](OrderKey value, std::uint32_t nodes) {  // from a level of `nodes` nodes, some of which a warp has
    for (std::uint32_t d = 1; d < min(nodes, 32U); d *= 2) {
      value = min(value, __shfl_xor_sync(kAllLanes, value, d));
      if (threadIdx.x < nodes && threadIdx.x % (2 * d) == 0) least[(nodes + threadIdx.x) / (2 * d)] = value;
    }
  };
  least[kThreads + threadIdx.x] = own;
  up(own, kThreads);
  __syncthreads();
  if (threadIdx.x < 32) up(threadIdx.x < kWarps ? least[kWarps + threadIdx.x] : kNoOrderKey, kWarps);
  __syncthreads();
}

/// Sorts the keys of all threads, which are kNoOrderKey from thread n on. Bitonic: neighbours exchange theirs without
/// memory.
template <int kThreads>
__device__ OrderKey const* SortKeys(OrderKey key, std::uint32_t n, OrderKey (*room)[kThreads]) {
  OrderKey *now = room[0], *next = room[1];
  for (std::uint32_t run = 2; run / 2 < n; run *= 2) {
    for (std::uint32_t d = run / 2; d > 0; d /= 2) {
      OrderKey other;
      if (d < 32) {
        other = __shfl_xor_sync(kAllLanes, key, d);
      } else {
        now[threadIdx.x] = key;
        __syncthreads();
        other = now[threadIdx.x ^ d];
        OrderKey* const read = now;  // others still read it: it is written again after another barrier
        now = next;
        next = read;
      }
      bool const smaller = ((threadIdx.x & run) == 0) == ((threadIdx.x & d) == 0);
      if ((other < key) == smaller) key = other;
    }
  }
  now[threadIdx.x] = key;
  __syncthreads();
  return now;
}

/// Inserts the nodes of the level into the order, and drops the nodes behind its end. Each thread has a node of the
/// level, `own`, and a node of the order, `old`. Returns true if `own` is in the order now.
template <int kThreads>
__device__ bool OrderLevel(PlanView const& plan, Selection<true>* level, std::uint32_t before, OrderedNode const& old,
                           LevelNode const& own, OrderShared<kThreads>* shared) {
  GrowOrderView const& order = plan.order;
  std::uint32_t const nodes = level->end - level->first;
  bool const is_old = threadIdx.x < before;
  if (threadIdx.x == 0) shared->freed = 0;
  BuildLeast<kThreads>(is_old ? PrecedenceOf(old.gain, old.parent) : 0, shared->least);
  OrderKey key = kNoOrderKey;
  if (own.candidate) {
    std::uint32_t const gap = GapOf(shared->least, kThreads, before, own.gain, own.parent);
    key = KeyOfNew(gap, own.gain, own.parent, IsRight(own.n));
  }
  OrderKey const* const keys = SortKeys<kThreads>(key, nodes, shared->keys);
  std::uint32_t const place = PlaceOf(key, keys, nodes);
  std::uint32_t const old_place = is_old ? PlaceOf(KeyOfOld(threadIdx.x), keys, nodes) : kNoPlace;
  shared->places[threadIdx.x] = old_place;
  auto const candidates = static_cast<std::uint32_t>(__syncthreads_count(own.candidate ? 1 : 0));
  if (is_old) order.places[old.node] = old_place < order.most ? old_place : kNoPlace;
  if (old_place < order.most) {
    StoreWhole(order.nodes + old_place, OrderedNode{old.gain, shared->places[old.parent], old.node});
  }
  bool const ordered = place < order.most;
  if (ordered) {
    std::uint32_t const parent = before == 0 ? 0 : shared->places[own.parent];
    StoreWhole(order.nodes + place, OrderedNode{own.gain, parent, own.n});
  }
  if (own.in) order.places[own.n] = ordered ? place : kNoPlace;
  if (own.in && !ordered) order.free_slots[level->free_slots + atomicAdd(&shared->freed, 1U)] = own.slot;
  __syncthreads();
  level->free_slots += shared->freed;
  if (threadIdx.x == 0) plan.tree.state->ordered = min(before + candidates, order.most);
  return ordered;
}

/// One block with a thread for each node. All that is loaded is on its way before the first barrier.
template <bool kMonotone, int kThreads>
__global__ void __launch_bounds__(kThreads)
    PlanOrderedKernel(SplitView view, GrowthView growth, NextLevel next, PathStep step) {
  PlanView const plan = PlanOf(view, growth);
  __shared__ OrderShared<kThreads> shared;
  WaitForKernelBefore();
  GrowOrderView const& order = plan.order;
  OrderedNode const old = threadIdx.x < order.most ? order.nodes[threadIdx.x] : OrderedNode{};
  std::uint32_t const before = plan.tree.state->ordered;
  auto level = MakeSelection<true>(plan);
  std::uint32_t const n = level.first + threadIdx.x;
  bool const in = n < level.end;
  NodeIndex const parent_node = in && n != 0 ? plan.tree.nodes[n].parent : kNoNode;
  auto const order_level = [&](auto const& node) {
    std::uint32_t const parent = parent_node != kNoNode ? order.places[parent_node] : 0;
    bool const candidate = in && level.IsCandidate(node.depth, node.split.gain);
    if (in) plan.tree.state->depth = node.depth + 1;  // every thread writes the same value
    level.in_order =
        OrderLevel<kThreads>(plan, &level, before, old,
                             {in, static_cast<NodeIndex>(n), node.split.gain, parent, node.slot, candidate}, &shared);
  };
  unsigned long long all = 0;
  if (next == NextLevel::kLists) {
    ListNode const node = LoadListNode(plan, level, n);
    order_level(node);
    PlanListNode<kMonotone, kThreads>(plan, level, n, node, &all);
    EndLists(plan, level, all);
  } else {
    PathNode const node = LoadPathNode(plan, level, step, n);
    order_level(node);
    PlanPathNode<kMonotone, kThreads>(plan, level, step, n, node, &all);
    EndPaths(plan, level, all);
  }
}

}  // namespace

void PlanOrdered(SplitView const& view, NextPlan const& plan, DeviceLimits const& limits, cudaStream_t stream) {
  GrowOrderView const& order = plan.growth.order;
  if (order.nodes == nullptr) return;
  auto const launch = [&](auto threads) {
    constexpr int kThreads = decltype(threads)::value;
    auto* const kernel =
        view.limits.directions != nullptr ? PlanOrderedKernel<true, kThreads> : PlanOrderedKernel<false, kThreads>;
    LaunchNext("choosing the next level", kernel, 1, kThreads, 0, limits, stream, view, plan.growth, plan.next,
               plan.step);
  };
  if (order.most < 256) {
    launch(std::integral_constant<int, 256>{});
  } else if (order.most < 512) {
    launch(std::integral_constant<int, 512>{});
  } else {
    launch(std::integral_constant<int, kMostThreads>{});
  }
}

}  // namespace xgbgpu::cuda
