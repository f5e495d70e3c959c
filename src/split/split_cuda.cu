#include "core/grid.h"
#include "core/launch.h"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"
#include "split/category_split_cuda.cuh"
#include "split/constraint_ops.h"
#include "split/split_block.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kSplitThreads;
static_assert(kThreads == kPlanThreads);  // its last block plans

/// The order of candidates in a block: the smaller feature first, then the order of the scans (missing right, bins
/// ascending; missing left, bins descending).
__device__ std::uint32_t OrderOf(std::uint32_t column, bool forward, std::uint32_t step) {
  return (column << 18) | (forward ? 0U : 1U << 17) | step;  // 256 columns, 2^17 bins
}

__device__ bool IsIn(std::uint32_t const* set, FeatureIndex f) {
  return set == nullptr || ((set[f / 32] >> (f % 32)) & 1U) != 0;
}

/// The bins that one thread looks at: `n` of them, from `first` on; none of a feature outside the sample of the tree.
struct Segment {
  FeatureIndex feature;
  std::uint32_t column;  ///< of the group
  std::uint32_t first, n, bins;
  std::uint64_t cell;  ///< of its first bin
};

__device__ Segment SegmentOf(DeviceTree const& tree, SplitGroup const& group) {
  // Everything here is a power of two, and shifts are faster than divisions.
  int const column_bits = __ffs(kThreads) - __ffs(group.segments);
  std::uint32_t const column = threadIdx.x & ((1U << column_bits) - 1), part = threadIdx.x >> column_bits;
  Segment s{};
  s.column = column;
  s.feature = group.first + column;
  if (column >= group.features || !IsIn(tree.features_of_tree, s.feature)) return s;
  s.bins = tree.matrix.bins(s.feature);
  std::uint32_t const per_part = (s.bins + group.segments - 1) >> (__ffs(group.segments) - 1);
  s.first = min(part * per_part, s.bins);
  s.n = min(per_part, s.bins - s.first);
  s.cell = tree.matrix.first_cell(s.feature) + std::uint64_t{s.first} * tree.matrix.cell_stride();
  return s;
}

/// Sums of kSplitBins neighbouring bins in registers: all of them are on their way before the first is used.
struct BinRun {
  GradientSum sum[kSplitBins];

  /// Bins `from` … of the segment; those beyond its end are zero. In a sibling a bin is what the parent has left, and
  /// is stored if `store`.
  __device__ void Load(Segment const& s, std::uint64_t stride, std::uint32_t from, GradientSum* own,
                       GradientSum const* built, bool store) {
    longlong2 v[kSplitBins], b[kSplitBins];
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      bool const in = from + i < s.n;
      std::uint64_t const at = s.cell + (from + i) * stride;
      v[i] = in ? *reinterpret_cast<longlong2 const*>(own + at) : longlong2{0, 0};
      b[i] = in && built != nullptr ? *reinterpret_cast<longlong2 const*>(built + at) : longlong2{0, 0};
    }
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      sum[i] = {v[i].x - b[i].x, v[i].y - b[i].y};
      if (store && from + i < s.n) {
        *reinterpret_cast<longlong2*>(own + s.cell + (from + i) * stride) = {sum[i].grad, sum[i].hess};
      }
    }
  }
  __device__ GradientSum Total() const {
    GradientSum total;
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      total.grad += sum[i].grad;
      total.hess += sum[i].hess;
    }
    return total;
  }
};

/// The best candidate that a thread has seen.
struct BestCandidate {
  unsigned long long key{0};
  BinIndex bin{0};
  bool default_left{false};
  GradientSum left;

