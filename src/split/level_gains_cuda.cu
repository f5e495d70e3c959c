// Scores the candidates of a symmetric tree's level on a device, and writes the chosen split.
#include "cuda/block_scan.cuh"
#include "cuda/grid.h"
#include "split/category_ops.h"
#include "split/level_gains_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;

__global__ void __launch_bounds__(kThreads)
    SubtractSiblingsKernel(GrowingTree tree, DeviceHistograms histograms, std::uint32_t families) {
  std::uint64_t const cells = histograms.cells, all = families * cells;
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < all; i += step) {
    Family const& family = tree.families[i / cells];
    if (family.subtract == 0) continue;
    histograms.slot(family.sibling_slot)[i % cells] -= histograms.slot(family.built_slot)[i % cells];
  }
}

/// The sums of a feature's bins in one histogram.
struct BinSums {
  GradientSum const* sums;
  std::uint64_t stride;

  __device__ GradientSum At(BinIndex bin) const { return sums[bin * stride]; }
};

__device__ BinSums SumsOf(DeviceMatrixView const& matrix, DeviceHistograms const& histograms, std::int32_t slot,
                          FeatureIndex feature) {
  return {histograms.slot(slot) + matrix.first_cell(feature), matrix.cell_stride()};
}

/// Prefix sums over the block, step by step.
class SumScan {
 public:
  __device__ explicit SumScan(PlanScan::TempStorage* storage) : storage_{*storage} {}

  /// Returns the sum of all earlier steps, and of this step's earlier threads. All threads call it.
  __device__ GradientSum Before(GradientSum own) {
    auto const grad = static_cast<std::int64_t>(ScanStep(static_cast<unsigned long long>(own.grad), &grad_, storage_));
    auto const hess = static_cast<std::int64_t>(ScanStep(static_cast<unsigned long long>(own.hess), &hess_, storage_));
    return {grad, hess};
  }
  /// Returns the sum of all steps so far.
  __device__ GradientSum total() const { return {static_cast<std::int64_t>(grad_), static_cast<std::int64_t>(hess_)}; }

 private:
  PlanScan::TempStorage& storage_;
  unsigned long long grad_{0}, hess_{0};
};

/// Computes the gains of dividing a node by each candidate of a feature. One block.
template <bool kMonotone>
__global__ void __launch_bounds__(kThreads)
    LevelGainsKernel(LevelView view, SplitParams params, std::uint32_t first, double* gains) {
  __shared__ PlanScan::TempStorage storage;
  LevelFeature const feature = view.features[blockIdx.x];
  LevelNodeInSlot const& in_slot = view.nodes[first + blockIdx.y];
  LevelNode const node = in_slot.node;
  BinIndex const begin = view.matrix.cut_ptr[feature.feature], n = view.matrix.bins(feature.feature);
  BinSums const sums = SumsOf(view.matrix, view.histograms, in_slot.slot, feature.feature);
  double* const first_kind = gains + (std::uint64_t{blockIdx.y} * 2) * view.bins + begin;
  double* const second_kind = first_kind + view.bins;
  auto const gain = [&](GradientSum left, GradientSum right) {
    return DivisionGain<kMonotone>(params, left, right, node, feature.direction);
  };

  SumScan total{&storage};
  GradientSum own;
  for (BinIndex b = threadIdx.x; b < n; b += kThreads) own += sums.At(b);
  total.Before(own);
  GradientSum const present = total.total(), missing = node.total - present;

  if (feature.kind == CandidateKind::kOneByOne) {
    for (BinIndex c = threadIdx.x; c < n; c += kThreads) {
      CategoryDivision const alone = DivideOneByOne(2 * c, sums.At(c), missing, node.total);
      CategoryDivision const with_missing = DivideOneByOne(2 * c + 1, sums.At(c), missing, node.total);
      first_kind[c] = gain(alone.left, alone.right);
      second_kind[c] = gain(with_missing.left, with_missing.right);
    }
    return;
  }
  bool const is_sorted = feature.kind == CandidateKind::kSorted;
  SumScan scan{&storage};
  for (BinIndex base = 0; base < n; base += kThreads) {
    BinIndex const b = base + threadIdx.x;
    GradientSum bin;
    if (b < n) bin = sums.At(is_sorted ? view.sorted[begin + b] : b);
    GradientSum const before = scan.Before(bin);
    if (b >= n) continue;
    GradientSum const to_here = before + bin, from_here = present - before;
    if (!is_sorted) {
      first_kind[b] = gain(to_here, node.total - to_here);
      second_kind[b] = gain(node.total - from_here, from_here);
      continue;
    }
    BinIndex const from_end = n - 1 - b;
    CategoryDivision const front = DivideSorted(b, true, n, to_here, node.total);
    CategoryDivision const back = DivideSorted(from_end, false, n, from_here, node.total);
    first_kind[b] = b < feature.sorted_splits ? gain(front.left, front.right) : 0.0;
    second_kind[from_end] = from_end < feature.sorted_splits ? gain(back.left, back.right) : 0.0;
  }
}

