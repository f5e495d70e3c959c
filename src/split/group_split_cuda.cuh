/// Splits by the features of a group, found by one block. A thread takes neighbouring bins of one feature. A bound in
/// float rejects nearly all candidates (score_bound_ops.h), which leaves divisions in double precision to the few that
/// may be the best.
#ifndef XGBGPU_SPLIT_GROUP_SPLIT_CUDA_CUH_
#define XGBGPU_SPLIT_GROUP_SPLIT_CUDA_CUH_

#include <cuda_pipeline.h>

#include "split/constraint_ops.h"
#include "split/score_bound_ops.h"
#include "split/split_block.cuh"
#include "split/split_cuda.h"

namespace xgbgpu::cuda {

/// Returns the order of a candidate in a block: the smaller feature first, then the order of the scans (missing right,
/// bins ascending; missing left, bins descending).
__device__ inline std::uint32_t OrderOf(std::uint32_t column, bool forward, std::uint32_t bin) {
  return (column << 18) | (forward ? bin : (1U << 18) - 1 - bin);  // 256 columns, 2^17 bins
}

/// Returns the sum as an opaque value for the compiler. Its uses stay in the branch that needs them, instead of being
/// computed by all threads before a loop.
__device__ inline GradientSum Opaque(GradientSum sum) {
  long long grad = sum.grad, hess = sum.hess;
  asm volatile("" : "+l"(grad), "+l"(hess));
  return {grad, hess};
}

/// The bins of one thread: `n` of them, from `first` on. Empty for categories, which other code searches, and for a
/// feature outside the tree's sample.
struct BinSegment {
  FeatureIndex feature;
  std::uint32_t columns;   ///< of the group, for the division of threads: a power of two
  std::uint32_t first, n;  ///< bins
  std::uint32_t runs;      ///< runs of kSplitBins bins in the longest segment of the group
  std::uint64_t cell;      ///< cell of the first bin

  __device__ std::uint32_t column() const { return threadIdx.x & (columns - 1); }
};

__device__ inline BinSegment SegmentOf(SplitView const& view, SplitGroup const& group) {
  // All numbers are powers of two, and shifts are faster than divisions.
  int const segment_bits = __ffs(group.segments) - 1, column_bits = __ffs(kSplitThreads) - 1 - segment_bits;
  auto const per_part = [&](FeatureIndex f) { return (view.matrix.bins(f) + group.segments - 1) >> segment_bits; };
  BinSegment s{};
  s.columns = 1U << column_bits;
  // Only a single feature has more than one.
  s.runs = max((per_part(view.matrix.feature(group.first)) + kSplitBins - 1) / kSplitBins, 1U);
  if (group.categorical || s.column() >= group.features) return s;
  s.feature = view.matrix.feature(group.first + s.column());
  if (!IsIn(view.features.of_tree, s.feature)) return s;
  std::uint32_t const bins = view.matrix.bins(s.feature);
  s.first = min((threadIdx.x >> column_bits) * per_part(s.feature), bins);
  s.n = min(per_part(s.feature), bins - s.first);
  s.cell = view.matrix.first_cell(s.feature) + std::uint64_t{s.first} * view.matrix.cell_stride();
  return s;
}

/// Bins of the next item on their way from device memory, while the block works on the current item. A thread reads
/// only the bins that it has staged.
struct StagedBins {
  longlong2 own[kSplitBins][kSplitThreads];
  longlong2 built[kSplitBins][kSplitThreads];
};

/// Sums of kSplitBins neighbouring bins in registers. All loads are in flight before the first use.
struct BinRun {
  GradientSum sum[kSplitBins];

