// Finds the best split of a symmetric tree's level on a device, without the host.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "split/level_search_cuda.h"
#include "split/node_split.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kResident = 3;
constexpr unsigned kBestThreads = kLevelSearchThreads;

/// Some of the level's nodes, in the order of their paths. The root is a level of its own.
struct Chunk {
  std::uint32_t first, end;  ///< relative to the level's first node

  __device__ Chunk(GrowingTree const& tree, std::uint32_t begin, std::uint32_t most) {
    bool const is_root = tree.families[0].sibling_slot < 0;
    std::uint32_t const nodes = tree.state->families * (is_root ? 1 : 2);
    first = min(begin, nodes);
    end = min(begin + most, nodes);
  }
};

/// Returns the level's first node: the children of all families are contiguous.
__device__ NodeIndex FirstOfLevel(GrowingTree const& tree) { return tree.families[0].left; }

/// Returns true if the level may be divided by the feature.
__device__ bool MayDivide(SplitView const& view, LevelSearchView const& search, FeatureIndex f) {
  return IsIn(search.features, f) && MayMeetAt(view, FirstOfLevel(view.tree), f);
}

/// Writes the gains of dividing the node at each bin of a run. `first`: the run's first bin; `to`: [kinds, bins] of the
/// node, from the feature's first bin on.
template <bool kMonotone>
__device__ void WriteGains(SplitParams const& params, LevelSearchView const& search, LevelNode const& node,
                           RunSplits const& splits, std::uint32_t first, std::uint32_t n, int direction, double* to) {
  auto const gain = [&](GradientSum left) {
    return DivisionGain<kMonotone>(params, left, node.total - left, node, direction);
  };
  bool const misses = splits.present != splits.total;
  GradientSum before = splits.below;
  double gain_before = 0.0;
#pragma unroll
  for (std::uint32_t i = 0; i < kSplitBins; ++i) {
    if (i >= n) break;
    GradientSum const to_here = before + splits.run.sum[i];
    double const missing_right = gain(to_here);
    to[first + i] = missing_right;
    if (search.kinds == 2) {
      // Without missing values the gain is the bin before's.
      double const missing_left = misses || i == 0 ? gain(before + (splits.total - splits.present)) : gain_before;
      to[search.bins + first + i] = missing_left;
    }
    before = to_here;
    gain_before = missing_right;
  }
}

/// Computes the gains of dividing each of a chunk's nodes by each candidate. A block takes a group of features of one
/// node. In a sibling it subtracts the built child from the parent's bins, and stores them.
template <bool kMonotone>
__global__ void __launch_bounds__(kSplitThreads, kResident)
    NodeGainsKernel(SplitView view, LevelSearchView search, std::uint32_t begin, std::uint32_t most) {
  __shared__ SplitShared shared;
  WaitForKernelBefore();
  Chunk const chunk{view.tree, begin, most};
  std::uint32_t const groups = view.group_count, items = (chunk.end - chunk.first) * groups;
  if (blockIdx.x >= items) return;
  if (threadIdx.x == 0) shared.params = ParamsOf(*view.params, view.gradient->format);
  NodeIndex const first_node = FirstOfLevel(view.tree);
  auto const stride = static_cast<std::uint32_t>(view.matrix.cell_stride());
  for (std::uint32_t i = blockIdx.x; i < items; i += gridDim.x) {
    std::uint32_t const child = chunk.first + i / groups;
    BinSegment const s = SegmentOf(view, view.groups[i % groups]);
    GroupItem const item = ItemOf(view, child, view.tree.families[child / 2]);
    RunSplits splits;
    GradientSum mine;
    if (s.runs > 1) {
      mine = SumRuns(s, stride, item.own, item.built);
    } else {
      splits.run.Load(s, stride, 0, item.own);
      if (item.built != nullptr) {
        BinRun built;
        built.Load(s, stride, 0, item.built);
        splits.run.Subtract(built);
        splits.run.Store(s, stride, 0, item.own);
      }
      mine = splits.run.Total();
    }
    SumBelow(s, mine, &shared, &splits.below, &splits.present);  // a barrier, after which the parameters are valid
    splits.total = item.total;
    if (s.n != 0 && MayDivide(view, search, s.feature)) {
      LevelNode const node = LevelNodeOf<kMonotone>(view.tree, search.nodes, shared.params, item.node);
      int const direction = kMonotone ? view.limits.directions[s.feature] : 0;
      auto const place = static_cast<std::uint32_t>(item.node - first_node) - chunk.first;
      double* const to = search.gains + place * search.kinds * search.bins + view.matrix.cut_ptr[s.feature];
      for (std::uint32_t from = 0; from < s.n; from += kSplitBins) {
        if (s.runs > 1) splits.run.Load(s, stride, from, item.own);
        WriteGains<kMonotone>(shared.params, search, node, splits, s.first + from, s.n - from, direction, to);
        splits.below += splits.run.Total();
      }
    }
    __syncthreads();  // the next turn reuses the shared sums
  }
}