  /// Considers the splits on either side of the bins of a run, which begins `from` bins into the segment. *below: sum
  /// of the present values below it, moved on to those below the next run.
  template <bool kMonotone>
  __device__ void Scan(SplitParams const& p, Segment const& s, BinRun const& run, std::uint32_t from, GradientSum total,
                       NodeTerms const& node, int direction, GradientSum present, GradientSum* below) {
    bool const missing = present != total;
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      // An empty bin repeats its neighbour's candidate, which comes first in the order.
      bool const in = from + i < s.n;
      std::uint32_t const b = s.first + from + i;
      if (missing && in) {  // bins from b on go right, missing values go left
        GradientSum const right = Minus(present, *below);
        float const gain = SplitGain<kMonotone>(p, Minus(total, right), right, node, direction);
        Consider(gain, s, false, b, s.bins - 1 - b, Minus(total, right));
      }
      below->grad += run.sum[i].grad;
      below->hess += run.sum[i].hess;
      if (!in) continue;
      float const gain = SplitGain<kMonotone>(p, *below, Minus(total, *below), node, direction);
      Consider(gain, s, true, b + 1, b, *below);
    }
  }
  /// As the candidate of a node with this sum.
  __device__ SplitCandidate Split(FeatureIndex feature, GradientSum total) const {
    if (key == 0) return {};
    return {GainOf(key), feature, bin, default_left, false, left, Minus(total, left)};
  }

 private:
  static __device__ GradientSum Minus(GradientSum a, GradientSum b) { return {a.grad - b.grad, a.hess - b.hess}; }
  __device__ void Consider(float gain, Segment const& s, bool forward, BinIndex first_right, std::uint32_t step,
                           GradientSum below) {
    unsigned long long const other = CandidateKey(gain, OrderOf(s.column, forward, step));
    if (other <= key) return;
    key = other;
    bin = first_right;
    default_left = !forward;
    left = below;
  }
};

/// Prefix sums over the segments of a feature: the sum of those below this thread's, and of all.
__device__ void SumBelow(SplitGroup const& group, std::uint32_t column, GradientSum mine, SplitShared* shared,
                         GradientSum* below, GradientSum* present) {
  std::uint32_t const columns = static_cast<std::uint32_t>(kThreads) >> (__ffs(group.segments) - 1);
  std::uint32_t const lane = threadIdx.x % 32;
  GradientSum up_to = mine;  // over the segments in this warp
  for (std::uint32_t d = columns; d < 32; d *= 2) {
    std::int64_t const grad = __shfl_up_sync(kAllLanes, up_to.grad, d), hess = __shfl_up_sync(kAllLanes, up_to.hess, d);
    if (lane < d) continue;
    up_to.grad += grad;
    up_to.hess += hess;
  }
  // One part for each column of a warp, or, with more columns than lanes, for each thread.
  std::uint32_t const width = min(columns, 32U), per_row = max(columns / 32, 1U);
  std::uint32_t const warp = threadIdx.x / 32;
  if (lane >= 32 - width) shared->part[warp * width + (lane & (width - 1))] = {up_to.grad, up_to.hess};
  __syncthreads();
  *below = {up_to.grad - mine.grad, up_to.hess - mine.hess};
  *present = {0, 0};
  std::uint32_t const first = column / 32;  // warp that holds the column's first segment
#pragma unroll 8
  for (std::uint32_t w = first; w < kThreads / 32; w += per_row) {
    longlong2 const v = shared->part[w * width + (column & (width - 1))];
    if (w < warp) {
      below->grad += v.x;
      below->hess += v.y;
    }
    present->grad += v.x;
    present->hess += v.y;
  }
}

/// Do the interaction constraints let node n be split by feature f?
__device__ bool MayMeetAt(DeviceTree const& tree, NodeIndex n, FeatureIndex f) {
  NodeLimitsView const& limits = tree.limits;
  if (limits.set_words == 0 || n == 0) return true;
  return MayMeet(limits.sets + static_cast<std::uint64_t>(n) * limits.set_words,
                 limits.sets_of_features + std::uint64_t{f} * limits.set_words, limits.set_words,
                 f == tree.nodes[0].split.feature);
}

