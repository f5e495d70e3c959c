// Finds the best splits of nodes whose sums are vectors, on a device.
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "split/vector_categories_cuda.h"
#include "split/vector_split_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kSumThreads = 512;
constexpr int kSegmentBins = 8;  // neighbouring bins that a thread sums, all of which are in flight
constexpr int kSegments = kSumThreads / 32;
constexpr int kUsualStride = 32;  // of a tile of 32 columns, whose sums lie in planes

__device__ std::int64_t TotalOf(VectorSplitView const& view, NodeIndex node, std::uint32_t sum) {
  VectorCells const& cells = view.cells;
  GradientSum const* const totals = view.nodes.sums + static_cast<std::uint64_t>(node) * cells.outputs;
  return sum < cells.outputs ? totals[sum].grad : totals[sum - cells.outputs].hess;
}

/// The cells of one sum of one feature, in any slot.
struct Chain {
  std::uint64_t first;   ///< word of the first bin
  std::uint64_t stride;  ///< to the next bin
  BinIndex bins;         ///< 0: the lane has no feature
};

/// Parts of the chains of 32 lanes, by warps.
struct ChainParts {
  std::int64_t of_warp[kSegments][32];
};

/// Turns the cells of a chain into sums over the bins up to each. Where `other` is set, its cells, which are the
/// parent's sums of that form, lose these: they become the sibling's. A warp takes kSegmentBins bins of each lane's
/// chain. The block calls it. Returns the sum over all bins. kStride: chain.stride, if it is the usual one, or 0:
/// addresses of a known stride take no registers.
template <int kStride>
__device__ std::int64_t Accumulate(Chain const& chain, std::int64_t* own, std::int64_t* other, ChainParts* parts) {
  std::uint32_t const lane = threadIdx.x % 32, warp = threadIdx.x / 32, most = WarpMax(chain.bins);
  std::int64_t before = 0;
  for (BinIndex base = 0; base < most; base += kSegments * kSegmentBins) {
    BinIndex const first = base + warp * kSegmentBins;
    BinIndex const n = first < chain.bins ? min(chain.bins - first, BinIndex{kSegmentBins}) : 0;
    std::uint64_t const stride = kStride != 0 ? kStride : chain.stride, at = chain.first + first * stride;
    std::int64_t* const cells = own + at;
    std::int64_t* const others = other + at;
    std::int64_t v[kSegmentBins], of_other[kSegmentBins];
#pragma unroll
    for (int b = 0; b < kSegmentBins; ++b) {
      v[b] = b < n ? cells[b * stride] : 0;
      of_other[b] = other != nullptr && b < n ? others[b * stride] : 0;
    }
#pragma unroll
    for (int b = 1; b < kSegmentBins; ++b) v[b] += v[b - 1];
    parts->of_warp[warp][lane] = v[kSegmentBins - 1];
    __syncthreads();
    std::int64_t below = before;
#pragma unroll 8
    for (std::uint32_t w = 0; w < kSegments; ++w) {
      std::int64_t const part = parts->of_warp[w][lane];
      if (w < warp) below += part;
      before += part;
    }
#pragma unroll
    for (int b = 0; b < kSegmentBins; ++b) {
      v[b] += below;
      if (b < n) cells[b * stride] = v[b];
      if (b < n && other != nullptr) others[b * stride] = of_other[b] - v[b];
    }
    __syncthreads();
  }
  return before;
}