/// Adds gains to scores. A thread takes a candidate.
__global__ void __launch_bounds__(kThreads)
    AddGainsKernel(double const* gains, std::uint64_t candidates, std::uint32_t count, bool adds, double* scores) {
  std::uint64_t const c = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (c >= candidates) return;
  double score = adds ? scores[c] : 0.0;
  for (std::uint32_t i = 0; i < count; ++i) score += gains[i * candidates + c];
  scores[c] = score;
}

/// Writes the split to nodes. A block takes a node.
__global__ void __launch_bounds__(kThreads)
    WriteLevelSplitKernel(LevelView view, SplitCandidate split, std::uint32_t const* right_categories, Node* nodes,
                          GradientSum* lefts) {
  __shared__ PlanScan::TempStorage storage;
  LevelNodeInSlot const& in_slot = view.nodes[blockIdx.x];
  BinSums const sums = SumsOf(view.matrix, view.histograms, in_slot.slot, split.feature);
  GradientSum left, right;
  for (BinIndex b = threadIdx.x; b < view.matrix.bins(split.feature); b += kThreads) {
    bool const goes_right =
        right_categories != nullptr ? ((right_categories[b / 32] >> (b % 32)) & 1U) != 0 : b >= split.bin;
    (goes_right ? right : left) += sums.At(b);
  }
  SumScan lefts_scan{&storage}, rights_scan{&storage};
  lefts_scan.Before(left);
  rights_scan.Before(right);
  if (threadIdx.x != 0) return;
  GradientSum const total = in_slot.node.total;
  split.left = split.default_left ? total - rights_scan.total() : lefts_scan.total();
  split.right = total - split.left;
  nodes[in_slot.number].split = split;
  lefts[blockIdx.x] = split.left;
}

}  // namespace

void SubtractSiblings(GrowingTree const& tree, DeviceHistograms const& histograms, std::uint32_t families,
                      DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(families * histograms.cells, kThreads, limits, kResident);
  SubtractSiblingsKernel<<<blocks, kThreads, 0, stream>>>(tree, histograms, families);
  CheckLaunch("subtracting histograms");
}

void AddLevelGains(LevelView const& view, SplitParams const& params, bool monotone, std::uint32_t first,
                   std::uint32_t count, double* gains, double* scores, cudaStream_t stream) {
  dim3 const grid{view.feature_count, count};
  auto* const kernel = monotone ? LevelGainsKernel<true> : LevelGainsKernel<false>;
  kernel<<<grid, kThreads, 0, stream>>>(view, params, first, gains);
  CheckLaunch("scoring splits of a level");
  AddGains(gains, std::uint64_t{2} * view.bins, count, first != 0, scores, stream);
}

void AddGains(double const* gains, std::uint64_t candidates, std::uint32_t count, bool adds, double* scores,
              cudaStream_t stream) {
  auto const blocks = static_cast<unsigned>((candidates + kThreads - 1) / kThreads);
  AddGainsKernel<<<blocks, kThreads, 0, stream>>>(gains, candidates, count, adds, scores);
  CheckLaunch("adding scores of a level");
}

void WriteLevelSplit(LevelView const& view, LevelSplit const& split, std::uint32_t const* right_categories,
                     std::uint32_t count, Node* nodes, GradientSum* lefts, cudaStream_t stream) {
  SplitCandidate const candidate{0.0f, split.feature, split.bin, split.default_left, split.categorical, {}, {}};
  WriteLevelSplitKernel<<<count, kThreads, 0, stream>>>(view, candidate, right_categories, nodes, lefts);
  CheckLaunch("dividing a level");
}

}  // namespace xgbgpu::cuda
