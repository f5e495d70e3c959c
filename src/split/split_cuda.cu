#include "core/grid.h"
#include "level/device_tree.h"
#include "level/plan_paths.cuh"
#include "split/split_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 2;
constexpr int kSplitBins = 8;  // of a feature, in one thread's registers

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
  SplitCandidate split;

  /// Considers the splits on either side of the bins of a run, which begin with bin `first` of the feature. *below: sum
  /// of the present values below them, moved on to those below the next run.
  __device__ void Scan(SplitParams const& p, Segment const& s, BinRun const& run, std::uint32_t first,
                       GradientSum total, double node_gain, GradientSum present, GradientSum* below) {
    bool const missing = present != total;
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      GradientSum const v = run.sum[i];
      if ((v.grad | v.hess) == 0) continue;  // repeats its neighbour's candidate
      std::uint32_t const b = first + i;
      if (missing) {  // bins from b on go right, missing values go left
        GradientSum const right{present.grad - below->grad, present.hess - below->hess};
        Consider(p, s, false, b, s.bins - 1 - b, {total.grad - right.grad, total.hess - right.hess}, right, node_gain);
      }
      below->grad += v.grad;
      below->hess += v.hess;
      Consider(p, s, true, b + 1, b, *below, {total.grad - below->grad, total.hess - below->hess}, node_gain);
    }
  }

 private:
  __device__ void Consider(SplitParams const& p, Segment const& s, bool forward, BinIndex bin, std::uint32_t step,
                           GradientSum left, GradientSum right, double node_gain) {
    float const gain = SplitGain(p, left, right, node_gain);
    unsigned long long const other = KeyOf(gain, s.column, forward, step);
    if (other <= key) return;
    key = other;
    split = {gain, s.feature, bin, !forward, left, right};
  }
};

/// Best split of one node over the features of one group; true in the one thread that holds it.
__device__ bool BestOfGroup(DeviceTree const& tree, SplitParams const& params, SplitGroup const& group,
                            Segment const& s, GradientSum total, std::uint32_t const* allowed, GradientSum* own,
                            GradientSum const* built, Shared* shared, SplitCandidate* split) {
  std::uint64_t const stride = tree.matrix.cell_stride();
  bool const one_run = s.n <= kSplitBins;
  BinRun run{};
  GradientSum mine;
  if (s.active) {
    for (std::uint32_t from = 0; from < s.n; from += kSplitBins) {
      run.Load(s, stride, from, own, built, built != nullptr);
      GradientSum const sum = run.Total();
      mine.grad += sum.grad;
      mine.hess += sum.hess;
    }
  }
  shared->segment[threadIdx.x] = mine;
  __syncthreads();
  std::uint32_t const columns = kThreads / group.segments;
  GradientSum below, present;
#pragma unroll 8
  for (std::uint32_t t = s.column; t < kThreads; t += columns) {
    GradientSum const v = shared->segment[t];
    if (t < threadIdx.x) {
      below.grad += v.grad;
      below.hess += v.hess;
    }
    present.grad += v.grad;
    present.hess += v.hess;
  }
  BestCandidate best;
  if (s.active && IsIn(allowed, s.feature)) {
    double const node_gain = NodeGain(params, ToLoss(params, total));
    for (std::uint32_t from = 0; from < s.n; from += kSplitBins) {
      if (!one_run) run.Load(s, stride, from, own, nullptr, false);
      best.Scan(params, s, run, s.first + from, total, node_gain, present, &below);
    }
  }
  unsigned long long const warp_key = WarpMax(best.key);
  if (threadIdx.x % 32 == 0) shared->warp_key[threadIdx.x / 32] = warp_key;
  __syncthreads();
  unsigned long long top = 0;
  for (int w = 0; w < kThreads / 32; ++w) top = max(top, shared->warp_key[w]);
  __syncthreads();  // the shared words are used again
  *split = best.split;
  return top == 0 ? threadIdx.x == 0 : best.key == top;
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

__global__ void __launch_bounds__(kThreads, kResident) FindSplitsKernel(DeviceTree tree, NextLevel next, PathStep step) {
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
      bool const mine = BestOfGroup(tree, params, group, segment, tree.nodes[n].sum,
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
  if (next == NextLevel::kByHost || !IsLastBlock(&tree.state->finished_blocks, gridDim.x)) return;
  if (next == NextLevel::kLists) {
    SelectLevel(tree);
  } else {
    SelectPaths(tree, step);
  }
}

}  // namespace

void FindSplits(DeviceTree const& tree, LevelBounds const& bounds, NextLevel next, PathStep step,
                DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(bounds.families * tree.group_count, 1, limits, kResident);
  FindSplitsKernel<<<blocks, kThreads, 0, stream>>>(tree, next, step);
  CheckLaunch("looking for splits");
}

}  // namespace xgbgpu::cuda
