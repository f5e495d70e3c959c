// Finds splits by categories of nodes whose sums are vectors, and of levels of such nodes, on a device.
#include <algorithm>

#include "cuda/grid.h"
#include "split/category_split_cuda.cuh"
#include "split/vector_categories_cuda.h"
#include "split/vector_split_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr std::uint32_t kThreads = kSplitThreads;

struct KeysShared {
  CategoryShared sort;
  float own[kThreads];  ///< best outputs of the node, kThreads at a time
};

/// Writes the keys of VectorCategoryKeys, unsorted. totals: [outputs] of the node. The whole block calls it.
__device__ void WriteKeys(VectorSplitView const& view, GradientSum const* totals, VectorBins const& bins, float* own,
                          std::uint64_t* keys) {
  std::uint32_t const outputs = view.cells.outputs;
  for (BinIndex base = 0; base < bins.n; base += kThreads) {
    BinIndex const c = base + threadIdx.x;
    double product = 0.0;
    for (std::uint32_t first = 0; first < outputs; first += kThreads) {
      std::uint32_t const count = min(outputs - first, kThreads);
      std::uint32_t const k = first + threadIdx.x;
      if (threadIdx.x < count) own[threadIdx.x] = BestOutput(ParamsOf(view, k), totals[k]);
      __syncthreads();
      for (std::uint32_t i = 0; i < count && c < bins.n; ++i) {
        product += PartOfProduct(ParamsOf(view, first + i), own[i], bins.At(c, first + i));
      }
      __syncthreads();  // the best outputs are overwritten next
    }
    if (c < bins.n) keys[c] = CategoryKeyOfProduct(product, c);
  }
}

/// Sorts the categories of a feature in a node. The whole block calls it.
__device__ SortedKeys SortCategories(VectorSplitView const& view, GradientSum const* totals, VectorBins const& bins,
                                     KeysShared* shared) {
  std::uint64_t* const keys = RoomForKeys(view.of.categories, bins.n, &shared->sort);
  WriteKeys(view, totals, bins, shared->own, keys);
  return SortCategoryKeys(view.params, keys, bins.n, &shared->sort);
}

/// The splits from one end of the sorted categories of a feature. A thread takes split `base` + threadIdx.x.
struct EndOfOrder {
  VectorBins const& bins;
  BinIndex splits;
  GradientSum* before;  ///< [2, outputs] of the block: sums of the categories before `base`, and before the next
  SumScan::TempStorage* storage;

  /// Calls add(k, end) for all outputs in their order, if there is a split: `end` is the sum of the categories
  /// category_at(0) … category_at(base + threadIdx.x). `base` is 0, then kThreads more each time. It may be called
  /// again with the same `base`. The whole block calls it.
  template <typename CategoryAt, typename Add>
  __device__ void ForOutputs(BinIndex base, CategoryAt&& category_at, Add&& add) const {
    std::uint32_t const outputs = bins.cells.outputs;
    BinIndex const i = base + threadIdx.x;
    bool const is_split = i < splits, goes_on = base + kThreads < splits;
    BinIndex const category = is_split ? category_at(i) : 0;
    GradientSum* const of_base = before + base / kThreads % 2 * outputs;
    GradientSum* const of_next = before + (base / kThreads + 1) % 2 * outputs;
    for (std::uint32_t k = 0; k < outputs; ++k) {
      GradientSum const own = is_split ? bins.At(category, k) : GradientSum{};
      longlong2 up_to, all;
      SumScan(*storage).InclusiveScan(longlong2{own.grad, own.hess}, up_to, AddSums{}, all);
      __syncthreads();  // the next turn reuses the storage
      GradientSum const earlier = base != 0 ? of_base[k] : GradientSum{};
      if (goes_on && threadIdx.x == 0) of_next[k] = earlier + GradientSum{all.x, all.y};
      if (is_split) add(k, earlier + GradientSum{up_to.x, up_to.y});
    }
    __syncthreads();  // of_next has been written
  }
};