/// Accumulates 32 features in the children of a family, a feature a lane, and notes which of them a row misses.
/// blockIdx.y: the sum; blockIdx.z: the family.
template <int kStride>
__global__ void __launch_bounds__(kSumThreads, kStride != 0 ? 2 : 1) AccumulateKernel(VectorSplitView view, bool root) {
  __shared__ ChainParts parts;
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const sum = blockIdx.y, child = 2 * blockIdx.z;
  VectorChild const built = ChildOf(view, child), sibling = root ? built : ChildOf(view, child + 1);
  for (std::uint32_t base = blockIdx.x * 32; base < m.features; base += gridDim.x * 32) {
    FeatureIndex const f = base + threadIdx.x % 32;
    bool const counts = f < m.features && IsIn(view.of.features.of_tree, f);
    Chain const chain{view.cells.first(sum) + (counts ? view.cells.cell * m.first_cell(f) : 0),
                      view.cells.cell * m.cell_stride(), counts ? m.bins(f) : 0};
    auto const tell = [&](std::uint32_t number, NodeIndex node, std::int64_t present) {
      if (view.misses == nullptr) return;
      if (threadIdx.x < 32 && counts && present != TotalOf(view, node, sum)) {
        view.misses[std::uint64_t{number} * m.features + f] = 1;
      }
    };
    bool const subtracts = !root && sibling.subtracts;
    std::int64_t const of_built = Accumulate<kStride>(chain, built.sums, subtracts ? sibling.sums : nullptr, &parts);
    tell(child, built.node, of_built);
    if (root) continue;
    std::int64_t of_sibling = 0;
    if (!subtracts) {
      of_sibling = Accumulate<kStride>(chain, sibling.sums, nullptr, &parts);
    } else if (chain.bins != 0) {
      of_sibling = sibling.sums[chain.first + (chain.bins - std::uint64_t{1}) * chain.stride];
    }
    tell(child + 1, sibling.node, of_sibling);
  }
}

/// Candidates in the order of the search: the smaller feature, then its scans, forward before backward.
__device__ std::uint32_t OrderOf(DeviceMatrixView const& m, FeatureIndex f, BinIndex bin, bool forward) {
  return 2 * m.cut_ptr[f] + (forward ? bin : 2 * m.bins(f) - 1 - bin);
}

/// A thread tries the splits at one cell. blockIdx.y: the child.
template <Formulas kFormulas>
__global__ void __launch_bounds__(kThreads, kFormulas == Formulas::kPlain ? 3 : 2)
    SearchKernel(VectorSplitView view, bool root) {
  constexpr bool kMonotone = kFormulas == Formulas::kMonotone;
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const child = root ? 0 : blockIdx.y, outputs = view.cells.outputs;
  VectorChild const own = ChildOf(view, child);
  GradientSum const* const totals = view.nodes.sums + static_cast<std::uint64_t>(own.node) * outputs;
  WeightBounds const* const bounds =
      kMonotone ? view.nodes.bounds + static_cast<std::uint64_t>(own.node) * outputs : nullptr;
  double const node_gain = view.nodes.gain[own.node];
  unsigned long long key = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < m.cells;
       i += std::uint64_t{gridDim.x} * kThreads) {
    CellPlace const place{m, i};
    FeatureIndex const f = place.feature;
    std::uint64_t const cell = place.cell;
    if (!place.exists || !MaySplitBy(view, own, f) || IsCategorical(view, f)) continue;
    std::uint64_t const last = m.first_cell(f) + (m.bins(f) - std::uint64_t{1}) * m.cell_stride();
    bool const misses = view.misses[std::uint64_t{child} * m.features + f] != 0;
    int const direction = kMonotone ? view.directions[f] : 0;
    Division<kFormulas> forward, backward;
    for (std::uint32_t k = 0; k < outputs; ++k) {
      SplitParams const p = ParamsOf(view, k);
      GradientSum const total = totals[k], up_to = view.cells.Load(own.sums, cell, k);
      WeightBounds const* const of_output = kMonotone ? bounds + k : nullptr;
      forward.Add(p, ToLoss(p, up_to), ToLoss(p, total - up_to), of_output, direction);
      if (!misses) continue;
      GradientSum moved = view.cells.Load(own.sums, last, k);
      if (place.bin != 0) moved -= view.cells.Load(own.sums, cell - m.cell_stride(), k);
      backward.Add(p, ToLoss(p, total - moved), ToLoss(p, moved), of_output, direction);
    }
    key = max(key, CandidateKey(forward.Gain(view, node_gain), OrderOf(m, f, place.bin, true)));
    if (misses) key = max(key, CandidateKey(backward.Gain(view, node_gain), OrderOf(m, f, place.bin, false)));
  }
  key = WarpMax(key);
  if (threadIdx.x % 32 == 0 && key != 0) atomicMax(view.best + child, key);
}