  /// Loads bins `from` … of the segment, with zeros beyond its end.
  __device__ void Load(BinSegment const& s, std::uint32_t stride, std::uint32_t from, GradientSum const* sums) {
    auto const* const at = reinterpret_cast<longlong2 const*>(sums + (s.cell + std::uint64_t{from} * stride));
#pragma unroll
    for (std::uint32_t i = 0; i < kSplitBins; ++i) {
      longlong2 const v = from + i < s.n ? at[i * stride] : longlong2{0, 0};
      sum[i] = {v.x, v.y};
    }
  }
  /// Loads staged bins.
  __device__ void Load(BinSegment const& s, longlong2 const (*staged)[kSplitThreads]) {
#pragma unroll
    for (std::uint32_t i = 0; i < kSplitBins; ++i) {
      longlong2 const v = i < s.n ? staged[i][threadIdx.x] : longlong2{0, 0};
      sum[i] = {v.x, v.y};
    }
  }
  __device__ void Store(BinSegment const& s, std::uint32_t stride, std::uint32_t from, GradientSum* sums) const {
    auto* const at = reinterpret_cast<longlong2*>(sums + (s.cell + std::uint64_t{from} * stride));
#pragma unroll
    for (std::uint32_t i = 0; i < kSplitBins; ++i) {
      if (from + i < s.n) at[i * stride] = {sum[i].grad, sum[i].hess};
    }
  }
  __device__ void Subtract(BinRun const& other) {
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) sum[i] -= other.sum[i];
  }
  __device__ GradientSum Total() const {
    GradientSum total;
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) total += sum[i];
    return total;
  }
};

/// Computes prefix sums over the segments of a feature: the sum below this thread's segment, and the sum of all.
__device__ inline void SumBelow(BinSegment const& s, GradientSum mine, SplitShared* shared, GradientSum* below,
                                GradientSum* present) {
  std::uint32_t const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  GradientSum up_to = mine;  // over the segments in this warp
  for (std::uint32_t d = s.columns; d < 32; d *= 2) {
    std::int64_t const grad = __shfl_up_sync(kAllLanes, up_to.grad, d), hess = __shfl_up_sync(kAllLanes, up_to.hess, d);
    if (lane >= d) up_to += {grad, hess};
  }
  // One part for each column of a warp, or, with more columns than lanes, for each thread.
  std::uint32_t const width = min(s.columns, 32U);
  if (lane >= 32 - width) shared->part[warp * width + (lane & (width - 1))] = {up_to.grad, up_to.hess};
  __syncthreads();
  GradientSum lower = up_to - mine, all;
  longlong2 const* const part = shared->part + (s.column() & (width - 1));
  auto const add = [&](std::uint32_t w) {
    longlong2 const v = part[w * width];
    all += {v.x, v.y};
    if (w < warp) lower += {v.x, v.y};
  };
  if (s.columns <= 32) {
#pragma unroll
    for (std::uint32_t w = 0; w < kSplitThreads / 32; ++w) add(w);
  } else {  // from the warp of the column's first segment on
#pragma unroll 1
    for (std::uint32_t w = s.column() / 32; w < kSplitThreads / 32; w += s.columns / 32) add(w);
  }
  *below = lower;
  *present = all;
}

/// The splits on either side of the bins of a run, with their numbers: 2 i before bin i, with missing values left; 2 i
/// + 1 after bin i, with missing values right.
struct RunSplits {
  BinRun run;
  GradientSum total, present;  ///< sums over the node, and over its rows with the feature
  GradientSum below;           ///< sum of the values below the run

  /// Returns the sum of the left side.
  __device__ GradientSum Left(int number) const {
    GradientSum left = number % 2 == 0 ? below + (total - present) : below;
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      if (2 * i < number) left += run.sum[i];
    }
    return left;
  }
};

/// The bounds of a run's splits; -1 if there is no candidate.
template <bool kMonotone>
struct RunBounds {
  float bound[2 * kSplitBins];
  float likely{0.0f};  ///< largest bound of splits that do not seem to violate the feature's direction

  __device__ RunBounds(SplitFilter const& filter, RunSplits const& splits, int direction) {
    Find(filter, splits, direction, 1, splits.below);
    if (splits.present != splits.total) {
      Find(filter, splits, direction, 0, splits.Left(0));
    } else {
#pragma unroll
      for (int i = 0; i < kSplitBins; ++i) bound[2 * i] = -1.0f;
    }
  }
  /// Returns the mask of splits whose bound is at least `least`, which is not negative.
  __device__ std::uint32_t Reaching(float least) const {
    std::uint32_t splits = 0;
#pragma unroll
    for (int i = 0; i < 2 * kSplitBins; ++i) splits |= bound[i] >= least ? 1U << i : 0U;
    return splits;
  }