/// Finds the best splits of children by categorical features: VectorSplitFinder::TryCategories.
template <Formulas kFormulas>
__global__ void __launch_bounds__(kThreads) SearchCategoriesKernel(VectorSplitView view, std::uint32_t children) {
  constexpr bool kMonotone = kFormulas == Formulas::kMonotone;
  __shared__ KeysShared shared;
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const outputs = view.cells.outputs;
  std::uint64_t const items = std::uint64_t{children} * view.categories.count;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    auto const child = static_cast<std::uint32_t>(item / view.categories.count);
    FeatureIndex const f = view.categories.features[item % view.categories.count];
    VectorChild const own = ChildOf(view, child);
    if (!MaySplitBy(view, own, f)) continue;
    std::uint64_t const first = static_cast<std::uint64_t>(own.node) * outputs;
    GradientSum const* const totals = view.nodes.sums + first;
    WeightBounds const* const bounds = kMonotone ? view.nodes.bounds + first : nullptr;
    int const direction = kMonotone ? view.directions[f] : 0;
    VectorBins const bins{m, view.cells, own.sums, f};
    BinIndex const n = bins.n;
    unsigned long long key = 0;
    auto const add = [&](std::uint32_t k, GradientSum left, Division<kFormulas>* division) {
      SplitParams const p = ParamsOf(view, k);
      division->Add(p, ToLoss(p, left), ToLoss(p, totals[k] - left), kMonotone ? bounds + k : nullptr, direction);
    };
    auto const consider = [&](Division<kFormulas> const& division, std::uint32_t number) {
      key = max(key, CandidateKey(division.Gain(view, view.nodes.gain[own.node]), 2 * m.cut_ptr[f] + number));
    };
    if (SplitsOneByOne(view.params, n)) {
      for (BinIndex i = threadIdx.x; i < 2 * n; i += kThreads) {
        Division<kFormulas> division;
        for (std::uint32_t k = 0; k < outputs; ++k) {
          GradientSum const missing = totals[k] - bins.Present(k);
          add(k, DivideOneByOne(i, bins.At(i / 2, k), missing, totals[k]).left, &division);
        }
        consider(division, i);
      }
    } else {
      SortedKeys const sorted = SortCategories(view, totals, bins, &shared);
      BinIndex const splits = SortedSplits(view.params, n);
      EndOfOrder const end_of{bins, splits, view.categories.ends + blockIdx.x * std::uint64_t{2} * outputs,
                              &shared.sort.scan};
      for (bool const from_front : {true, false}) {
        auto const category_at = [&](BinIndex i) { return from_front ? sorted.FromFront(i) : sorted.FromBack(i); };
        for (BinIndex base = 0; base < splits; base += kThreads) {
          Division<kFormulas> division;
          end_of.ForOutputs(base, category_at, [&](std::uint32_t k, GradientSum end) {
            add(k, from_front ? totals[k] - end : end, &division);
          });
          BinIndex const i = base + threadIdx.x;
          if (i < splits) consider(division, from_front ? i : splits + i);
        }
      }
    }
    key = WarpMax(key);
    if (threadIdx.x % 32 == 0 && key != 0) atomicMax(view.best + child, key);
    __syncthreads();  // the keys are overwritten next
  }
}

/// Writes the best splits of children, if they are by categories, with sets and sums: VectorSplitFinder::TakeBest.
__global__ void __launch_bounds__(kThreads) TakeCategoriesKernel(VectorSplitView view, std::uint32_t children) {
  __shared__ KeysShared shared;
  __shared__ unsigned long long hessians[2];
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const outputs = view.cells.outputs;
  int const shift = CeilLog2(outputs);
  for (std::uint32_t child = blockIdx.x; child < children; child += gridDim.x) {
    unsigned long long const key = view.best[child];
    if (key == 0) continue;  // the node's split has no gain, as it was made
    OfBest const of_best{m, key};
    FeatureIndex const f = of_best.feature;
    if (!IsCategorical(view, f)) continue;
    if (threadIdx.x == 0) hessians[0] = hessians[1] = 0;
    VectorChild const own = ChildOf(view, child);
    auto const set_number = static_cast<std::uint32_t>(own.node);
    std::uint64_t const first = static_cast<std::uint64_t>(own.node) * outputs;
    GradientSum const* const totals = view.nodes.sums + first;
    VectorBins const bins{m, view.cells, own.sums, f};
    std::uint32_t const number = of_best.number;
    BinIndex const splits = SortedSplits(view.params, bins.n);
    bool const from_front = number < splits;
    CategoryDivision const division =
        SplitsOneByOne(view.params, bins.n)
            ? DivideOneByOne(number, {}, {}, {})
            : DivideSorted(from_front ? number : number - splits, from_front, bins.n, {}, {});
    SplitCandidate best{0.0f, f, division.bin, division.default_left, true, {}, {}};
    WriteSet(m, view.of.categories, view.params, best, set_number,
             [&] { return SortCategories(view, totals, bins, &shared); });
    __syncthreads();  // the set has been written, and the hessians are 0
    for (std::uint32_t k = threadIdx.x / 32; k < outputs; k += kThreads / 32) {
      GradientSum right = bins.In(view.of.categories.set(set_number), k);
      if (!best.default_left) right += totals[k] - bins.Present(k);
      if (threadIdx.x % 32 != 0) continue;
      GradientSum const left = totals[k] - right;
      view.nodes.left[first + k] = left;
      atomicAdd(&hessians[0], static_cast<unsigned long long>(left.hess >> shift));
      atomicAdd(&hessians[1], static_cast<unsigned long long>(right.hess >> shift));
    }
    __syncthreads();
    best.bin = set_number;
    if (threadIdx.x == 0) WriteBest(view, own.node, key, best, hessians);
  }
}

