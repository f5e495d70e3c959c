// Finds the best splits of nodes whose sums are vectors, on a device.
#include "core/search.h"
#include "cuda/grid.h"
#include "split/group_split_cuda.cuh"
#include "split/vector_ops.h"
#include "split/vector_split_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 8;  // bins that a thread loads before the first use

/// A child of a family and its histogram.
struct VectorChild {
  NodeIndex node;
  std::int64_t* sums;
  std::int64_t const* built;      ///< the built child's histogram, to be subtracted from `sums`, or nullptr
  std::uint32_t const* allowed;   ///< features; nullptr: all
};

/// Returns child `child` of all families: the built child of a family, then its sibling.
__device__ VectorChild ChildOf(VectorSplitView const& view, std::uint32_t child) {
  Family const& family = view.of.tree.families[child / 2];
  bool const second = child % 2 != 0;
  auto const sums = [&](std::int32_t slot) { return reinterpret_cast<std::int64_t*>(view.of.histograms.slot(slot)); };
  VectorChild own{};
  own.node = second ? family.sibling() : family.built();
  own.sums = sums(second ? family.sibling_slot : family.built_slot);
  own.built = second && family.subtract != 0 ? sums(family.built_slot) : nullptr;
  own.allowed = view.of.features.of_nodes == nullptr
                    ? nullptr
                    : view.of.features.of_nodes +
                          std::uint64_t{child / 2 * 2 + (own.node != family.left ? 1 : 0)} * view.of.features.words;
  return own;
}

__device__ std::int64_t TotalOf(VectorSplitView const& view, NodeIndex node, std::uint32_t sum) {
  VectorCells const& cells = view.cells;
  GradientSum const* const totals = view.nodes.sums + static_cast<std::uint64_t>(node) * cells.outputs;
  return sum < cells.outputs ? totals[sum].grad : totals[sum - cells.outputs].hess;
}

/// Turns the cells of one sum of one feature into sums over the bins up to each, in every child that is not subtracted
/// (blockIdx.z: the family; siblings follow in a kernel of their own).
__device__ void Accumulate(VectorSplitView const& view, std::uint32_t child, FeatureIndex f, std::uint32_t sum) {
  DeviceMatrixView const& m = view.of.matrix;
  VectorChild const own = ChildOf(view, child);
  std::uint64_t const at = view.cells.first(sum) + view.cells.cell * m.first_cell(f);
  std::uint64_t const stride = view.cells.cell * m.cell_stride();
  BinIndex const n = m.bins(f);
  std::int64_t up_to = 0;
  for (BinIndex b = 0; b < n; b += kInFlight) {
    std::int64_t v[kInFlight], built[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      v[i] = b + i < n ? own.sums[at + (b + i) * stride] : 0;
      built[i] = own.built != nullptr && b + i < n ? own.built[at + (b + i) * stride] : 0;
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (b + i >= n) break;
      up_to = own.built != nullptr ? v[i] - built[i] : up_to + v[i];
      own.sums[at + (b + i) * stride] = up_to;
    }
  }
  if (up_to != TotalOf(view, own.node, sum)) view.misses[std::uint64_t{child} * m.features + f] = 1;
}

/// blockIdx.y: the sum; blockIdx.z: the family. `second`: siblings, whose built children are done.
__global__ void __launch_bounds__(kThreads) AccumulateKernel(VectorSplitView view, bool second) {
  std::uint32_t const child = 2 * blockIdx.z + (second ? 1 : 0);
  for (FeatureIndex f = blockIdx.x * blockDim.x + threadIdx.x; f < view.of.matrix.features;
       f += gridDim.x * blockDim.x) {
    if (!IsIn(view.of.features.of_tree, f)) continue;
    Accumulate(view, child, f, blockIdx.y);
  }
}

/// The sums of one cell and one output, up to the cell.
__device__ GradientSum Load(VectorCells const& cells, std::int64_t const* sums, std::uint64_t cell, std::uint32_t k) {
  std::uint64_t const at = cell * cells.cell;
  return {sums[k * cells.output + at], sums[cells.first_hessian + k * cells.hessian_output + at]};
}

