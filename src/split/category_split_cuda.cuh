/// Splits by one categorical feature, found by one block: as host::EvaluateCategories and host::WriteCategorySet.
#ifndef XGBGPU_SPLIT_CATEGORY_SPLIT_CUDA_CUH_
#define XGBGPU_SPLIT_CATEGORY_SPLIT_CUDA_CUH_

#include <cub/block/block_scan.cuh>

#include "split/category_ops.h"
#include "split/constraint_ops.h"
#include "split/split_block.cuh"

namespace xgbgpu::cuda {

struct AddSums {
  __device__ longlong2 operator()(longlong2 a, longlong2 b) const { return {a.x + b.x, a.y + b.y}; }
};

using SumScan = cub::BlockScan<longlong2, kSplitThreads>;

struct CategoryShared {
  std::uint64_t keys[kSharedCategories];
  typename SumScan::TempStorage scan;
};

/// The sums of one feature's categories in the histogram of a node. Another block may have written them.
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
  /// Subtracts those of the sibling, which begin at `built`.
  __device__ void Subtract(GradientSum const* built) const {
    for (BinIndex c = threadIdx.x; c < n; c += kSplitThreads) {
      longlong2 const v = Load(c), b = __ldcg(reinterpret_cast<longlong2 const*>(built + c * stride));
      *reinterpret_cast<longlong2*>(sums + c * stride) = {v.x - b.x, v.y - b.y};
    }
    __syncthreads();
  }
};

/// The categories' keys (category_ops.h), ascending: a bitonic sort by the whole block.
__device__ inline std::uint64_t const* SortCategories(DeviceCategories const& categories, SplitParams const& params,
                                                      CategorySums const& sums, CategoryShared* shared) {
  bool const fits = sums.n <= kSharedCategories;
  std::uint64_t* const keys =
      fits ? shared->keys : categories.sort_room + std::uint64_t{blockIdx.x} * categories.sort_items;
  std::uint32_t size = 1;
  while (size < sums.n) size *= 2;
  for (std::uint32_t i = threadIdx.x; i < size; i += kSplitThreads) {
    keys[i] = i < sums.n ? CategoryKey(params, sums.at(i), i) : ~std::uint64_t{0};  // above the key of any category
  }
  __syncthreads();
  for (std::uint32_t run = 2; run <= size; run *= 2) {
    for (std::uint32_t distance = run / 2; distance > 0; distance /= 2) {
      for (std::uint32_t pair = threadIdx.x; pair < size / 2; pair += kSplitThreads) {
        std::uint32_t const i = 2 * pair - (pair & (distance - 1)), j = i + distance;
        std::uint64_t const a = keys[i], b = keys[j];
        bool const ascending = (i & run) == 0;
        if ((a > b) == ascending) {  // no two are equal but those beyond the end
          keys[i] = b;
          keys[j] = a;
        }
      }
      __syncthreads();
    }
  }
  return keys;
}

/// The best split by categories that a thread has seen.
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

/// What the splits of a node by one feature are judged with.
template <bool kMonotone>
struct CategoryJudge {
  SplitParams const& params;
  FeatureIndex feature;
  GradientSum total;
  NodeTerms node;
  int direction;

  __device__ CategoryJudge(DeviceTree const& tree, SplitParams const& p, FeatureIndex f, NodeIndex n)
      : params{p},
        feature{f},
        total{tree.nodes[n].sum},
        node{TermsOf<kMonotone>(p, total, kMonotone ? tree.limits.bounds[n] : WeightBounds{})},
        direction{kMonotone ? tree.limits.directions[f] : 0} {}

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
    __syncthreads();  // the storage is used again
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
  std::uint64_t const* const keys = SortCategories(categories, judge.params, sums, shared);
  BinIndex const splits = SortedSplits(judge.params, sums.n);
  for (int back = 0; back < 2; ++back) {
    longlong2 before{0, 0};
    for (BinIndex base = 0; base < splits; base += kSplitThreads) {
      BinIndex const i = base + threadIdx.x;
      bool const in = i < splits;
      longlong2 const own = in ? sums.Load(CategoryOf(keys[back == 0 ? i : sums.n - 1 - i])) : longlong2{0, 0};
      longlong2 up_to, all;
      SumScan(shared->scan).InclusiveScan(own, up_to, AddSums{}, all);
      __syncthreads();  // the storage is used again
      longlong2 const end = AddSums{}(before, up_to);
      before = AddSums{}(before, all);
      if (!in) continue;
      judge.Consider(DivideSorted(i, back == 0, sums.n, {end.x, end.y}, judge.total), back == 0 ? i : splits + i, best);
    }
  }
  __syncthreads();  // the keys are written again
}

/// Best split of node n by one feature: written by the one thread that finds it. `active`: the feature is in the tree's
/// sample; `allowed`: the node may be split by it. `built`: histogram of the sibling, to be subtracted, or nullptr.
template <bool kMonotone>
__device__ void BestOfCategories(DeviceTree const& tree, SplitParams const& params, FeatureIndex feature, NodeIndex n,
                                 bool active, bool allowed, GradientSum* own, GradientSum const* built,
                                 SplitShared* shared, CategoryShared* room, SplitCandidate* split) {
  CategorySums const sums{tree.matrix, feature, own};
  BestDivision best;
  if (active && built != nullptr) sums.Subtract(built + tree.matrix.first_cell(feature));
  if (active && allowed) {
    CategoryJudge<kMonotone> const judge{tree, params, feature, n};
    if (SplitsOneByOne(params, sums.n)) {
      TryOneByOne(judge, sums, room, &best);
    } else {
      TrySorted(tree.categories, judge, sums, room, &best);
    }
  }
  unsigned long long const top = LargestOfBlock(best.key, 0.0f, shared).key;
  if (top == 0 ? threadIdx.x == 0 : best.key == top) *split = best.split;
  __syncthreads();  // the shared words are used again
}

/// The whole block: writes the set of node n's best split, if that is by categories.
__device__ inline void WriteNodeSet(DeviceTree const& tree, SplitParams const& params, NodeIndex n, GradientSum* own,
                                    CategoryShared* room) {
  __threadfence();  // other blocks have subtracted
  SplitCandidate const split = LoadFresh(&tree.nodes[n].split);
  if (!split.categorical) return;
  CategorySums const sums{tree.matrix, split.feature, own};
  std::uint32_t* const set = tree.categories.set(static_cast<std::uint32_t>(n));
  for (std::uint32_t w = threadIdx.x; w < tree.categories.words; w += kSplitThreads) set[w] = 0;
  __syncthreads();
  auto const add = [&](std::uint32_t symbol) { atomicOr(set + symbol / 32, 1U << (symbol % 32)); };
  if (SplitsOneByOne(params, sums.n)) {
    if (threadIdx.x == 0) add(split.bin);
  } else {
    std::uint64_t const* const keys = SortCategories(tree.categories, params, sums, room);
    for (BinIndex i = threadIdx.x; i < split.bin; i += kSplitThreads) add(CategoryOf(keys[i]));
    __syncthreads();  // the keys are written again
  }
  if (threadIdx.x != 0) return;
  DeviceMatrixView const& m = tree.matrix;
  if (m.dense && !split.default_left) add(m.tile[split.feature / m.tile_columns].bins);
  tree.nodes[n].split.bin = static_cast<BinIndex>(n);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_CATEGORY_SPLIT_CUDA_CUH_
