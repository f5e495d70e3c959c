#include "core/grid.h"
#include "level/device_tree.h"
#include "level/plan.cuh"
#include "split/split_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 4;

/// Candidates of one block in an order that a maximum can find: gain, then smaller feature, then the order of the scans
/// (missing right, bins ascending; missing left, bins descending). 0: none.
__device__ unsigned long long KeyOf(float gain, std::uint32_t column, bool forward, std::uint32_t step) {
  if (!(gain > 0.0f)) return 0;
  std::uint32_t const order = (column << 18) | (forward ? 0U : 1U << 17) | step;  // 256 columns, 2^17 bins
  return (static_cast<unsigned long long>(__float_as_uint(gain)) << 32) | (0xFFFFFFFFU - order);
}

__device__ unsigned long long WarpMax(unsigned long long key) {
  for (int d = 16; d > 0; d /= 2) key = max(key, __shfl_xor_sync(kAllLanes, key, d));
  return key;
}

__device__ bool IsIn(std::uint32_t const* set, FeatureIndex f) {
  return set == nullptr || ((set[f / 32] >> (f % 32)) & 1U) != 0;
}

/// What the threads of one item share.
struct Shared {
  GradientSum segment[kThreads];
  unsigned long long warp_key[kThreads / 32];
};

/// The bins that one thread looks at: `n` of them, from `first` on.
struct Segment {
  FeatureIndex feature;
  std::uint32_t column;  ///< of the group
  std::uint32_t first, n, bins;
  std::uint64_t cell;    ///< of its first bin
  bool active;           ///< the feature is in the sample of the tree
};

__device__ Segment SegmentOf(DeviceTree const& tree, SplitGroup const& group) {
  std::uint32_t const columns = kThreads / group.segments;
  std::uint32_t const column = threadIdx.x % columns, part = threadIdx.x / columns;
  Segment s{};
  s.column = column;
  s.feature = group.first + column;
  s.active = column < group.features && IsIn(tree.features_of_tree, s.feature);
  if (!s.active) return s;
  s.bins = tree.matrix.bins(s.feature);
  std::uint32_t const per_part = (s.bins + group.segments - 1) / group.segments;
  s.first = min(part * per_part, s.bins);
  s.n = min(per_part, s.bins - s.first);
  s.cell = tree.matrix.first_cell(s.feature) + std::uint64_t{s.first} * tree.matrix.cell_stride();
  return s;
}

/// Sum of the thread's bins; in a sibling that is what the parent has left, each is computed and stored first.
__device__ GradientSum SumSegment(Segment const& s, std::uint64_t stride, GradientSum* own, GradientSum const* built) {
  GradientSum sum;
  for (std::uint32_t i = 0; i < s.n; ++i) {
    auto* const at = reinterpret_cast<longlong2*>(own + s.cell + i * stride);
    longlong2 v = *at;
    if (built != nullptr) {
      longlong2 const b = *reinterpret_cast<longlong2 const*>(built + s.cell + i * stride);
      v.x -= b.x;
      v.y -= b.y;
      *at = v;
    }
    sum.grad += v.x;
    sum.hess += v.y;
  }
  return sum;
}

/// Best candidate among the thread's bins; `before`: sum of the feature's bins before them.
__device__ unsigned long long ScanSegment(SplitParams const& p, Segment const& s, std::uint64_t stride,
                                          GradientSum const* own, GradientSum total, GradientSum before,
                                          GradientSum present, SplitCandidate* best) {
  double const node_gain = NodeGain(p, ToLoss(p, total));
  bool const missing = present != total;
  unsigned long long best_key = 0;
  GradientSum left = before;  // present values below the current bin
  auto const consider = [&](bool forward, BinIndex bin, std::uint32_t step, GradientSum l) {
    GradientSum const r{total.grad - l.grad, total.hess - l.hess};
    float const gain = SplitGain(p, l, r, node_gain);
    unsigned long long const key = KeyOf(gain, s.column, forward, step);
    if (key <= best_key) return;
    best_key = key;
    *best = {gain, s.feature, bin, !forward, l, r};
  };
  for (std::uint32_t i = 0; i < s.n; ++i) {
    std::uint32_t const b = s.first + i;
    longlong2 const v = *reinterpret_cast<longlong2 const*>(own + s.cell + i * stride);
    if ((v.x | v.y) == 0) continue;  // repeats its neighbour's candidate
    if (missing) {  // bins from b on go right, missing values go left
      GradientSum const right{present.grad - left.grad, present.hess - left.hess};
      consider(false, b, s.bins - 1 - b, {total.grad - right.grad, total.hess - right.hess});
    }
    left.grad += v.x;
    left.hess += v.y;
    consider(true, b + 1, b, left);
  }
  return best_key;
}