/// A division of a node, output by output: VectorSplitFinder::GainOf.
template <bool kMonotone>
struct Division {
  SideHessians hessians{0.0, 0.0};
  double gain{0.0};

  __device__ void Add(SplitParams const& p, LossSum left, LossSum right, WeightBounds const* bounds, int direction) {
    hessians.left += left.hess;
    hessians.right += right.hess;
    if constexpr (kMonotone) {
      SideWeights const w = OrderedWeights(p, left, right, *bounds, direction);
      gain += GainOfWeight(p, left, static_cast<double>(w.left)) + GainOfWeight(p, right, static_cast<double>(w.right));
    } else {
      gain += OutputGain(p, left) + OutputGain(p, right);
    }
  }
  __device__ float Gain(VectorSplitView const& view, double node_gain) const {
    if (!IsHeavyEnough(hessians, static_cast<double>(view.cells.outputs), view.min_child_weight)) return 0.0f;
    return FiniteGain(gain - node_gain);
  }
};

/// The feature and bin of a cell of a histogram.
struct CellPlace {
  FeatureIndex feature;
  BinIndex bin;
  bool exists;  ///< the tile has more columns, or more bins, than the feature

  __device__ CellPlace(DeviceMatrixView const& m, std::uint64_t cell) : feature{0}, bin{0}, exists{false} {
    if (m.dense) {
      std::uint32_t const t = RangeOf(m.tiles, cell, [&](std::uint32_t i) { return m.tile[i].first_cell; });
      auto const of_tile = static_cast<std::uint32_t>(cell - m.tile[t].first_cell);
      bin = of_tile / m.tile_columns;
      feature = t * m.tile_columns + of_tile % m.tile_columns;
    } else {
      feature = RangeOf(m.features, static_cast<BinIndex>(cell), [&](std::uint32_t f) { return m.cut_ptr[f]; });
      bin = static_cast<BinIndex>(cell) - m.cut_ptr[feature];
    }
    exists = feature < m.features && bin < m.bins(feature);
  }
};

/// Candidates in the order of the search: the smaller feature, then its scans, forward before backward.
__device__ std::uint32_t OrderOf(DeviceMatrixView const& m, FeatureIndex f, BinIndex bin, bool forward) {
  return 2 * m.cut_ptr[f] + (forward ? bin : 2 * m.bins(f) - 1 - bin);
}

/// A thread tries the splits at one cell. blockIdx.y: the child.
template <bool kMonotone>
__global__ void __launch_bounds__(kThreads) SearchKernel(VectorSplitView view, bool root) {
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const child = root ? 0 : blockIdx.y, outputs = view.cells.outputs;
  VectorChild const own = ChildOf(view, child);
  GradientSum const* const totals = view.nodes.sums + static_cast<std::uint64_t>(own.node) * outputs;
  WeightBounds const* const bounds =
      kMonotone ? view.nodes.bounds + static_cast<std::uint64_t>(own.node) * outputs : nullptr;
  double const node_gain = view.nodes.gain[own.node];
  unsigned long long key = 0;
  for (std::uint64_t cell = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; cell < m.cells;
       cell += std::uint64_t{gridDim.x} * kThreads) {
    CellPlace const place{m, cell};
    FeatureIndex const f = place.feature;
    if (!place.exists || !IsIn(view.of.features.of_tree, f) || !IsIn(own.allowed, f) ||
        !MayMeetAt(view.of, own.node, f)) {
      continue;
    }
    std::uint64_t const last = m.first_cell(f) + (m.bins(f) - std::uint64_t{1}) * m.cell_stride();
    bool const misses = view.misses[std::uint64_t{child} * m.features + f] != 0;
    int const direction = kMonotone ? view.directions[f] : 0;
    Division<kMonotone> forward, backward;
    for (std::uint32_t k = 0; k < outputs; ++k) {
      SplitParams const p = view.params[k];
      GradientSum const total = totals[k], up_to = Load(view.cells, own.sums, cell, k);
      WeightBounds const* const of_output = kMonotone ? bounds + k : nullptr;
      forward.Add(p, ToLoss(p, up_to), ToLoss(p, total - up_to), of_output, direction);
      if (!misses) continue;
      GradientSum moved = Load(view.cells, own.sums, last, k);
      if (place.bin != 0) moved -= Load(view.cells, own.sums, cell - m.cell_stride(), k);
      backward.Add(p, ToLoss(p, total - moved), ToLoss(p, moved), of_output, direction);
    }
    key = max(key, CandidateKey(forward.Gain(view, node_gain), OrderOf(m, f, place.bin, true)));
    if (misses) key = max(key, CandidateKey(backward.Gain(view, node_gain), OrderOf(m, f, place.bin, false)));
  }
  key = WarpMax(key);
  if (threadIdx.x % 32 == 0 && key != 0) atomicMax(view.best + child, key);
}

