/// Splits by one categorical feature, found by one block like host::EvaluateCategories and host::WriteCategorySet.
#ifndef XGBGPU_SPLIT_CATEGORY_SPLIT_CUDA_CUH_
#define XGBGPU_SPLIT_CATEGORY_SPLIT_CUDA_CUH_

#include <cub/block/block_scan.cuh>

#include "split/category_ops.h"
#include "split/constraint_ops.h"
#include "split/split_block.cuh"
#include "split/split_cuda.h"

namespace xgbgpu::cuda {

struct AddSums {
  __device__ longlong2 operator()(longlong2 a, longlong2 b) const { return {a.x + b.x, a.y + b.y}; }
};

using SumScan = cub::BlockScan<longlong2, kSplitThreads>;

/// The bound of one end of the categories' order: the key of a rank, found byte by byte.
struct KeyLimit {
  std::uint64_t key;   ///< upper bytes so far; when found, the lower bytes are set to the outermost values
  std::uint32_t rank;  ///< from 1, among keys with these bytes
  bool found;
};

constexpr std::uint32_t kMostSelected =
    kSplitThreads / 2;                  ///< most categories at one end of a long order that are sorted
constexpr std::uint32_t kDigits = 256;  ///< values of a byte of a key

struct CategoryShared {
  std::uint64_t keys[kSharedCategories];
  std::uint64_t ends[2 * kMostSelected];
  std::uint32_t digits[2][kDigits];
  KeyLimit limits[2];
  std::uint32_t selected;
  typename SumScan::TempStorage scan;
};

/// The sums of one feature's categories in a node's histogram. Another block may have written them.
struct CategorySums {
  GradientSum* sums;
  std::uint64_t stride;
  BinIndex n;

  __device__ CategorySums(DeviceMatrixView const& matrix, FeatureIndex feature, GradientSum* histogram)
      : sums{histogram + matrix.first_cell(feature)}, stride{matrix.cell_stride()}, n{matrix.bins(feature)} {}

