/// Splits by a few features, found by one warp. It loads the cells of a node together and divides them among lanes
/// through shared memory, eight neighbouring bins to each. A bound in float rejects nearly all candidates
/// (score_bound_ops.h), most of them with one vote of the warp.
#ifndef XGBGPU_SPLIT_WARP_SPLIT_CUDA_CUH_
#define XGBGPU_SPLIT_WARP_SPLIT_CUDA_CUH_

#include <cstdint>

#include "split/group_split_cuda.cuh"
#include "split/split_groups.h"

namespace xgbgpu::cuda {

/// Sums of the narrow format for a node with few enough rows that any sum fits 32 bits (NarrowSums::kMaxRows).
struct SmallSum {
  std::int32_t grad{0};
  std::int32_t hess{0};

  __device__ SmallSum& operator+=(SmallSum other) {
    grad += other.grad;
    hess += other.hess;
    return *this;
  }
  friend __device__ SmallSum operator+(SmallSum a, SmallSum b) { return a += b; }
  friend __device__ SmallSum operator-(SmallSum a, SmallSum b) { return {a.grad - b.grad, a.hess - b.hess}; }
};
__device__ inline GradientSum Whole(SmallSum sum) { return {sum.grad, sum.hess}; }
__device__ inline GradientSum Whole(GradientSum sum) { return sum; }
template <typename Sum>
__device__ Sum Shortened(longlong2 sum) {
  return {static_cast<decltype(Sum::grad)>(sum.x), static_cast<decltype(Sum::hess)>(sum.y)};
}

/// The rules that judge splits, shared by a block.
struct SplitRules {
  SplitParams params;  ///< in the units of the tree
  SplitFilter filter;

  /// Returns the ScoreBound of a candidate, or -1 if there is none: a side is too light, or the bin is empty and
  /// repeats its neighbour's candidate, which comes first in the order.
  template <typename Sum>
  __device__ float BoundOf(Sum left, Sum right, bool empty) const {
    bool const is_candidate = !empty && left.hess >= filter.least_hess && right.hess >= filter.least_hess;
    return is_candidate ? ScoreBound(filter.lambda, left, right) : -1.0f;
  }
};

/// Returns the place of a loaded cell. Gaps make lanes that read eight neighbours each hit different banks.
__device__ constexpr std::uint32_t PlaceOf(std::uint32_t cell) { return cell + cell / kWarpSplitBins; }
constexpr std::size_t kWarpCellBytes = PlaceOf(kWarpSplitRounds * 32 * kWarpSplitBins) * sizeof(GradientSum);

/// A warp's best split of a child over its groups so far.
struct BestOfWarp {
  float gain{0.0f};
  FeatureIndex feature{0};
  float least{0.0f};  ///< bound that a better split must have, as far as known
};

/// Loads a group's cells of a node into shared memory. In a sibling it subtracts the built child from the parent's
/// cells, and stores them if the next level needs them.
template <typename Sum>
__device__ void LoadCells(WarpGroup const& group, GroupItem const& item, bool keeps, Sum* cells) {
  constexpr std::uint32_t kAtOnce = 4;
  auto* const own = reinterpret_cast<longlong2*>(item.own) + group.cell;
  auto const* const built = reinterpret_cast<longlong2 const*>(item.built) + group.cell;
  bool const subtracts = item.built != nullptr;
#pragma unroll 1
  for (std::uint32_t first = threadIdx.x % 32; first < group.cells; first += 32 * kAtOnce) {
    longlong2 sum[kAtOnce], other[kAtOnce];
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      std::uint32_t const i = first + 32 * k;
      if (i >= group.cells) continue;
      sum[k] = own[i];
      if (subtracts) other[k] = built[i];
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      std::uint32_t const i = first + 32 * k;
      if (i >= group.cells) continue;
      if (subtracts) {
        sum[k] = {sum[k].x - other[k].x, sum[k].y - other[k].y};
        if (keeps) own[i] = sum[k];
      }
      cells[PlaceOf(i)] = Shortened<Sum>(sum[k]);
    }
  }
  __syncwarp();
}