 private:
  __device__ void Find(SplitFilter const& filter, RunSplits const& splits, int direction, int after, GradientSum left) {
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      GradientSum const sum = splits.run.sum[i], before = left;
      left += sum;
      GradientSum const on_left = after != 0 ? left : before, on_right = splits.total - on_left;
      float const score = ScoreBound(filter.lambda, on_left, on_right);
      // An empty bin, or a bin beyond the end, repeats its neighbour's candidate, which comes first in the order.
      bool const is_candidate =
          (sum.grad | sum.hess) != 0 && on_left.hess >= filter.least_hess && on_right.hess >= filter.least_hess;
      bound[2 * i + after] = is_candidate ? score : -1.0f;
      bool const seems_good = is_candidate && !(kMonotone && SeemsAgainst(filter.lambda, on_left, on_right, direction));
      likely = fmaxf(likely, seems_good ? score : 0.0f);
    }
  }
};

/// The best of a run's evaluated splits.
struct BestOfRun {
  unsigned long long key{0};
  int number{0};
  float least{0.0f};  ///< ScoreBound that a better split must have; 0 if unknown
};

/// Evaluates the `wanted` splits exactly. `bin`: the first bin of the run.
template <bool kMonotone>
__device__ BestOfRun LookClosely(SplitView const& view, NodeIndex n, RunSplits const& splits, std::uint32_t wanted,
                                 int direction, std::uint32_t column, std::uint32_t bin, SplitShared const& shared) {
  BestOfRun best;
  if (wanted == 0) return best;
  SplitParams const params = shared.params;
  GradientSum const total = Opaque(splits.total);
  NodeTerms const node = TermsOf<kMonotone>(params, total, kMonotone ? view.limits.bounds[n] : WeightBounds{});
#pragma unroll 1
  do {
    int const number = __ffs(static_cast<int>(wanted)) - 1;
    GradientSum const left = splits.Left(number);
    float const gain = SplitGain<kMonotone>(params, left, total - left, node, direction);
    unsigned long long const key =
        CandidateKey(gain, OrderOf(column, number % 2 != 0, bin + static_cast<std::uint32_t>(number) / 2));
    if (key > best.key) {
      best.key = key;
      best.number = number;
    }
    wanted &= wanted - 1;
  } while (wanted != 0);
  float const least = LeastScore(ScoreUnits{params}, node.gain, GainOf(best.key));
  if (least > 0.0f) best.least = least;
  return best;
}

/// Returns true if the interaction constraints let node n be split by feature f.
__device__ inline bool MayMeetAt(SplitView const& view, NodeIndex n, FeatureIndex f) {
  NodeLimitsView const& limits = view.limits;
  if (limits.set_words == 0 || n == 0) return true;
  return MayMeet(limits.sets + static_cast<std::uint64_t>(n) * limits.set_words,
                 limits.sets_of_features + std::uint64_t{f} * limits.set_words, limits.set_words,
                 f == view.tree.nodes[0].split.feature);
}

/// The work of a block for one node and group.
struct GroupItem {
  NodeIndex node;
  GradientSum total;             ///< over the node's rows
  GradientSum* own;              ///< the node's histogram
  GradientSum const* built;      ///< the built child's histogram, to be subtracted from `own`, or nullptr
  std::uint32_t const* allowed;  ///< features, or nullptr: all
  SplitCandidate* candidates;    ///< [groups] results
};

/// Stages the bins of a thread's segment, if it is one run.
__device__ inline void StageBins(BinSegment const& s, std::uint32_t stride, GroupItem const& item, StagedBins* staged) {
  if (s.runs > 1) return;
  auto const ask = [&](GradientSum const* sums, longlong2(*to)[kSplitThreads]) {
#pragma unroll
    for (std::uint32_t i = 0; i < kSplitBins; ++i) {
      if (i >= s.n) continue;
      __pipeline_memcpy_async(&to[i][threadIdx.x], sums + s.cell + std::uint64_t{i} * stride, sizeof(GradientSum));
    }
  };
  ask(item.own, staged->own);
  if (item.built != nullptr) ask(item.built, staged->built);
  __pipeline_commit();
}

/// Returns the sum of a segment of several runs, without keeping registers. In a sibling it subtracts the built child
/// from the parent's bins, and stores them.
__device__ inline GradientSum SumRuns(BinSegment const& s, std::uint32_t stride, GradientSum* own,
                                      GradientSum const* built) {
  GradientSum sum;
#pragma unroll 1
  for (std::uint32_t from = 0; from < s.n; from += kSplitBins) {
    BinRun run, other;
    run.Load(s, stride, from, own);
    if (built != nullptr) {
      other.Load(s, stride, from, built);
      run.Subtract(other);
      run.Store(s, stride, from, own);
    }
    sum += run.Total();
  }
  return sum;
}

