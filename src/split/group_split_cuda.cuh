/// Splits by the features of a group, found by one block: a thread looks at neighbouring bins of one feature. Nearly
/// all candidates are told to be worse than another by a bound in float (score_bound_ops.h); divisions in double
/// precision are left to the few that may be the best.
#ifndef XGBGPU_SPLIT_GROUP_SPLIT_CUDA_CUH_
#define XGBGPU_SPLIT_GROUP_SPLIT_CUDA_CUH_

#include <cuda_pipeline.h>

#include "split/constraint_ops.h"
#include "split/score_bound_ops.h"
#include "split/split_block.cuh"
#include "split/split_cuda.h"

namespace xgbgpu::cuda {

/// The order of candidates in a block: the smaller feature first, then the order of the scans (missing right, bins
/// ascending; missing left, bins descending).
__device__ inline std::uint32_t OrderOf(std::uint32_t column, bool forward, std::uint32_t bin) {
  return (column << 18) | (forward ? bin : (1U << 18) - 1 - bin);  // 256 columns, 2^17 bins
}

/// Returns the sum as a value of which the compiler knows nothing: what depends on it stays in the branch that needs
/// it, instead of being computed by all threads before a loop.
__device__ inline GradientSum Opaque(GradientSum sum) {
  long long grad = sum.grad, hess = sum.hess;
  asm volatile("" : "+l"(grad), "+l"(hess));
  return {grad, hess};
}

/// The bins that one thread looks at: `n` of them, from `first` on; none of categories, which others look at, and of a
/// feature outside the sample of the tree.
struct BinSegment {
  FeatureIndex feature;
  std::uint32_t columns;   ///< of the group, as many as threads are dealt to: a power of two
  std::uint32_t first, n;  ///< bins
  std::uint32_t runs;      ///< of kSplitBins bins, of the longest segment of the group
  std::uint64_t cell;      ///< cell of its first bin

  __device__ std::uint32_t column() const { return threadIdx.x & (columns - 1); }
};

__device__ inline BinSegment SegmentOf(SplitView const& view, SplitGroup const& group) {
  // Everything here is a power of two, and shifts are faster than divisions.
  int const segment_bits = __ffs(group.segments) - 1, column_bits = __ffs(kSplitThreads) - 1 - segment_bits;
  auto const per_part = [&](FeatureIndex f) { return (view.matrix.bins(f) + group.segments - 1) >> segment_bits; };
  BinSegment s{};
  s.columns = 1U << column_bits;
  s.feature = group.first + s.column();
  s.runs =
      max((per_part(group.first) + kSplitBins - 1) / kSplitBins, 1U);  // of more than one only a single feature has
  if (group.categorical || s.column() >= group.features || !IsIn(view.features.of_tree, s.feature)) return s;
  std::uint32_t const bins = view.matrix.bins(s.feature);
  s.first = min((threadIdx.x >> column_bits) * per_part(s.feature), bins);
  s.n = min(per_part(s.feature), bins - s.first);
  s.cell = view.matrix.first_cell(s.feature) + std::uint64_t{s.first} * view.matrix.cell_stride();
  return s;
}

/// Bins on their way from device memory to the threads that will look at them, of one item while the block is still
/// busy with the one before. A thread reads what it has asked for itself.
struct StagedBins {
  longlong2 own[kSplitBins][kSplitThreads];
  longlong2 built[kSplitBins][kSplitThreads];
};

/// Sums of kSplitBins neighbouring bins in registers: all of them are on their way before the first is used.
struct BinRun {
  GradientSum sum[kSplitBins];

  /// Bins `from` … of the segment; those beyond its end are zero.
  __device__ void Load(BinSegment const& s, std::uint32_t stride, std::uint32_t from, GradientSum const* sums) {
    auto const* const at = reinterpret_cast<longlong2 const*>(sums + (s.cell + std::uint64_t{from} * stride));
#pragma unroll
    for (std::uint32_t i = 0; i < kSplitBins; ++i) {
      longlong2 const v = from + i < s.n ? at[i * stride] : longlong2{0, 0};
      sum[i] = {v.x, v.y};
    }
  }
  /// Loads the bins that were staged.
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

/// Prefix sums over the segments of a feature: the sum of those below this thread's, and of all.
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
  } else {  // from the warp that holds the column's first segment on
#pragma unroll 1
    for (std::uint32_t w = s.column() / 32; w < kSplitThreads / 32; w += s.columns / 32) add(w);
  }
  *below = lower;
  *present = all;
}

/// The splits on either side of the bins of a run, and their numbers: 2 i, before bin i, missing values go left; 2 i +
/// 1, after it, they go right.
struct RunSplits {
  BinRun run;
  GradientSum total, present;  ///< sums of the node, and of its rows that have the feature
  GradientSum below;           ///< sum of its values below the run