/// Writes the best split of each child, and the sums on its sides. blockIdx.x: the child.
__global__ void __launch_bounds__(kThreads) TakeBestKernel(VectorSplitView view) {
  __shared__ unsigned long long hessians[2];
  DeviceMatrixView const& m = view.of.matrix;
  VectorChild const own = ChildOf(view, blockIdx.x);
  unsigned long long const key = view.best[blockIdx.x];
  SplitCandidate* const split = &view.of.tree.nodes[own.node].split;
  if (key == 0) return;  // the node's split has no gain, as it was made
  std::uint32_t const order = 0xFFFFFFFFU - static_cast<std::uint32_t>(key);
  FeatureIndex const f = RangeOf(m.features, order, [&](std::uint32_t i) { return 2 * m.cut_ptr[i]; });
  std::uint32_t const of_feature = order - 2 * m.cut_ptr[f];
  BinIndex const n = m.bins(f);
  bool const forward = of_feature < n;
  BinIndex const bin = forward ? of_feature + 1 : 2 * n - 1 - of_feature;
  if (threadIdx.x < 2) hessians[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t const outputs = view.cells.outputs;
  int const shift = CeilLog2(outputs);
  std::uint64_t const first = m.first_cell(f), stride = m.cell_stride();
  std::uint64_t const node = static_cast<std::uint64_t>(own.node) * outputs;
  for (std::uint32_t k = threadIdx.x; k < outputs; k += kThreads) {
    GradientSum left = bin != 0 ? Load(view.cells, own.sums, first + (bin - std::uint64_t{1}) * stride, k)
                                : GradientSum{};
    GradientSum const total = view.nodes.sums[node + k];
    if (!forward) left += total - Load(view.cells, own.sums, first + (n - std::uint64_t{1}) * stride, k);
    view.nodes.left[node + k] = left;
    atomicAdd(&hessians[0], static_cast<unsigned long long>(left.hess >> shift));
    atomicAdd(&hessians[1], static_cast<unsigned long long>((total - left).hess >> shift));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  SplitCandidate best;
  best.gain = GainOf(key);
  best.feature = f;
  best.bin = bin;
  best.default_left = !forward;
  best.left.hess = static_cast<std::int64_t>(hessians[0]);
  best.right.hess = static_cast<std::int64_t>(hessians[1]);
  StoreWhole(split, best);
}

/// Writes the gain of a node from its weights: VectorSplitFinder::TermsOf.
__device__ void WriteGain(VectorSplitView const& view, NodeIndex node) {
  std::uint64_t const first = static_cast<std::uint64_t>(node) * view.cells.outputs;
  double gain = 0.0;
  for (std::uint32_t k = 0; k < view.cells.outputs; ++k) {
    SplitParams const p = view.params[k];
    LossSum const sum = ToLoss(p, view.nodes.sums[first + k]);
    gain += view.nodes.bounds == nullptr
                ? OutputGain(p, sum)
                : GainOfWeight(p, sum, static_cast<double>(view.nodes.weights[first + k]));
  }
  view.nodes.gain[node] = gain;
}

/// One thread.
__global__ void StartRootKernel(VectorSplitView view) {
  for (std::uint32_t k = 0; k < view.cells.outputs; ++k) {
    SplitParams const p = view.params[k];
    view.nodes.weights[k] = LeafWeight(p, ToLoss(p, view.nodes.sums[k]), nullptr);
    if (view.nodes.bounds != nullptr) view.nodes.bounds[k] = WeightBounds{};
  }
  WriteGain(view, 0);
}

/// A thread makes one child: VectorSplitFinder::AddChildren.
__global__ void __launch_bounds__(kThreads) MakeChildrenKernel(VectorSplitView view, std::uint32_t families) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= 2 * families) return;
  Family const& family = view.of.tree.families[i / 2];
  bool const is_right = i % 2 != 0;
  std::uint32_t const outputs = view.cells.outputs;
  NodeIndex const node = family.left + (is_right ? 1 : 0);
  std::uint64_t const from = static_cast<std::uint64_t>(family.parent) * outputs;
  std::uint64_t const to = static_cast<std::uint64_t>(node) * outputs;
  VectorNodes const& nodes = view.nodes;
  int const direction =
      view.directions == nullptr ? 0 : view.directions[view.of.tree.nodes[family.parent].split.feature];
  for (std::uint32_t k = 0; k < outputs; ++k) {
    SplitParams const p = view.params[k];
    GradientSum const left = nodes.left[from + k], right = nodes.sums[from + k] - left;
    WeightBounds const bounds = nodes.bounds == nullptr ? WeightBounds{} : nodes.bounds[from + k];
    SideWeights const w = OrderedWeights(p, ToLoss(p, left), ToLoss(p, right), bounds, direction);
    nodes.sums[to + k] = is_right ? right : left;
    nodes.weights[to + k] = is_right ? w.right : w.left;
    if (nodes.bounds == nullptr) continue;
    nodes.bounds[to + k] = direction == 0 ? bounds : BoundsBelow(bounds, direction, w.left, w.right, is_right);
  }
  WriteGain(view, node);
}

}  // namespace