/// Best split of node n over the features of one group; true in the one thread that holds it. `kept`: a sibling's
/// histogram is needed after this level.
template <bool kMonotone>
__device__ bool BestOfGroup(DeviceTree const& tree, SplitParams const& params, SplitGroup const& group,
                            Segment const& s, NodeIndex n, bool kept, std::uint32_t const* allowed, GradientSum* own,
                            GradientSum const* built, SplitShared* shared, SplitCandidate* split) {
  GradientSum const total = tree.nodes[n].sum;
  bool const scanned = s.n != 0 && IsIn(allowed, s.feature) && MayMeetAt(tree, n, s.feature);
  std::uint64_t const stride = tree.matrix.cell_stride();
  bool const one_run = s.n <= kSplitBins;
  BinRun run{};
  GradientSum mine;
  for (std::uint32_t from = 0; from < s.n; from += kSplitBins) {
    run.Load(s, stride, from, own, built, built != nullptr && (kept || !one_run));
    GradientSum const sum = run.Total();
    mine.grad += sum.grad;
    mine.hess += sum.hess;
  }
  GradientSum below, present;
  SumBelow(group, s.column, mine, shared, &below, &present);
  BestCandidate best;
  if (scanned) {
    NodeTerms const node = TermsOf<kMonotone>(params, total, kMonotone ? tree.limits.bounds[n] : WeightBounds{});
    int const direction = kMonotone ? tree.limits.directions[s.feature] : 0;
    for (std::uint32_t from = 0; from < s.n; from += kSplitBins) {
      if (!one_run) run.Load(s, stride, from, own, nullptr, false);
      best.Scan<kMonotone>(params, s, run, from, total, node, direction, present, &below);
    }
  }
  bool const largest = HasLargest(best.key, shared);
  if (largest) *split = best.Split(s.feature, total);
  return largest;
}

/// The same, where the group may be a categorical feature.
template <bool kMonotone, bool kCategories>
__device__ bool BestOf(DeviceTree const& tree, SplitParams const& params, SplitGroup const& group, Segment const& s,
                       NodeIndex n, bool kept, std::uint32_t const* allowed, GradientSum* own, GradientSum const* built,
                       SplitShared* shared, SplitCandidate* split) {
  if constexpr (kCategories) {
    FeatureIndex const f = group.first;
    if (group.categorical) {
      return BestOfCategories<kMonotone>(tree, params, f, n, IsIn(tree.features_of_tree, f),
                                         IsIn(allowed, f) && MayMeetAt(tree, n, f), own, built, shared, split);
    }
  }
  return BestOfGroup<kMonotone>(tree, params, group, s, n, kept, allowed, own, built, shared, split);
}

/// Best split of a node over all groups: found by one warp, written to the node.
__device__ void BestOfNode(DeviceTree const& tree, SplitCandidate const* candidates, Node* node) {
  std::uint32_t const lane = threadIdx.x % 32;
  unsigned long long best = 0;
  std::uint32_t place = 0;
  for (std::uint32_t g = lane; g < tree.group_count; g += 32) {
    float const gain = __ldcg(&candidates[g].gain);
    // Groups are in the order of their features: of equal gains the first group wins.
    unsigned long long const key = CandidateKey(gain, g);
    if (key > best) {
      best = key;
      place = g;
    }
  }
  unsigned long long const top = WarpMax(best);
  if (top == 0 ? lane == 0 : best == top) node->split = LoadFresh(candidates + place);
}

__device__ std::uint32_t const* SetOf(DeviceTree const& tree, std::uint32_t family, bool right) {
  if (tree.features_of_node == nullptr) return nullptr;
  return tree.features_of_node + std::uint64_t{2 * family + right} * tree.feature_words;
}