  /// The sum of what goes left.
  __device__ GradientSum Left(int number) const {
    GradientSum left = number % 2 == 0 ? below + (total - present) : below;
#pragma unroll
    for (int i = 0; i < kSplitBins; ++i) {
      if (2 * i < number) left += run.sum[i];
    }
    return left;
  }
};

/// The bounds of these splits; -1 where there is no candidate.
template <bool kMonotone>
struct RunBounds {
  float bound[2 * kSplitBins];
  float likely{0.0f};  ///< largest of those that do not seem to go against the feature's direction

  __device__ RunBounds(SplitFilter const& filter, RunSplits const& splits, int direction) {
    Find(filter, splits, direction, 1, splits.below);
    if (splits.present != splits.total) {
      Find(filter, splits, direction, 0, splits.Left(0));
    } else {
#pragma unroll
      for (int i = 0; i < kSplitBins; ++i) bound[2 * i] = -1.0f;
    }
  }
  /// Bit set of the splits whose bound is `least` or more, which is not negative.
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
      // An empty bin, or one beyond the end, repeats its neighbour's candidate, which comes first in the order.
      bool const is_candidate =
          (sum.grad | sum.hess) != 0 && on_left.hess >= filter.least_hess && on_right.hess >= filter.least_hess;
      bound[2 * i + after] = is_candidate ? score : -1.0f;
      bool const seems_good = is_candidate && !(kMonotone && SeemsAgainst(filter.lambda, on_left, on_right, direction));
      likely = fmaxf(likely, seems_good ? score : 0.0f);
    }
  }
};

/// The best of some splits of a run.
struct BestOfRun {
  unsigned long long key{0};
  int number{0};
  float least{0.0f};  ///< ScoreBound that a better one must have; 0 if that cannot be told
};

/// Looks closely at the `wanted` splits. `bin`: the first of the run.
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

/// Do the interaction constraints let node n be split by feature f?
__device__ inline bool MayMeetAt(SplitView const& view, NodeIndex n, FeatureIndex f) {
  NodeLimitsView const& limits = view.limits;
  if (limits.set_words == 0 || n == 0) return true;
  return MayMeet(limits.sets + static_cast<std::uint64_t>(n) * limits.set_words,
                 limits.sets_of_features + std::uint64_t{f} * limits.set_words, limits.set_words,
                 f == view.tree.nodes[0].split.feature);
}

/// What a block has to do for one node and group.
struct GroupItem {
  NodeIndex node;
  GradientSum total;             ///< sum of the node
  GradientSum* own;              ///< the node's histogram
  GradientSum const* built;      ///< the built child's histogram, to be subtracted from `own`, or nullptr
  std::uint32_t const* allowed;  ///< features, or nullptr: all
  SplitCandidate* candidates;    ///< [groups] what is found
};

/// Asks for the bins of a thread's segment, if it is one run.
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

/// The sum of a segment of several runs, in registers none of which is kept. In a sibling a bin is what the parent has
/// left, and is stored.
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

/// The sum of this thread's segment, whose bins stay in `run` if that is all of it; in a sibling what the parent has
/// left, stored if `keeps`.
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

/// The largest key of the block's runs, and in `mine` that of this thread's. `bin`: its first one. *least: bound that a
/// better split of the node must have, as far as it is known; 0 at first.
///
/// The candidates with the largest bound, or one hardly smaller, are looked at first. No other can be better in most
/// cases; where the bound is far above the gain (of penalties, limits or directions), those that may be follow.
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
      // With directions there may be a larger one.
      if (!kMonotone && largest < *least) return 0;
      wanted = largest * kNearBound;
    }
    *mine = LookClosely<kMonotone>(view, n, *splits, scanned ? bounds.Reaching(wanted) : 0, direction, column, bin,
                                   *shared);
    FoundByWarp const found = LargestOfBlock(mine->key, mine->least, shared);
    *least = fmaxf(*least, found.least);
    if (found.least >= wanted) return found.key;
    wanted = found.least;
    __syncthreads();  // the shared words are used again
  }
}

/// Best split of a node over the features of one group, unless it has a better one: written by the one thread that
/// finds it. `least` as of SearchRuns. ask_ahead() asks for the bins of the next item.
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
  ask_ahead();                 // after the barrier: all threads have read what they had asked for
  unsigned long long top = 0;  // largest key of the runs so far
  for (std::uint32_t from = 0; from < s.runs * kSplitBins; from += kSplitBins) {
    if (s.runs > 1) {
      if (from > 0) __syncthreads();  // the shared words are used again
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