  __device__ longlong2 Load(BinIndex category) const {
    return __ldcg(reinterpret_cast<longlong2 const*>(sums + category * stride));
  }
  __device__ GradientSum at(BinIndex category) const {
    longlong2 const v = Load(category);
    return {v.x, v.y};
  }
  /// Subtracts the sums of the built child, from `built` on.
  __device__ void Subtract(GradientSum const* built) const {
    for (BinIndex c = threadIdx.x; c < n; c += kSplitThreads) {
      longlong2 const v = Load(c), b = __ldcg(reinterpret_cast<longlong2 const*>(built + c * stride));
      *reinterpret_cast<longlong2*>(sums + c * stride) = {v.x - b.x, v.y - b.y};
    }
    __syncthreads();
  }
};

/// Sorts keys[0 … n), ascending, with a thread for each: it counts the smaller keys. The whole block calls it.
__device__ inline void SortFewKeys(std::uint64_t* keys, std::uint32_t n) {
  __syncthreads();
  std::uint64_t const own = keys[min(threadIdx.x, n - 1)];
  std::uint32_t below = 0;
  if (threadIdx.x / 32 * 32 < n) {
#pragma unroll 8
    for (std::uint32_t i = 0; i < n; ++i) below += keys[i] < own ? 1 : 0;
  }
  __syncthreads();
  if (threadIdx.x < n) keys[below] = own;
  __syncthreads();
}

/// Sorts keys, ascending: few by SortFewKeys, more by a bitonic sort, which needs room for a power of two.
__device__ inline void SortKeys(std::uint64_t* keys, std::uint32_t n) {
  if (n <= kSplitThreads) {
    SortFewKeys(keys, n);
    return;
  }
  std::uint32_t size = 1;
  while (size < n) size *= 2;
  for (std::uint32_t i = n + threadIdx.x; i < size; i += kSplitThreads) keys[i] = ~std::uint64_t{0};  // above any key
  __syncthreads();
  for (std::uint32_t run = 2; run <= size; run *= 2) {
    for (std::uint32_t distance = run / 2; distance > 0; distance /= 2) {
      for (std::uint32_t pair = threadIdx.x; pair < size / 2; pair += kSplitThreads) {
        std::uint32_t const i = 2 * pair - (pair & (distance - 1)), j = i + distance;
        std::uint64_t const a = keys[i], b = keys[j];
        bool const ascending = (i & run) == 0;
        if ((a > b) == ascending) {  // only keys beyond the end are equal
          keys[i] = b;
          keys[j] = a;
        }
      }
      __syncthreads();
    }
  }
}

/// Finds the next byte of the key of a limit's rank. One warp calls it. digits: number of keys with the limit's bytes
/// by their next byte, at `shift`. is_last: keys from the limit on are wanted; otherwise keys up to the limit.
__device__ inline void NarrowLimit(std::uint32_t const* digits, int shift, bool is_last, KeyLimit* limit) {
  constexpr std::uint32_t kOwn = kDigits / 32;
  std::uint32_t const lane = threadIdx.x % 32, rank = limit->rank;
  std::uint32_t own = 0;
  for (std::uint32_t i = 0; i < kOwn; ++i) own += digits[lane * kOwn + i];
  std::uint32_t before = own;
  for (int d = 1; d < 32; d *= 2) {
    std::uint32_t const other = __shfl_up_sync(kAllLanes, before, d);
    if (lane >= static_cast<std::uint32_t>(d)) before += other;
  }
  before -= own;
  __syncwarp();  // all lanes have read the limit
  if (rank <= before || rank > before + own) return;
  std::uint32_t digit = lane * kOwn;
  for (; rank > before + digits[digit]; ++digit) before += digits[digit];
  std::uint64_t const below = (std::uint64_t{1} << shift) - 1;
  limit->key |= std::uint64_t{digit} << shift;
  limit->rank = rank - before;
  // All keys with the limit's bytes are wanted.
  limit->found = is_last ? limit->rank == 1 : limit->rank == digits[digit];
  if (limit->found && !is_last) limit->key |= below;
}

/// Writes the `wanted` least and the `wanted` largest of keys[0 … n), ascending, to shared->ends: finds the keys of two
/// ranks byte by byte from the first. The whole block calls it.
__device__ inline void SelectEnds(std::uint64_t const* keys, std::uint32_t n, std::uint32_t wanted,
                                  CategoryShared* shared) {
  std::uint32_t const warp = threadIdx.x / 32;
  if (threadIdx.x < 2) shared->limits[threadIdx.x] = {0, threadIdx.x == 0 ? wanted : n - wanted + 1, false};
  if (threadIdx.x == 0) shared->selected = 0;
  static_assert(kDigits == kSplitThreads);
  for (int shift : {56, 48, 40, 32, 8, 0}) {  // categories have 16 bits
    shared->digits[0][threadIdx.x] = shared->digits[1][threadIdx.x] = 0;
    __syncthreads();
    KeyLimit const front = shared->limits[0], back = shared->limits[1];
    if (front.found && back.found) break;
    std::uint64_t const known = shift == 56 ? 0 : ~std::uint64_t{0} << (shift + 8);
#pragma unroll 4
    for (std::uint32_t i = threadIdx.x; i < n; i += kSplitThreads) {
      std::uint64_t const key = keys[i];
      std::uint32_t const digit = static_cast<std::uint32_t>(key >> shift) % kDigits;
      if (!front.found && ((key ^ front.key) & known) == 0) atomicAdd(&shared->digits[0][digit], 1U);
      if (!back.found && ((key ^ back.key) & known) == 0) atomicAdd(&shared->digits[1][digit], 1U);
    }
    __syncthreads();
    if (warp < 2 && !shared->limits[warp].found) {
      NarrowLimit(shared->digits[warp], shift, warp == 1, &shared->limits[warp]);
    }
    __syncthreads();
  }
  std::uint64_t const front = shared->limits[0].key, back = shared->limits[1].key;
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < n; i += kSplitThreads) {
    std::uint64_t const key = keys[i];
    if (key <= front || key >= back) shared->ends[atomicAdd(&shared->selected, 1U)] = key;
  }
  __syncthreads();
  SortKeys(shared->ends, 2 * wanted);
}

/// Keys of categories (category_ops.h), ascending: all keys, or both ends where splits are tried.
struct SortedKeys {
  std::uint64_t const* keys;
  std::uint32_t n;

  __device__ BinIndex FromFront(BinIndex i) const { return CategoryOf(keys[i]); }
  __device__ BinIndex FromBack(BinIndex i) const { return CategoryOf(keys[n - 1 - i]); }
};