/// Best split of one node over the features of one group; true in the one thread that holds it.
__device__ bool BestOfGroup(DeviceTree const& tree, SplitParams const& params, SplitGroup const& group,
                            Segment const& s, Node const& node, std::uint32_t const* allowed, GradientSum* own,
                            GradientSum const* built, Shared* shared, SplitCandidate* best) {
  std::uint64_t const stride = tree.matrix.cell_stride();
  shared->segment[threadIdx.x] = s.active ? SumSegment(s, stride, own, built) : GradientSum{};
  __syncthreads();
  std::uint32_t const columns = kThreads / group.segments;
  GradientSum before, present;
  for (std::uint32_t t = s.column; t < kThreads; t += columns) {
    GradientSum const v = shared->segment[t];
    if (t < threadIdx.x) {
      before.grad += v.grad;
      before.hess += v.hess;
    }
    present.grad += v.grad;
    present.hess += v.hess;
  }
  unsigned long long key = 0;
  if (s.active && IsIn(allowed, s.feature)) {
    key = ScanSegment(params, s, stride, own, node.sum, before, present, best);
  }
  unsigned long long const warp_key = WarpMax(key);
  if (threadIdx.x % 32 == 0) shared->warp_key[threadIdx.x / 32] = warp_key;
  __syncthreads();
  unsigned long long top = 0;
  for (int w = 0; w < kThreads / 32; ++w) top = max(top, shared->warp_key[w]);
  __syncthreads();  // the shared words are used again
  if (top == 0) *best = SplitCandidate{};
  return top == 0 ? threadIdx.x == 0 : key == top;
}

/// Best split of a node over all groups: found by one warp, written to the node.
__device__ void BestOfNode(DeviceTree const& tree, SplitCandidate const* candidates, Node* node) {
  std::uint32_t const lane = threadIdx.x % 32;
  unsigned long long best = 0;
  std::uint32_t place = 0;
  for (std::uint32_t g = lane; g < tree.group_count; g += 32) {
    float const gain = __ldcg(&candidates[g].gain);
    // Groups are in the order of their features: of equal gains the first group wins.
    unsigned long long const key =
        gain > 0.0f ? (static_cast<unsigned long long>(__float_as_uint(gain)) << 32) | (0xFFFFFFFFU - g) : 0;
    if (key > best) {
      best = key;
      place = g;
    }
  }
  unsigned long long const top = WarpMax(best);
  if (top == 0 ? lane == 0 : best == top) node->split = LoadFresh(candidates + place);
}

__device__ std::uint32_t const* SetOf(DeviceTree const& tree, std::uint32_t family, bool right, Node const& node) {
  if (tree.features_of_node == nullptr) return nullptr;
  std::uint32_t const set = tree.sets_by_depth != 0 ? static_cast<std::uint32_t>(node.depth) : 2 * family + right;
  return tree.features_of_node + std::uint64_t{set} * tree.feature_words;
}

__global__ void __launch_bounds__(kThreads, kResident) FindSplitsKernel(DeviceTree tree, bool select) {
  __shared__ Shared shared;
  __shared__ bool last_group;
  SplitParams params = tree.settings->split;
  params.grad_unit = ScaleByPowerOfTwo(1.0, -tree.gradient->format.grad_shift);
  params.hess_unit = ScaleByPowerOfTwo(1.0, -tree.gradient->format.hess_shift);
  std::uint64_t const items = std::uint64_t{tree.state->families} * tree.group_count;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    auto const f = static_cast<std::uint32_t>(item / tree.group_count);
    auto const g = static_cast<std::uint32_t>(item % tree.group_count);
    Family* const family = tree.families + f;
    SplitGroup const group = tree.groups[g];
    Segment const segment = SegmentOf(tree, group);
    bool const has_sibling = family->sibling_slot >= 0;
    SplitCandidate* const candidates = tree.candidates + std::uint64_t{2 * f} * tree.group_count;
    GradientSum* const built = tree.histograms + static_cast<std::uint64_t>(family->built_slot) * tree.matrix.cells;
    for (int child = 0; child < (has_sibling ? 2 : 1); ++child) {
      NodeIndex const n = child == 0 ? family->built() : family->sibling();
      GradientSum* const own =
          child == 0 ? built : tree.histograms + static_cast<std::uint64_t>(family->sibling_slot) * tree.matrix.cells;
      SplitCandidate best;
      bool const mine = BestOfGroup(tree, params, group, segment, tree.nodes[n],
                                    SetOf(tree, f, n != family->left, tree.nodes[n]), own,
                                    child == 1 && family->subtract != 0 ? built : nullptr, &shared, &best);
      if (mine) candidates[static_cast<std::uint64_t>(child) * tree.group_count + g] = best;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last_group = atomicAdd(&family->finished_groups, 1U) == tree.group_count - 1;
    __syncthreads();
    std::uint32_t const warp = threadIdx.x / 32;
    if (last_group && warp < (has_sibling ? 2U : 1U)) {
      __threadfence();
      BestOfNode(tree, candidates + std::uint64_t{warp} * tree.group_count,
                 tree.nodes + (warp == 0 ? family->built() : family->sibling()));
    }
    __syncthreads();  // last_group is used again
  }
  if (select && IsLastBlock(&tree.state->finished_blocks, gridDim.x)) SelectLevel(tree);
}

}  // namespace

void FindSplits(DeviceTree const& tree, LevelBounds const& bounds, bool select, DeviceLimits const& limits,
                cudaStream_t stream) {
  unsigned const blocks = Blocks(bounds.families * tree.group_count, 1, limits, kResident);
  FindSplitsKernel<<<blocks, kThreads, 0, stream>>>(tree, select);
  CheckLaunch("looking for splits");
}

}  // namespace xgbgpu::cuda