/// Finds the best of a block's candidates, one from each thread. Returns true in the thread with the best candidate,
/// and false in all other threads, or in all threads if no score is above 0.
__device__ bool IsBestOfBlock(double score, std::uint64_t order) {
  __shared__ double scores[kBestThreads / 32];
  __shared__ std::uint64_t orders[kBestThreads / 32];
  double best = score;
  std::uint64_t first = order;
  auto const consider = [&](double other, std::uint64_t other_order) {
    if (!(other > best || (other == best && other_order < first))) return;
    best = other;
    first = other_order;
  };
  for (int d = 16; d > 0; d /= 2) {
    consider(__shfl_xor_sync(kAllLanes, best, d), __shfl_xor_sync(kAllLanes, first, d));
  }
  __syncthreads();  // the last call may still read
  if (threadIdx.x % 32 == 0) {
    scores[threadIdx.x / 32] = best;
    orders[threadIdx.x / 32] = first;
  }
  __syncthreads();
  for (unsigned w = 0; w < kBestThreads / 32; ++w) consider(scores[w], orders[w]);
  return best > 0.0 && order == first && score == best;
}

__device__ LevelBest None() { return {0.0, ~std::uint64_t{0}, 0, 0, false}; }

/// Returns the feature of a place among all bins.
__device__ FeatureIndex FeatureAt(DeviceMatrixView const& matrix, std::uint64_t place) {
  FeatureIndex low = 0, high = matrix.features;  // [low, high) has the last feature that begins at or before `place`
  while (high - low > 1) {
    FeatureIndex const middle = low + (high - low) / 2;
    (matrix.cut_ptr[middle] <= place ? low : high) = middle;
  }
  return low;
}

/// Adds the gains of a chunk to the scores of earlier chunks. A thread takes both candidates of a bin. If `ends`, the
/// scores are the level's, and the last block writes the best.
__global__ void __launch_bounds__(kBestThreads)
    BestOfLevelKernel(SplitView view, LevelSearchView search, std::uint32_t begin, std::uint32_t most, bool ends) {
  std::uint64_t const place = std::uint64_t{blockIdx.x} * kBestThreads + threadIdx.x;
  bool const in = place < search.bins;
  FeatureIndex const feature = in ? FeatureAt(view.matrix, place) : 0;
  BinIndex const first_bin = view.matrix.cut_ptr[feature], bins = view.matrix.bins(feature);
  auto const bin = static_cast<BinIndex>(place - first_bin);
  WaitForKernelBefore();
  Chunk const chunk{view.tree, begin, most};
  std::uint32_t const count = chunk.end - chunk.first;
  bool const divides = in && view.tree.state->families != 0 && MayDivide(view, search, feature);
  LevelBest best = None();
  for (std::uint32_t kind = 0; kind < search.kinds && divides; ++kind) {
    std::uint64_t const at = kind * search.bins + place, step = search.kinds * search.bins;
    double score = begin == 0 ? 0.0 : search.scores[at];
#pragma unroll 16
    for (std::uint32_t i = 0; i < count; ++i) score += search.gains[i * step + at];
    if (!ends) {
      search.scores[at] = score;
      continue;
    }
    bool const missing_left = kind == 1;
    std::uint64_t const order = 2 * std::uint64_t{first_bin} + (missing_left ? 2 * bins - 1 - bin : bin);
    if (score > best.score || (score == best.score && score > 0.0 && order < best.order)) {
      best = {score, order, feature, missing_left ? bin : bin + 1, missing_left};
    }
  }
  if (!ends) return;
  if (threadIdx.x == 0) StoreWhole(search.bests + blockIdx.x, None());
  if (IsBestOfBlock(best.score, best.order)) StoreWhole(search.bests + blockIdx.x, best);
  if (!IsLastBlock(&view.tree.state->finished_blocks, gridDim.x)) return;
  best = None();
  for (std::uint32_t b = threadIdx.x; b < gridDim.x; b += kBestThreads) {
    LevelBest const other = LoadFresh(search.bests + b);
    if (other.score > best.score || (other.score == best.score && other.order < best.order)) best = other;
  }
  if (threadIdx.x == 0) StoreWhole(search.best(), None());
  if (IsBestOfBlock(best.score, best.order)) StoreWhole(search.best(), best);
}

}  // namespace

void FindLevelSplit(SplitView const& view, LevelSearchView const& search, LevelBounds const& bounds,
                    std::uint32_t chunk, DeviceLimits const& limits, cudaStream_t stream) {
  SplitView all = view;
  all.features = {};
  DeviceLimits const own = LimitsOfSplits(view, limits);
  auto* const gains = view.limits.directions != nullptr ? NodeGainsKernel<true> : NodeGainsKernel<false>;
  auto const nodes = static_cast<std::uint32_t>(2 * bounds.families);
  for (std::uint32_t begin = 0; begin < nodes; begin += chunk) {
    std::uint32_t const most = std::min(chunk, nodes - begin);
    LaunchNext("scoring splits of a level", gains, Blocks(std::uint64_t{most} * view.group_count, 1, limits, kResident),
               kSplitThreads, 0, own, stream, all, search, begin, most);
    LaunchNext("choosing the split of a level", BestOfLevelKernel, LevelSearchBlocks(search.bins), kBestThreads, 0, own,
               stream, all, search, begin, most, begin + most == nodes);
  }
}

}  // namespace xgbgpu::cuda