/// Returns the block's room for the keys of `n` categories.
__device__ inline std::uint64_t* RoomForKeys(DeviceCategories const& categories, BinIndex n, CategoryShared* shared) {
  if (n <= kSharedCategories) return shared->keys;
  return categories.sort_workspace + std::uint64_t{blockIdx.x} * categories.sort_items;
}

/// Sorts keys[0 … n) of the categories of a feature; thread t has written keys t, t + kSplitThreads … The whole block
/// calls it.
__device__ inline SortedKeys SortCategoryKeys(SplitParams const& params, std::uint64_t* keys, BinIndex n,
                                              CategoryShared* shared) {
  std::uint32_t const splits = SortedSplits(params, n);
  if (n > kSplitThreads && splits > 0 && splits <= kMostSelected) {
    SelectEnds(keys, n, splits, shared);
    return {shared->ends, 2 * splits};
  }
  SortKeys(keys, n);
  return {keys, n};
}

/// Sorts the categories of a feature. The whole block calls it.
__device__ inline SortedKeys SortCategories(DeviceCategories const& categories, SplitParams const& params,
                                            CategorySums const& sums, CategoryShared* shared) {
  std::uint64_t* const keys = RoomForKeys(categories, sums.n, shared);
  for (std::uint32_t i = threadIdx.x; i < sums.n; i += kSplitThreads) keys[i] = CategoryKey(params, sums.at(i), i);
  return SortCategoryKeys(params, keys, sums.n, shared);
}

/// The best split by categories of a thread.
struct BestDivision {
  unsigned long long key{0};
  SplitCandidate split;

  __device__ void Consider(float gain, FeatureIndex feature, CategoryDivision const& d, std::uint32_t order) {
    unsigned long long const other = CandidateKey(gain, order);
    if (other <= key) return;
    key = other;
    split = {gain, feature, d.bin, d.default_left, true, d.left, d.right};
  }
};

/// The scores of a node's splits by one feature.
template <bool kMonotone>
struct CategoryJudge {
  SplitParams const& params;
  FeatureIndex feature;
  GradientSum total;
  NodeTerms node;
  int direction;

  __device__ CategoryJudge(SplitView const& view, SplitParams const& p, FeatureIndex f, NodeIndex n)
      : params{p},
        feature{f},
        total{view.tree.nodes[n].sum},
        node{TermsOf<kMonotone>(p, total, kMonotone ? view.limits.bounds[n] : WeightBounds{})},
        direction{kMonotone ? view.limits.directions[f] : 0} {}

  __device__ void Consider(CategoryDivision const& d, std::uint32_t order, BestDivision* best) const {
    best->Consider(SplitGain<kMonotone>(params, d.left, d.right, node, direction), feature, d, order);
  }
};

template <bool kMonotone>
__device__ void TryOneByOne(CategoryJudge<kMonotone> const& judge, CategorySums const& sums, CategoryShared* shared,
                            BestDivision* best) {
  longlong2 present{0, 0};
  for (BinIndex base = 0; base < sums.n; base += kSplitThreads) {
    BinIndex const c = base + threadIdx.x;
    longlong2 const own = c < sums.n ? sums.Load(c) : longlong2{0, 0};
    longlong2 up_to, all;
    SumScan(shared->scan).InclusiveScan(own, up_to, AddSums{}, all);
    __syncthreads();  // the next turn reuses the storage
    present = AddSums{}(present, all);
  }
  GradientSum const missing{judge.total.grad - present.x, judge.total.hess - present.y};
  for (BinIndex i = threadIdx.x; i < 2 * sums.n; i += kSplitThreads) {
    judge.Consider(DivideOneByOne(i, sums.at(i / 2), missing, judge.total), i, best);
  }
}

template <bool kMonotone>
__device__ void TrySorted(DeviceCategories const& categories, CategoryJudge<kMonotone> const& judge,
                          CategorySums const& sums, CategoryShared* shared, BestDivision* best) {
  SortedKeys const sorted = SortCategories(categories, judge.params, sums, shared);
  BinIndex const splits = SortedSplits(judge.params, sums.n);
  for (int back = 0; back < 2; ++back) {
    longlong2 before{0, 0};
    for (BinIndex base = 0; base < splits; base += kSplitThreads) {
      BinIndex const i = base + threadIdx.x;
      bool const in = i < splits;
      longlong2 const own = in ? sums.Load(back == 0 ? sorted.FromFront(i) : sorted.FromBack(i)) : longlong2{0, 0};
      longlong2 up_to, all;
      SumScan(shared->scan).InclusiveScan(own, up_to, AddSums{}, all);
      __syncthreads();  // the next turn reuses the storage
      longlong2 const end = AddSums{}(before, up_to);
      before = AddSums{}(before, all);
      if (!in) continue;
      judge.Consider(DivideSorted(i, back == 0, sums.n, {end.x, end.y}, judge.total), back == 0 ? i : splits + i, best);
    }
  }
  __syncthreads();  // the keys are overwritten next
}