/// The bins of one lane, and the sums around them.
template <typename Sum>
struct LaneSplits {
  Sum sum[kWarpSplitBins];  ///< zero beyond the end
  Sum total, present;       ///< sums over the node, and over its rows with the feature
  Sum below;                ///< sum of the values below the bins

  /// Calls visit(left, empty) for the splits on either side of the bins, with the sum of the left side: after each bin,
  /// with missing values right; then, if there are missing values, before each bin, with missing values left. `empty`:
  /// the bin is empty.
  template <typename Visit>
  __device__ void ForEach(bool some_missing, Visit&& visit) const {
    Sum left = below;
#pragma unroll
    for (int i = 0; i < static_cast<int>(kWarpSplitBins); ++i) {
      left += sum[i];
      visit(left, (sum[i].grad | sum[i].hess) == 0);
    }
    if (!some_missing) return;
    left = below + (total - present);
#pragma unroll
    for (int i = 0; i < static_cast<int>(kWarpSplitBins); ++i) {
      visit(left, (sum[i].grad | sum[i].hess) == 0);
      left += sum[i];
    }
  }
};

/// Computes prefix sums over the lanes of a feature.
template <typename Sum>
__device__ void SumBelowLanes(int segment_bits, LaneSplits<Sum>* splits) {
  Sum mine;
#pragma unroll
  for (std::uint32_t i = 0; i < kWarpSplitBins; ++i) mine += splits->sum[i];
  int const segments = 1 << segment_bits;
  auto const segment = static_cast<int>(threadIdx.x % 32) & (segments - 1);
  Sum up_to = mine;
#pragma unroll 1
  for (int d = 1; d < segments; d *= 2) {
    Sum const other{__shfl_up_sync(kAllLanes, up_to.grad, d, segments),
                    __shfl_up_sync(kAllLanes, up_to.hess, d, segments)};
    if (segment >= d) up_to += other;
  }
  splits->below = up_to - mine;
  splits->present = {__shfl_sync(kAllLanes, up_to.grad, segments - 1, segments),
                     __shfl_sync(kAllLanes, up_to.hess, segments - 1, segments)};
}

/// Evaluates the splits on either side of `n` bins whose bound is at least `wanted`. `below`: the sum below the first
/// bin, which is bin `bin` of the feature. `missing`: the sum over rows without the feature. `left_of_best`: the left
/// sum of the best split.
template <bool kMonotone, typename Sum>
__device__ BestOfRun LookAtLane(SplitRules const& rules, WeightBounds limits, int direction, GradientSum total,
                                Sum const* cells, std::uint32_t first_cell, std::uint32_t n, Sum below, Sum missing,
                                float wanted, std::uint32_t column, std::uint32_t bin, GradientSum* left_of_best) {
  SplitParams const params = rules.params;
  NodeTerms const node = TermsOf<kMonotone>(params, total, limits);
  BestOfRun best;
#pragma unroll 1
  for (std::uint32_t i = 0; i < n; ++i) {
    Sum const sum = cells[PlaceOf(first_cell + i)];
    Sum const before = below;
    below += sum;
#pragma unroll 1
    for (int forward = 0; forward < 2; ++forward) {
      GradientSum const left = Whole(forward != 0 ? below : before + missing), right = total - left;
      if (rules.BoundOf(left, right, (sum.grad | sum.hess) == 0) < wanted) continue;
      float const gain = SplitGain<kMonotone>(params, left, right, node, direction);
      unsigned long long const key = CandidateKey(gain, OrderOf(column, forward != 0, bin + i));
      if (key <= best.key) continue;
      best.key = key;
      best.number = static_cast<int>(2 * i) + forward;
      *left_of_best = left;
    }
  }
  float const least = LeastScore(ScoreUnits{params}, node.gain, GainOf(best.key));
  if (least > 0.0f) best.least = least;
  return best;
}