/// Writes the best split of each child, if it is by numbers, and the sums on its sides. blockIdx.x: the child.
__global__ void __launch_bounds__(kThreads) TakeBestKernel(VectorSplitView view) {
  __shared__ unsigned long long hessians[2];
  DeviceMatrixView const& m = view.of.matrix;
  VectorChild const own = ChildOf(view, blockIdx.x);
  unsigned long long const key = view.best[blockIdx.x];
  if (key == 0) return;  // the node's split has no gain, as it was made
  OfBest const of_best{m, key};
  FeatureIndex const f = of_best.feature;
  if (IsCategorical(view, f)) return;
  BinIndex const n = m.bins(f);
  bool const forward = of_best.number < n;
  BinIndex const bin = forward ? of_best.number + 1 : 2 * n - 1 - of_best.number;
  if (threadIdx.x < 2) hessians[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t const outputs = view.cells.outputs;
  int const shift = CeilLog2(outputs);
  std::uint64_t const first = m.first_cell(f), stride = m.cell_stride();
  std::uint64_t const node = static_cast<std::uint64_t>(own.node) * outputs;
  for (std::uint32_t k = threadIdx.x; k < outputs; k += kThreads) {
    GradientSum left =
        bin != 0 ? view.cells.Load(own.sums, first + (bin - std::uint64_t{1}) * stride, k) : GradientSum{};
    GradientSum const total = view.nodes.sums[node + k];
    if (!forward) left += total - view.cells.Load(own.sums, first + (n - std::uint64_t{1}) * stride, k);
    view.nodes.left[node + k] = left;
    atomicAdd(&hessians[0], static_cast<unsigned long long>(left.hess >> shift));
    atomicAdd(&hessians[1], static_cast<unsigned long long>((total - left).hess >> shift));
  }
  __syncthreads();
  if (threadIdx.x == 0) WriteBest(view, own.node, key, {0.0f, f, bin, !forward, false, {}, {}}, hessians);
}

/// Adds terms [outputs] in their order: VectorSplitFinder::TermsOf. A warp calls it; term(k) may be called by any lane.
template <typename Term>
__device__ double SumInOrder(std::uint32_t outputs, Term&& term) {
  double sum = 0.0;
  for (std::uint32_t base = 0; base < outputs; base += 32) {
    std::uint32_t const k = base + threadIdx.x % 32;
    double const own = k < outputs ? term(k) : 0.0;
    for (std::uint32_t i = 0; i < min(32U, outputs - base); ++i) sum += __shfl_sync(kAllLanes, own, i);
  }
  return sum;
}

/// Returns the gain of a node by one of its weights.
__device__ double OwnGain(SplitParams const& p, LossSum sum, float weight, bool monotone) {
  return monotone ? LimitedGain(p, sum, static_cast<double>(weight)) : NodeGain(p, sum);
}

/// One warp.
__global__ void StartRootKernel(VectorSplitView view) {
  VectorNodes const& nodes = view.nodes;
  double const gain = SumInOrder(view.cells.outputs, [&](std::uint32_t k) {
    SplitParams const p = ParamsOf(view, k);
    LossSum const sum = ToLoss(p, nodes.sums[k]);
    float const weight = LeafWeight(p, sum, nullptr);
    nodes.weights[k] = weight;
    if (nodes.bounds != nullptr) nodes.bounds[k] = WeightBounds{};
    return OwnGain(p, sum, weight, nodes.bounds != nullptr);
  });
  if (threadIdx.x == 0) nodes.gain[0] = gain;
}

/// A warp makes one child: VectorSplitFinder::AddChildren.
__global__ void __launch_bounds__(kThreads) MakeChildrenKernel(VectorSplitView view, std::uint32_t families) {
  std::uint32_t const i = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (i >= 2 * families) return;
  Family const& family = view.of.tree.families[i / 2];
  bool const is_right = i % 2 != 0;
  std::uint32_t const outputs = view.cells.outputs;
  NodeIndex const node = family.left + (is_right ? 1 : 0);
  std::uint64_t const from = static_cast<std::uint64_t>(family.parent) * outputs;
  std::uint64_t const to = static_cast<std::uint64_t>(node) * outputs;
  VectorNodes const& nodes = view.nodes;
  bool const monotone = nodes.bounds != nullptr;
  int const direction = monotone ? view.directions[view.of.tree.nodes[family.parent].split.feature] : 0;
  double const gain = SumInOrder(outputs, [&](std::uint32_t k) {
    SplitParams const p = ParamsOf(view, k);
    GradientSum const left = nodes.left[from + k], right = nodes.sums[from + k] - left;
    WeightBounds const bounds = monotone ? nodes.bounds[from + k] : WeightBounds{};
    SideWeights const w = OrderedWeights(p, ToLoss(p, left), ToLoss(p, right), bounds, direction);
    GradientSum const own = is_right ? right : left;
    float const weight = is_right ? w.right : w.left;
    nodes.sums[to + k] = own;
    nodes.weights[to + k] = weight;
    if (monotone) {
      nodes.bounds[to + k] = direction == 0 ? bounds : BoundsBelow(bounds, direction, w.left, w.right, is_right);
    }
    return OwnGain(p, ToLoss(p, own), weight, monotone);
  });
  if (threadIdx.x % 32 == 0) nodes.gain[node] = gain;
}

}  // namespace