/// Finds the best split of node n by one feature; the thread that finds it writes it. `active`: the feature is in the
/// tree's sample. `allowed`: the node may be split by it. `built`: histogram of the sibling, to be subtracted, or
/// nullptr.
template <bool kMonotone>
__device__ void BestOfCategories(SplitView const& view, SplitParams const& params, FeatureIndex feature, NodeIndex n,
                                 bool active, bool allowed, GradientSum* own, GradientSum const* built,
                                 SplitShared* shared, CategoryShared* room, SplitCandidate* split) {
  CategorySums const sums{view.matrix, feature, own};
  BestDivision best;
  __syncthreads();  // threads may still read the shared words of a group of numbers
  if (active && built != nullptr) sums.Subtract(built + view.matrix.first_cell(feature));
  if (active && allowed) {
    CategoryJudge<kMonotone> const judge{view, params, feature, n};
    if (SplitsOneByOne(params, sums.n)) {
      TryOneByOne(judge, sums, room, &best);
    } else {
      TrySorted(view.categories, judge, sums, room, &best);
    }
  }
  unsigned long long const top = LargestOfBlock(best.key, 0.0f, shared).key;
  if (top == 0 ? threadIdx.x == 0 : best.key == top) *split = best.split;
  __syncthreads();  // the next call reuses the shared words
}

/// Writes set `number`: the categories that go right by `split`. The `bin` of `split` is not a set yet. sort() returns
/// the sorted keys of its feature. The whole block calls it.
template <typename Sort>
__device__ void WriteSet(DeviceMatrixView const& m, DeviceCategories const& categories, SplitParams const& params,
                         SplitCandidate const& split, std::uint32_t number, Sort&& sort) {
  BinIndex const n = m.bins(split.feature);
  std::uint32_t* const set = categories.set(number);
  bool const one = SplitsOneByOne(params, n);
  // Writes the categories at the nearer end as members, or as the only non-members.
  bool const all_but = !one && split.bin > SortedSplits(params, n);
  for (std::uint32_t w = threadIdx.x; w < categories.words; w += kSplitThreads) {
    std::uint32_t const there = min(n - min(n, 32 * w), 32U);
    set[w] = !all_but || there == 0 ? 0 : ~0U >> (32 - there);
  }
  __syncthreads();
  auto const flip = [&](std::uint32_t symbol) { atomicXor(set + symbol / 32, 1U << (symbol % 32)); };
  if (one) {
    if (threadIdx.x == 0) flip(split.bin);
  } else {
    SortedKeys const sorted = sort();
    BinIndex const flipped = all_but ? n - split.bin : split.bin;
    for (BinIndex i = threadIdx.x; i < flipped; i += kSplitThreads) {
      flip(all_but ? sorted.FromBack(i) : sorted.FromFront(i));
    }
    __syncthreads();  // the keys are overwritten next
  }
  if (threadIdx.x == 0 && m.dense && !split.default_left) flip(m.tile[split.feature / m.tile_columns].bins);
}

/// Writes the set of node n's best split, if it is by categories. The whole block calls it.
__device__ inline void WriteNodeSet(SplitView const& view, SplitParams const& params, NodeIndex n, GradientSum* own,
                                    CategoryShared* room) {
  __threadfence();  // other blocks have subtracted
  SplitCandidate const split = LoadFresh(&view.tree.nodes[n].split);
  if (!split.categorical) return;
  WriteSet(view.matrix, view.categories, params, split, static_cast<std::uint32_t>(n), [&] {
    return SortCategories(view.categories, params, CategorySums{view.matrix, split.feature, own}, room);
  });
  if (threadIdx.x == 0) view.tree.nodes[n].split.bin = static_cast<BinIndex>(n);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_CATEGORY_SPLIT_CUDA_CUH_