void StartVectorRoot(VectorSplitView const& view, cudaStream_t stream) {
  StartRootKernel<<<1, 1, 0, stream>>>(view);
  CheckLaunch("making the root");
}

void MakeVectorChildren(VectorSplitView const& view, std::uint32_t families, DeviceLimits const&,
                        cudaStream_t stream) {
  MakeChildrenKernel<<<(2 * families + kThreads - 1) / kThreads, kThreads, 0, stream>>>(view, families);
  CheckLaunch("preparing a batch of splits");
}

void FindVectorSplits(VectorSplitView const& view, std::uint32_t families, bool root, DeviceLimits const& limits,
                      cudaStream_t stream) {
  DeviceMatrixView const& m = view.of.matrix;
  std::uint32_t const children = root ? 1 : 2 * families;
  FillBytes(view.best, 0, children, stream, "looking for splits");
  FillBytes(view.misses, 0, std::size_t{children} * m.features, stream, "looking for splits");
  constexpr unsigned kChainThreads = 64;
  unsigned const features = std::min((m.features + kChainThreads - 1) / kChainThreads, 1024U);
  dim3 const chains{features, view.cells.sums(), families};
  AccumulateKernel<<<chains, kChainThreads, 0, stream>>>(view, false);
  if (!root) AccumulateKernel<<<chains, kChainThreads, 0, stream>>>(view, true);
  CheckLaunch("looking for splits");
  dim3 const search{Blocks(m.cells, kThreads, limits, 16), children};
  auto* const kernel = view.directions != nullptr ? SearchKernel<true> : SearchKernel<false>;
  kernel<<<search, kThreads, 0, stream>>>(view, root);
  CheckLaunch("looking for splits");
  TakeBestKernel<<<children, kThreads, 0, stream>>>(view);
  CheckLaunch("looking for splits");
}

}  // namespace xgbgpu::cuda