/// Computes the gains of dividing nodes by each candidate of categorical features: LevelSplitFinder::AddCategories. A
/// block takes a node and a feature.
template <bool kMonotone>
__global__ void __launch_bounds__(kThreads)
    LevelCategoryGainsKernel(VectorLevelView view, std::uint32_t first, std::uint32_t count, double* gains) {
  __shared__ SumScan::TempStorage storage;
  DeviceMatrixView const& m = view.matrix;
  std::uint32_t const outputs = view.cells.outputs;
  std::uint64_t const items = std::uint64_t{count} * view.categorical_count;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    std::uint64_t const of_count = item / view.categorical_count;
    LevelFeature const feature = view.categorical[item % view.categorical_count];
    BinIndex const begin = m.cut_ptr[feature.feature];
    LevelNode const* const node = view.numbers + (first + of_count) * outputs;
    VectorBins const bins{m, view.cells, view.sums(first + of_count), feature.feature};
    BinIndex const n = bins.n;
    double* const first_kind = gains + of_count * 2 * view.bins + begin;
    double* const second_kind = first_kind + view.bins;
    if (feature.kind == CandidateKind::kOneByOne) {
      for (BinIndex i = threadIdx.x; i < 2 * n; i += kThreads) {
        auto const right = [&](std::uint32_t k) {
          GradientSum const total = node[k].total;
          return DivideOneByOne(i, bins.At(i / 2, k), total - bins.Present(k), total).right;
        };
        auto const left = [&](std::uint32_t k) { return node[k].total - right(k); };
        (i % 2 == 0 ? first_kind : second_kind)[i / 2] =
            DivisionGainOfOutputs<kMonotone>(view.params, left, right, node, feature.direction);
      }
      continue;
    }
    BinIndex const* const sorted = view.sorted + begin;
    EndOfOrder const end_of{bins, feature.sorted_splits, view.ends + blockIdx.x * std::uint64_t{2} * outputs, &storage};
    for (bool const from_front : {true, false}) {
      auto const category_at = [&](BinIndex i) { return sorted[from_front ? i : n - 1 - i]; };
      for (BinIndex base = 0; base < feature.sorted_splits; base += kThreads) {
        DivisionOfOutputs<kMonotone> division;
        LevelSides sides{true, true};
        auto const add = [&](std::uint32_t k, GradientSum end) {
          GradientSum const rest = node[k].total - end;
          division.Add(view.params, k, from_front ? rest : end, from_front ? end : rest, sides, node[k],
                       feature.direction);
        };
        end_of.ForOutputs(base, category_at, add);
        double gain = 0.0;
        bool const is_known = division.IsKnown(view.params, &sides);
        if (is_known) gain = division.gain;
        if (__syncthreads_or(is_known ? 0 : 1) != 0) {
          end_of.ForOutputs(base, category_at, add);
          if (!is_known) gain = division.gain;
        }
        BinIndex const i = base + threadIdx.x;
        if (i < feature.sorted_splits) (from_front ? first_kind : second_kind)[i] = gain;
      }
    }
  }
}

}  // namespace

std::uint32_t CategoryBlocks(DeviceLimits const& limits) {
  return static_cast<std::uint32_t>(limits.processors * kSplitResident);
}

void FindVectorCategories(VectorSplitView const& view, std::uint32_t children, DeviceLimits const& limits,
                          cudaStream_t stream) {
  std::uint64_t const items = std::uint64_t{children} * view.categories.count;
  auto const blocks = static_cast<unsigned>(std::min<std::uint64_t>(items, CategoryBlocks(limits)));
  Formulas const formulas = FormulasOf(view);
  auto* const kernel = formulas == Formulas::kMonotone ? SearchCategoriesKernel<Formulas::kMonotone>
                       : formulas == Formulas::kPlain  ? SearchCategoriesKernel<Formulas::kPlain>
                                                       : SearchCategoriesKernel<Formulas::kAll>;
  kernel<<<blocks, kThreads, 0, stream>>>(view, children);
  CheckLaunch("looking for splits");
}

void TakeVectorCategories(VectorSplitView const& view, std::uint32_t children, DeviceLimits const& limits,
                          cudaStream_t stream) {
  TakeCategoriesKernel<<<std::min(children, CategoryBlocks(limits)), kThreads, 0, stream>>>(view, children);
  CheckLaunch("looking for splits");
}

void FindVectorLevelCategoryGains(VectorLevelView const& view, std::uint32_t first, std::uint32_t count, double* gains,
                                  DeviceLimits const& limits, cudaStream_t stream) {
  std::uint64_t const items = std::uint64_t{count} * view.categorical_count;
  auto const blocks = static_cast<unsigned>(std::min<std::uint64_t>(items, CategoryBlocks(limits)));
  auto* const kernel = view.directions != nullptr ? LevelCategoryGainsKernel<true> : LevelCategoryGainsKernel<false>;
  kernel<<<blocks, kThreads, 0, stream>>>(view, first, count, gains);
  CheckLaunch("scoring splits of a level");
}

}  // namespace xgbgpu::cuda