/// kMonotone: there are monotone constraints. kCategories: some features are categorical.
template <bool kMonotone, bool kCategories>
__global__ void __launch_bounds__(kThreads, kSplitResident)
    FindSplitsKernel(DeviceTree tree, NextLevel next, PathStep step) {
  __shared__ SplitShared shared;
  __shared__ bool last_group;
  __shared__ Selection<false> level;  // for the last block
  std::uint32_t const groups = tree.group_count;
  // What no kernel of the tree writes can be read early. Items of a block seldom have another group than its first one.
  std::uint32_t g = blockIdx.x % groups;
  SplitGroup group = tree.groups[g];
  Segment segment = SegmentOf(tree, group);
  WaitForKernelBefore();
  SplitParams const params = ParamsOf(tree);
  if (threadIdx.x == 0) level = MakeSelection<false>(tree);
  bool const root = tree.families[0].sibling_slot < 0;  // has no sibling; every other family has one
  std::uint32_t const items = tree.state->families * (root ? 1 : 2) * groups;
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    std::uint32_t const node_item = item / groups;
    std::uint32_t const f = root ? 0 : node_item / 2, child = root ? 0 : node_item % 2;
    Family* const family = tree.families + f;
    if (item - node_item * groups != g) {
      g = item - node_item * groups;
      group = tree.groups[g];
      segment = SegmentOf(tree, group);
    }
    auto const sums = [&](std::int32_t slot) {
      return tree.histograms + static_cast<std::uint64_t>(slot) * tree.matrix.cells;
    };
    bool const subtract = child == 1 && family->subtract != 0;
    NodeIndex const n = child == 0 ? family->built() : family->sibling();
    SplitCandidate* const candidates = tree.candidates + (std::uint64_t{2 * f} + (n == family->left ? 0 : 1)) * groups;
    GradientSum* const own = sums(child == 0 ? family->built_slot : family->sibling_slot);
    GradientSum const* const built = subtract ? sums(family->built_slot) : nullptr;
    std::uint32_t const* const allowed = SetOf(tree, f, n != family->left);
    // Children at the greatest depth are not evaluated: nothing is subtracted from the histograms of their parents.
    bool const kept = next == NextLevel::kByHost || tree.nodes[n].depth + 1 < tree.settings->max_depth;
    SplitCandidate best;
    bool const mine =
        BestOf<kMonotone, kCategories>(tree, params, group, segment, n, kept, allowed, own, built, &shared, &best);
    if (mine) candidates[g] = best;
    if (SelectionReduces(tree, next)) continue;
    __threadfence();
    __syncthreads();
    std::uint32_t* const finished = child == 0 ? &family->finished_built : &family->finished_sibling;
    if (threadIdx.x == 0) last_group = atomicAdd(finished, 1U) == groups - 1;
    __syncthreads();
    if (last_group && threadIdx.x < 32) {
      __threadfence();
      BestOfNode(tree, candidates, tree.nodes + n);
    }
    if constexpr (kCategories) {
      if (last_group) {
        __syncthreads();
        WriteNodeSet(tree, params, n, own);
      }
    }
    __syncthreads();  // last_group is used again
  }
  if (next == NextLevel::kByHost || tree.order.nodes != nullptr) return;
  if (!IsLastBlock(&tree.state->finished_blocks, gridDim.x)) return;
  if (next == NextLevel::kLists) {
    SelectLevel<kMonotone>(tree, level);
  } else {
    SelectPaths<kMonotone>(tree, level, step);
  }
}

}  // namespace

void FindSplits(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, PathStep step,
                DeviceLimits const& limits, cudaStream_t stream) {
  if (tree.features_of_node != nullptr) ChooseFeatures(tree, bounds, limits, stream);
  unsigned blocks = Blocks(2 * bounds.families * tree.group_count, 1, limits, kSplitResident);
  if (blocks > tree.group_count) blocks -= blocks % tree.group_count;  // a block keeps its group
  bool const categories = tree.categories.sets != nullptr;
  auto* const kernel = tree.limits.directions != nullptr
                           ? (categories ? FindSplitsKernel<true, true> : FindSplitsKernel<true, false>)
                           : (categories ? FindSplitsKernel<false, true> : FindSplitsKernel<false, false>);
  LaunchNext("looking for splits", kernel, blocks, kThreads, 0, limits, stream, tree, next, step);
  if (next != NextLevel::kByHost && tree.order.nodes != nullptr) SelectOrdered(tree, next, step, limits, stream);
}

}  // namespace xgbgpu::cuda