void StartVectorRoot(VectorSplitView const& view, cudaStream_t stream) {
  StartRootKernel<<<1, 32, 0, stream>>>(view);
  CheckLaunch("making the root");
}

void MakeVectorChildren(VectorSplitView const& view, std::uint32_t families, cudaStream_t stream) {
  MakeChildrenKernel<<<(64 * families + kThreads - 1) / kThreads, kThreads, 0, stream>>>(view, families);
  CheckLaunch("preparing a batch of splits");
}

void AccumulateVectors(VectorSplitView const& view, std::uint32_t families, bool root, cudaStream_t stream) {
  DeviceMatrixView const& m = view.of.matrix;
  dim3 const chains{std::min((m.features + 31) / 32, 1024U), view.cells.sums(), families};
  auto* const accumulate =
      view.cells.cell * m.cell_stride() == kUsualStride ? AccumulateKernel<kUsualStride> : AccumulateKernel<0>;
  accumulate<<<chains, kSumThreads, 0, stream>>>(view, root);
  CheckLaunch("looking for splits");
}

void FindVectorSplits(VectorSplitView const& view, std::uint32_t families, bool root, DeviceLimits const& limits,
                      cudaStream_t stream) {
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const children = root ? 1 : 2 * families;
  FillBytes(view.best, 0, children, stream, "looking for splits");
  FillBytes(view.misses, 0, std::size_t{children} * m.features, stream, "looking for splits");
  AccumulateVectors(view, families, root, stream);
  dim3 const search{Blocks(m.cells, kThreads, limits, 16), children};
  Formulas const formulas = FormulasOf(view);
  auto* const kernel = formulas == Formulas::kMonotone ? SearchKernel<Formulas::kMonotone>
                       : formulas == Formulas::kPlain  ? SearchKernel<Formulas::kPlain>
                                                       : SearchKernel<Formulas::kAll>;
  kernel<<<search, kThreads, 0, stream>>>(view, root);
  CheckLaunch("looking for splits");
  if (view.categories.count != 0) FindVectorCategories(view, children, limits, stream);
  TakeBestKernel<<<children, kThreads, 0, stream>>>(view);
  CheckLaunch("looking for splits");
  if (view.categories.count != 0) TakeVectorCategories(view, children, limits, stream);
}

}  // namespace xgbgpu::cuda