/// Searches the features of one round of a group. A better split replaces the warp's split of the child: in *best, and
/// in `found` by the lane that has it.
template <bool kMonotone, typename Sum>
__device__ void LookAtRound(SplitView const& view, WarpGroup const& group, GroupItem const& item, Sum const* cells,
                            std::uint32_t round, SplitRules const& rules, BestOfWarp* best, SplitCandidate* found) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const column = (round * 32 + lane) >> group.segment_bits;
  std::uint32_t const first_bin = (lane & ((1U << group.segment_bits) - 1)) * kWarpSplitBins;
  FeatureIndex const f = group.first + column;
  bool scanned = column < group.features && IsIn(view.features.of_tree, f);
  std::uint32_t n = 0, first_cell = 0;
  if (scanned) {
    BinIndex const begin = view.matrix.cut_ptr[f], bins = view.matrix.cut_ptr[f + 1] - begin;
    n = bins - min(first_bin, bins);
    first_cell = begin - group.cell + first_bin;
  }
  LaneSplits<Sum> splits;
  splits.total = Shortened<Sum>({item.total.grad, item.total.hess});
#pragma unroll
  for (std::uint32_t i = 0; i < kWarpSplitBins; ++i) {
    splits.sum[i] = i < n ? cells[PlaceOf(first_cell + i)] : Sum{};
  }
  SumBelowLanes(group.segment_bits, &splits);
  scanned = scanned && IsIn(item.allowed, f) && MayMeetAt(view, item.node, f);
  Sum const missing = splits.total - splits.present;
  bool const some_missing = __any_sync(kAllLanes, scanned && (missing.grad | missing.hess) != 0);
  float bound = -1.0f;
  splits.ForEach(some_missing,
                 [&](Sum left, bool empty) { bound = fmaxf(bound, rules.BoundOf(left, splits.total - left, empty)); });
  if (!scanned) bound = -1.0f;
  float const largest = WarpMax(fmaxf(bound, 0.0f));
  if (largest < best->least || !__any_sync(kAllLanes, bound >= 0.0f)) return;

  int const direction = kMonotone && scanned ? view.limits.directions[f] : 0;
  BestOfRun mine;
  GradientSum left;
  float wanted = largest * kNearBound;
  while (true) {
    mine = {};
    // Without missing values a feature has each split twice; the first comes first.
    if (bound >= wanted) {
      mine = LookAtLane<kMonotone>(rules, kMonotone ? view.limits.bounds[item.node] : WeightBounds{}, direction,
                                   item.total, cells, first_cell, min(n, kWarpSplitBins), splits.below, missing, wanted,
                                   column, first_bin, &left);
    }
    best->least = fmaxf(best->least, WarpMax(mine.least));
    if (best->least >= wanted) break;
    wanted = best->least;
  }
  unsigned long long const top = WarpMax(mine.key);
  if (GainOf(top) <= best->gain) return;  // with equal gains the first is the best, and features ascend
  std::uint32_t const winner = __ffs(static_cast<int>(__ballot_sync(kAllLanes, mine.key == top))) - 1;
  best->gain = GainOf(top);
  best->feature = __shfl_sync(kAllLanes, f, winner);
  __syncwarp();  // another lane may have written last
  if (lane == winner) {
    std::uint32_t const bin = first_bin + (static_cast<std::uint32_t>(mine.number) + 1) / 2;
    *found = {best->gain, f, bin, mine.number % 2 == 0, false, left, item.total - left};
  }
}

/// Searches all rounds of a group. `room`: kWarpCellBytes of shared memory.
template <bool kMonotone, typename Sum>
__device__ void LookAtGroup(SplitView const& view, WarpGroup const& group, GroupItem const& item, bool keeps,
                            SplitRules const& rules, void* room, BestOfWarp* best, SplitCandidate* found) {
  auto* const cells = static_cast<Sum*>(room);
  LoadCells(group, item, keeps, cells);
#pragma unroll 1
  for (std::uint32_t round = 0; round << 5 < static_cast<std::uint32_t>(group.features) << group.segment_bits;
       ++round) {
    LookAtRound<kMonotone>(view, group, item, cells, round, rules, best, found);
  }
  __syncwarp();  // the next group reuses the room
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_WARP_SPLIT_CUDA_CUH_