/// Returns the sum of this thread's segment. `run` keeps the bins if the segment is one run. In a sibling it subtracts
/// the built child from the parent's bins, and stores them if `keeps`.
__device__ inline GradientSum SumBins(BinSegment const& s, std::uint32_t stride, GroupItem const& item, bool keeps,
                                      StagedBins const& staged, BinRun* run) {
  if (s.runs > 1) return SumRuns(s, stride, item.own, item.built);
  __pipeline_wait_prior(0);
  run->Load(s, staged.own);
  if (item.built != nullptr) {
    BinRun other;
    other.Load(s, staged.built);
    run->Subtract(other);
    if (keeps) run->Store(s, stride, 0, item.own);
  }
  return run->Total();
}

/// Returns the largest key of the block's runs, and in `mine` the largest key of this thread's. `bin`: the first bin.
/// *least: bound that a better split of the node must have, as far as known; 0 at first.
///
/// Evaluates the candidates with the largest bound, or a slightly smaller one, first. In most cases no other candidate
/// can be better. If the bound is far above the gain (because of penalties, limits or directions), the remaining
/// possible candidates follow.
template <bool kMonotone>
__device__ unsigned long long SearchRuns(SplitView const& view, NodeIndex n, RunSplits* splits, bool scanned,
                                         int direction, std::uint32_t column, std::uint32_t bin, SplitShared* shared,
                                         float* least, BestOfRun* mine) {
  float wanted = -1.0f;
  while (true) {
    splits->total = Opaque(splits->total);
    RunBounds<kMonotone> const bounds{shared->filter, *splits, direction};
    if (wanted < 0.0f) {
      float const largest = LargestOfBlock(scanned ? bounds.likely : 0.0f, shared);
      // With directions a larger bound may exist.
      if (!kMonotone && largest < *least) return 0;
      wanted = largest * kNearBound;
    }
    *mine = LookClosely<kMonotone>(view, n, *splits, scanned ? bounds.Reaching(wanted) : 0, direction, column, bin,
                                   *shared);
    FoundByWarp const found = LargestOfBlock(mine->key, mine->least, shared);
    *least = fmaxf(*least, found.least);
    if (found.least >= wanted) return found.key;
    wanted = found.least;
    __syncthreads();  // the next turn reuses the shared words
  }
}

/// Finds the best split of a node over the features of one group, unless the node has a better one; the thread that
/// finds it writes it. `least` is as in SearchRuns. ask_ahead() stages the bins of the next item.
template <bool kMonotone, typename AskAhead>
__device__ void BestOfGroup(SplitView const& view, BinSegment const& s, GroupItem const& item, bool keeps,
                            StagedBins const& staged, SplitShared* shared, float* least, SplitCandidate* best,
                            AskAhead&& ask_ahead) {
  auto const stride = static_cast<std::uint32_t>(view.matrix.cell_stride());
  RunSplits splits;
  splits.total = item.total;
  GradientSum const sum = SumBins(s, stride, item, keeps, staged, &splits.run);
  bool const scanned = s.n != 0 && IsIn(item.allowed, s.feature) && MayMeetAt(view, item.node, s.feature);
  int const direction = kMonotone && scanned ? view.limits.directions[s.feature] : 0;
  SumBelow(s, sum, shared, &splits.below, &splits.present);
  ask_ahead();                 // after the barrier: all threads have read their staged bins
  unsigned long long top = 0;  // largest key of the runs so far
  for (std::uint32_t from = 0; from < s.runs * kSplitBins; from += kSplitBins) {
    if (s.runs > 1) {
      if (from > 0) __syncthreads();  // the shared words are written again
      splits.run.Load(s, stride, from, item.own);
    }
    BestOfRun mine;
    unsigned long long const key = SearchRuns<kMonotone>(view, item.node, &splits, scanned, direction, s.column(),
                                                         s.first + from, shared, least, &mine);
    if (key > top && key == mine.key) {
      GradientSum const left = splits.Left(mine.number);
      std::uint32_t const bin = s.first + from + (static_cast<std::uint32_t>(mine.number) + 1) / 2;
      *best = {GainOf(key), s.feature, bin, mine.number % 2 == 0, false, left, splits.total - left};
    }
    top = max(top, key);
    splits.below += splits.run.Total();
  }
  if (top == 0 && threadIdx.x == 0) *best = {};
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_GROUP_SPLIT_CUDA_CUH_
